/* loop.c: a loop of launches as one kernel (pacc/abi.h): whether, and with how
 * many blocks.
 */
#include "count_private.h"
#include "loop_private.h"
#include "run_private.h"

#include "pacc/barrier.h"
#include "pacc/runtime.h"

#include <stdio.h>
#include <string.h>

/* Seconds on an H200 (lib/Model/calibrate/barrier-h200.csv): between the starts
 * of two launches, which hides what a short kernel does; of the begin and end
 * of a kernel that runs longer; and of what a phase waits for its memory at
 * least.
 */
static const double LAUNCH = 3.2e-6;
static const double KERNEL = 1.2e-6;
static const double PHASE = 0.5e-6;

/* A further instance in a thread that waits for its memory; an instance on a
 * multiprocessor that has enough threads, and on one that does all of a phase,
 * strided accesses and all. */
static const double INSTANCE_WAITING = 50e-9;
static const double INSTANCE_PER_SM = 0.5e-9;
static const double INSTANCE_ON_ONE_SM = 1.3e-9;

/* The gain must be this share of what the launches take: the estimates are
 * rough, phases that fill the device run better with blocks of their own, and
 * what one thread does alone is slower in code where other blocks write
 * (lib/Model/calibrate/loops-h200.csv: floyd-warshall, gramschmidt, durbin). */
static const double LEAST_GAIN = 0.3;

/* Seconds of a launch of the phase, without what starts it, in `threads`
 * threads: those that it has, or fewer that do their work. */
static double phase_seconds(const struct pacc_size *phase, double threads,
                            double seconds_per_instance) {
  double own = phase->threads / phase->launches;
  double rounds = own > threads ? own / threads : 1;
  double waiting = PHASE + (phase->instances / phase->threads * rounds - 1) *
                               INSTANCE_WAITING;
  double busy = phase->instances / phase->launches * seconds_per_instance;
  return waiting > busy ? waiting : busy;
}

struct estimate {
  double launches;  /* of the phases by the host */
  double kernel;    /* of the loop's kernel, without barriers, */
  double one_block; /* and with one block */
  double barriers;  /* how many there are */
  double needed;    /* blocks that the largest phase has, on average */
};

static struct estimate estimate(const struct pacc_loop_facts *facts) {
  struct estimate all = {.needed = 1};
  double most = (double)facts->block_threads * facts->resident;
  double per_sm = INSTANCE_PER_SM / facts->sm_count;
  for (uint32_t i = 0; i < facts->n_phases; i++) {
    const struct pacc_size *phase = &facts->sizes[i];
    if (!(phase->launches > 0 && phase->threads > 0 && phase->instances > 0))
      continue;
    double threads = phase->threads / phase->launches;
    double alone = phase_seconds(phase, threads, per_sm) + KERNEL;
    all.launches += phase->launches * (alone > LAUNCH ? alone : LAUNCH);
    all.kernel += phase->launches * phase_seconds(phase, most, per_sm);
    all.one_block +=
        phase->launches *
        phase_seconds(phase, facts->block_threads, INSTANCE_ON_ONE_SM);
    all.barriers += facts->phases[i].waits ? phase->launches : 0;
    if (threads / facts->block_threads > all.needed)
      all.needed = threads / facts->block_threads;
  }
  return all;
}

uint32_t pacc_loop_blocks(const struct pacc_loop_facts *facts) {
  if (facts->resident == 0 || facts->mode == PACC_LOOP_NEVER)
    return 0;
  bool always = facts->mode == PACC_LOOP_ALWAYS;
  if (!facts->sizes)
    return always ? facts->resident : 0;
  struct estimate all = estimate(facts);
  uint32_t blocks = facts->resident;
  if (all.needed <= blocks - 1)
    blocks = (uint32_t)all.needed + (all.needed > (uint32_t)all.needed);
  double with_all = all.kernel + all.barriers * pacc_barrier_seconds(blocks);
  double with_one = all.one_block + all.barriers * pacc_barrier_seconds(1);
  if (with_one < with_all)
    blocks = 1;
  double best = with_one < with_all ? with_one : with_all;
  bool pays = facts->is_gpu && all.launches - best > LEAST_GAIN * all.launches;
  return always || pays ? blocks : 0;
}

