/* sweep.c: see sweep_private.h.
 *
 * The file has one row per swept launch and shape. Its column `launches` tells
 * how many launches of the program the swept one stands for; it is written
 * anew after every swept launch, so that a program that is stopped leaves what
 * it has.
 */
#include "sweep_private.h"

#include "run_private.h"

#include "pacc/shapes.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Clocks rise while the device works: the first shape is timed after WAKE_MS of
 * launches. Then every shape gets ROUNDS turns, so that what disturbs one turn
 * doesn't disturb the shape. A turn is RUNS runs of at least MIN_MS, by
 * repeating the launch, of which the fastest counts; launches under SHORT_MS,
 * whose times scatter more, get SHORT_RUNS. Shapes that are SLOW times slower
 * than the best so far, or take longer than LONG_MS, run once per turn, and
 * slow ones have one turn. */
enum { ROUNDS = 3, RUNS = 2, SHORT_RUNS = 5, MAX_REPEATS = 40 };
static const double WAKE_MS = 50, MIN_MS = 0.1, SHORT_MS = 0.02, LONG_MS = 50,
                    SLOW = 2;

/* Two launches are alike if no extent differs by more than this factor. Of
 * alike launches the 1st, the 17th, the 273rd, ... is swept: what a thread does
 * may change while the grid stays. */
static const double ALIKE = 1.5;
enum { FIRST_SAMPLE = 16 };

/* us  of one launch, by turns; negative: the shape can't run */
struct timing {
  uint32_t block[3];
  unsigned turns;
  double us[ROUNDS];
};

/* kernel    which one; not to be looked into, since the shared object that it
 *           came with may be gone
 * launches  made so far, the swept one included; more than `limit` of them
 *           need a new sweep */