/* What the program was compiled for, or what the environment says. */
static enum pacc_loop_mode mode_of(const struct pacc_loop *loop) {
  const char *value = pacc_env("PACC_PERSISTENT");
  if (value && strcmp(value, "off") == 0)
    return PACC_LOOP_NEVER;
  if (value && strcmp(value, "always") == 0)
    return PACC_LOOP_ALWAYS;
  if (value && strcmp(value, "auto") == 0)
    return PACC_LOOP_AUTO;
  if (value)
    pacc_log(PACC_LOG_ERROR,
             "PACC_PERSISTENT=%s is unknown: use auto, always or off", value);
  return loop->always ? PACC_LOOP_ALWAYS : PACC_LOOP_AUTO;
}

/* The word of this thread's barriers; 0 after a failure. */
static uint64_t barrier_word(struct pacc_run *run) {
  static const uint32_t zero;
  struct pacc_thread *thread = run->thread;
  struct pacc_device *device = run->device;
  int status = 0;
  if (!thread->barrier)
    status =
        device->backend->alloc(device->handle, sizeof zero, &thread->barrier);
  if (!status && !thread->barrier_is_zero)
    status = device->backend->copy_in(device->handle, thread->stream,
                                      thread->barrier, sizeof zero, &zero,
                                      sizeof zero, sizeof zero, 1);
  if (status)
    FAIL(run, status, "no memory for a barrier");
  thread->barrier_is_zero = !status;
  return status ? 0 : thread->barrier;
}

/* "k0 k1 ...": the launches that the kernel stands for. */
static void log_phases(const struct pacc_run *run,
                       const struct pacc_loop *loop) {
  char text[PACC_MESSAGE_SIZE / 2];
  size_t used = 0;
  if (!pacc_log_on(PACC_LOG_LAUNCH))
    return;
  text[0] = 0;
  for (uint32_t i = 0; i < loop->n_phases && used < sizeof text; i++)
    if (loop->phases[i].kernel != PACC_NO_KERNEL)
      used += (size_t)snprintf(
          text + used, sizeof text - used, " %s",
          run->region->image->kernels[loop->phases[i].kernel].name);
  pacc_log(PACC_LOG_LAUNCH, "%s: one kernel runs the loop of%s",
           pacc_region_name(run->region), text);
}

PACC_RT_API int32_t __pacc_rt_loop(void *handle, const struct pacc_loop *loop,
                                   const struct pacc_size *sizes,
                                   void **params) {
  struct pacc_run *run = handle;
  struct pacc_device *device = run->device;
  if (run->failed)
    return 1;
  const struct pacc_kernel *kernel = &run->region->image->kernels[loop->kernel];
  struct pacc_loop_facts facts = {
      .is_gpu = device->info.cc != 0,
      .mode = mode_of(loop),
      .sm_count = device->info.sm_count,
      .block_threads = kernel->block[0] * kernel->block[1] * kernel->block[2],
      .n_phases = loop->n_phases,
      .phases = loop->phases,
      .sizes = sizes};
  /* A device that can't tell can't do it. */
  if (device->backend->resident(device->handle,
                                run->module->kernels[loop->kernel], kernel,
                                &facts.resident))
    facts.resident = 0;
  uint32_t grid[3] = {pacc_loop_blocks(&facts), 1, 1};
  if (grid[0] == 0)
    return 0;
  uint64_t word = 0;
  if (loop->barrier != PACC_NO_BARRIER) {
    word = barrier_word(run);
    params[loop->barrier] = &word;
  }
  if (!run->failed)
    log_phases(run, loop);
  pacc_run_launch_resident(run, loop->kernel, grid, params);
  /* Blocks that did not get to the last barrier leave it as it is. */
  if (run->failed)
    run->thread->barrier_is_zero = false;
  return 1;
}