struct sample {
  const struct pacc_kernel *kernel;
  char *name, *label;
  uint32_t chosen[3];
  int64_t n[3];
  uint64_t launches, limit;
  struct timing *timings;
  size_t n_timings;
  struct sample *older;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *file;
static struct sample *newest;
static bool fixed_said;

/* ---- file ------------------------------------------------------------- */

static void open_file(void) {
  const char *name = pacc_env("PACC_SWEEP");
  if (!name)
    return;
  file = fopen(name, "we");
  if (!file)
    pacc_log(PACC_LOG_ERROR, "PACC_SWEEP: %s: %s; nothing is swept", name,
             strerror(errno));
}

static bool can_run(const struct timing *timing) {
  return timing->turns && timing->us[0] >= 0;
}

static double fastest(const struct timing *timing) {
  double us = timing->us[0];
  for (unsigned t = 1; t < timing->turns; t++)
    us = timing->us[t] < us ? timing->us[t] : us;
  return us;
}

static void write_sample(const struct sample *sample) {
  for (size_t i = 0; i < sample->n_timings; i++) {
    const struct timing *timing = &sample->timings[i];
    fprintf(file,
            "%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%ux%ux%u,%ux%ux%u,",
            sample->name, sample->label, sample->n[0], sample->n[1],
            sample->n[2], timing->block[0], timing->block[1], timing->block[2],
            sample->chosen[0], sample->chosen[1], sample->chosen[2]);
    if (can_run(timing))
      fprintf(file, "%.3f", fastest(timing));
    fputc(',', file);
    for (unsigned t = 0; t < timing->turns && can_run(timing); t++)
      fprintf(file, "%s%.3f", t ? " " : "", timing->us[t]);
    fprintf(file, ",%" PRIu64 "\n", sample->launches);
  }
}

static void write_file(void) {
  rewind(file);
  fputs("kernel,label,x,y,z,block,chosen,us,turns,launches\n", file);
  for (const struct sample *s = newest; s; s = s->older)
    write_sample(s);
  fflush(file);
}

void pacc_sweep_close(void) {
  if (pthread_mutex_trylock(&lock))
    return;
  if (file)
    write_file();
  pthread_mutex_unlock(&lock);
}

/* ---- samples ---------------------------------------------------------- */

static bool alike(int64_t a, int64_t b) {
  return (double)a <= ALIKE * (double)b && (double)b <= ALIKE * (double)a;
}

/* The latest sample that the launch resembles, or NULL. */
static struct sample *find(const struct pacc_kernel *kernel,
                           const int64_t n[3]) {
  for (struct sample *s = newest; s; s = s->older)
    if (s->kernel == kernel && alike(s->n[0], n[0]) && alike(s->n[1], n[1]) &&
        alike(s->n[2], n[2]))
      return s;
  return NULL;
}

/* Counts the launch with its likes; a new sample if it must be swept. */
static struct sample *count(const struct pacc_kernel *kernel,
                            const int64_t n[3]) {
  struct sample *known = find(kernel, n);
  if (known && known->launches < known->limit) {
    known->launches++;
    return NULL;
  }
  struct sample *made = calloc(1, sizeof *made);
  char *name = strdup(kernel->name), *label = strdup(kernel->label);
  if (!made || !name || !label) {
    free(made);
    free(name);
    free(label);
    return NULL;
  }
  made->kernel = kernel;
  made->name = name;
  made->label = label;
  memcpy(made->chosen, kernel->block, sizeof made->chosen);
  memcpy(made->n, n, sizeof made->n);
  made->launches = 1;
  made->limit = known ? known->limit * FIRST_SAMPLE : FIRST_SAMPLE;
  made->older = newest;
  newest = made;
  return made;
}

static bool add_timing(struct sample *sample, const uint32_t block[3]) {
  size_t n = sample->n_timings;
  struct timing *grown =
      realloc(sample->timings, (n + 1) * sizeof *sample->timings);
  if (!grown)
    return false;
  grown[n] = (struct timing){.block = {block[0], block[1], block[2]}};
  sample->timings = grown;
  sample->n_timings++;
  return true;
}

/* ---- arrays ----------------------------------------------------------- */

/* Saves every array of the run in `saved`, one after the other, or copies it
 * back from there. */
static int copy_arrays(const struct pacc_run *run, char *saved, bool back) {
  const struct pacc_backend *backend = run->device->backend;
  int status = 0;
  for (unsigned i = 0; i < run->n_arrays && !status; i++) {
    const struct pacc_array *array = &run->arrays[i];
    if (array->lo >= array->hi)
      continue;
    uint64_t size = (uint64_t)array->hi - (uint64_t)array->lo;
    uint64_t first = array->address + (uint64_t)array->lo;
    status = back ? backend->copy_in(run->device->handle, run->thread->stream,
                                     first, size, saved, size, size, 1)
                  : backend->copy_out(run->device->handle, run->thread->stream,
                                      saved, size, first, size, size, 1);
    saved += size;
  }
  return status ? status
                : backend->sync(run->device->handle, run->thread->stream);
}

static uint64_t arrays_size(const struct pacc_run *run) {
  uint64_t size = 1;
  for (unsigned i = 0; i < run->n_arrays; i++)
    if (run->arrays[i].lo < run->arrays[i].hi)
      size += (uint64_t)run->arrays[i].hi - (uint64_t)run->arrays[i].lo;
  return size;
}

/* ---- times ------------------------------------------------------------ */

/* A launch with one shape, and two events to time it. */
struct trial {
  struct pacc_run *run;
  void *function;
  struct pacc_kernel kernel;
  uint32_t grid[3];
  void **params;
  void *from, *to;
};

/* Milliseconds of one of `repeats` launches in a row, or the status of what
 * failed in *status. */
static double time_launches(const struct trial *t, unsigned repeats,
                            int *status) {
  const struct pacc_backend *backend = t->run->device->backend;
  void *device = t->run->device->handle, *stream = t->run->thread->stream;
  float ms = 0;
  *status = backend->event_record(device, stream, t->from);
  for (unsigned i = 0; i < repeats && !*status; i++)
    *status = backend->launch(device, stream, t->function, t->grid, &t->kernel,
                              t->params);
  if (!*status)
    *status = backend->event_record(device, stream, t->to);
  if (!*status)
    *status = backend->sync(device, stream);
  if (!*status)
    *status = backend->event_elapsed(device, t->from, t->to, &ms);
  return (double)ms / repeats;
}

/* Microseconds of a launch with the trial's shape, negative if it can't run.
 * The time of a single short launch is mostly that of launching it: it tells
 * how many make a run, and is no run itself. */
static double time_shape(const struct trial *t, double best_us) {
  int status;
  double ms = time_launches(t, 1, &status);
  const double most = MAX_REPEATS;
  double repeats = ms > 0 ? MIN_MS / ms : most;
  unsigned n = repeats < 1 ? 1 : (unsigned)(repeats < most ? repeats : most);
  unsigned runs = ms > LONG_MS ? 0 : ms < SHORT_MS ? SHORT_RUNS : RUNS;
  double least = n == 1 ? ms : 0;
  double limit = best_us > 0 ? SLOW * best_us / 1e3 : HUGE_VAL;
  for (unsigned i = 0; i < runs && !status && least <= limit; i++) {
    ms = time_launches(t, n, &status);
    least = least > 0 && least < ms ? least : ms;
  }
  return status ? -1 : least * 1e3;
}

/* Keeps the device busy with the chosen shape until its clocks are up. */
static void wake(const struct trial *t) {
  int status = 0;
  unsigned n = 1;
  for (double busy = 0; busy < WAKE_MS && !status;) {
    uint64_t start = pacc_clock();
    time_launches(t, n, &status);
    double ms = (double)(pacc_clock() - start) / 1e6;
    busy += ms;
    n = ms < MIN_MS ? MAX_REPEATS : n;
  }
}

/* One turn of a shape. */
static int time_turn(struct trial *t, const struct sample *sample,
                     struct timing *timing, double *best_us, char *saved) {
  if (timing->turns && (!can_run(timing) || timing->us[0] > SLOW * *best_us))
    return 0;
  memcpy(t->kernel.block, timing->block, sizeof timing->block);
  if (!pacc_grid_of(&t->kernel, sample->n, t->grid))
    return 0;
  double us = time_shape(t, *best_us);
  timing->us[timing->turns++] = us;
  if (us > 0 && (*best_us == 0 || us < *best_us))
    *best_us = us;
  return copy_arrays(t->run, saved, true);
}

static int sweep(struct trial *t, struct sample *sample, char *saved) {
  const uint64_t extent[3] = {(uint64_t)sample->n[0], (uint64_t)sample->n[1],
                              (uint64_t)sample->n[2]};
  uint32_t block[3] = {0, 0, 0};
  while (pacc_shape_next(block, t->kernel.dims, extent, t->kernel.max_threads))
    if (!add_timing(sample, block))
      break;
  if (pacc_grid_of(&t->kernel, sample->n, t->grid))
    wake(t);
  double best_us = 0;
  int status = copy_arrays(t->run, saved, true);
  for (unsigned round = 0; round < ROUNDS; round++)
    for (size_t i = 0; i < sample->n_timings && !status; i++)
      status = time_turn(t, sample, &sample->timings[i], &best_us, saved);
  return status;
}

static void sweep_sample(struct pacc_run *run, uint32_t number,
                         struct sample *sample, void **params) {
  const struct pacc_kernel *kernel = sample->kernel;
  struct pacc_device *device = run->device;
  struct trial trial = {.run = run,
                        .function = run->module->kernels[number],
                        .kernel = *kernel,
                        .params = params,
                        .from = pacc_thread_take_event(run->thread, device),
                        .to = pacc_thread_take_event(run->thread, device)};
  struct pacc_block *staging = NULL;
  if (!trial.from || !trial.to ||
      pacc_pool_take(&device->staging, arrays_size(run), &staging)) {
    pacc_log(PACC_LOG_ERROR, "PACC_SWEEP: no memory to sweep kernel %s",
             kernel->name);
  } else {
    char *saved = (char *)(uintptr_t)staging->address;
    int status = copy_arrays(run, saved, false);
    if (!status)
      status = sweep(&trial, sample, saved);
    if (status)
      FAIL(run, status, "the sweep of kernel %s failed", kernel->name);
    pacc_pool_give(&device->staging, staging);
  }
  pacc_thread_give_event(run->thread, device, trial.from);
  pacc_thread_give_event(run->thread, device, trial.to);
}

void pacc_sweep_launch(struct pacc_run *run, uint32_t number,
                       const int64_t n[3], void **params) {
  pthread_once(&once, open_file);
  if (!file)
    return;
  const struct pacc_kernel *kernel = &run->region->image->kernels[number];
  pthread_mutex_lock(&lock);
  if (kernel->dims && !kernel->max_threads && !fixed_said) {
    pacc_log(PACC_LOG_ERROR,
             "PACC_SWEEP: kernel %s was compiled for one block: compile with "
             "-polly-acc-block-size=sweep",
             kernel->name);
    fixed_said = true;
  } else if (kernel->dims && kernel->max_threads) {
    struct sample *sample = count(kernel, n);
    if (sample) {
      sweep_sample(run, number, sample, params);
      write_file();
    }
  }
  pthread_mutex_unlock(&lock);
}
