/* guard.c: is the device worth it? Only asked where PACC_DEVICE leaves the
 * choice to the runtime.
 *
 * Both sides are estimated from the region's sizes and from what a few simple
 * things take on this machine. The first time that a region of a certain size
 * has run somewhere, its real time replaces the estimate. Opening the device
 * and loading code costs much more than a small region can gain: it is paid
 * when the gains that were missed so far add up to its price, so that a
 * program loses at most as much as it would have won.
 */
#include "guard_private.h"

#include "count_private.h"
#include "data_private.h"
#include "estimate_private.h"

#include "pacc/cost.h"
#include "pacc/runtime.h"
#include "span_private.h"

#include <stdlib.h>
#include <string.h>

/* Seconds, until something better is known: to open the device
 * (polybench/results/h200-large.csv, auto@auto: what the first run takes over
 * the others, 0.2 to 0.33); to load machine code, and code that the driver has
 * to compile; and of a byte of the large copies of regions, through pinned
 * memory (the same file, auto: atax, mvt, bicg, gemver, gesummv, 65 ps, to gemm
 * and covariance, 75). */
static const double OPEN = 0.3;
static const double LOAD_MACHINE_CODE = 1e-3;
static const double LOAD_PTX = 0.15;
static const double BYTE = 70e-12;

/* An instance on the host is measured when the original loops of regions took
 * so long, by PACC_SECONDS_HOST_INSTANCE, that this costs little beside them.
 */
static const double MEASURING_PAYS = 20e-3;

/* By how much an estimate of the host may be too large before it was checked:
 * instances of triangles count as the boxes around them, which overlap
 * (polybench/results/h200-guard-small.csv: floyd-warshall, 4 times). */
static const double DOUBT = 3;

/* once      what follows was measured
 * instance  seconds of one load, multiplication, addition and store
 * asked_ns  PACC_SECONDS_HOST_INSTANCE's time of all regions so far
 */
static struct {
  pthread_once_t once;
  double instance;
  _Atomic uint64_t asked_ns;
} host = {PTHREAD_ONCE_INIT, 0, 0};

/* Gains that were missed because the device was not ready, in nanoseconds. */
static _Atomic uint64_t missed_ns;

/* What this thread's region is being measured against. */
static _Thread_local struct {
  const struct pacc_region *region;
  uint32_t *history;
  double estimate;
  uint64_t start_ns;
} running;

/* The region that this thread has asked the runtime about since its last one
 * ended, in whichever place; else NULL. */
static _Thread_local const struct pacc_region *reached;

/* Does anyone want to know of regions that the host is faster for in any case?
 * The environment may name a device or ask for messages; others are data that
 * the program leaves to the device (data.c). */
PACC_RT_API uint32_t __pacc_rt_always_asked;

__attribute__((constructor)) static void read_environment(void) {
  const char *device = pacc_env("PACC_DEVICE");
  if (pacc_env("PACC_LOG") || (device && strcmp(device, "auto") != 0))
    pacc_guard_ask_always(true);
}

void pacc_guard_ask_always(bool always) {
  __atomic_fetch_add(&__pacc_rt_always_asked, always ? 1 : UINT32_MAX,
                     __ATOMIC_RELAXED);
}

/* What PACC_LOG=info has to say of a region. */
enum { GOES_TO_DEVICE, STAYS_ON_HOST, FAILED_CHECK };

/* ---- measurements ------------------------------------------------------ */

/* Arrays beyond the second level of cache, a part after the other. Something
 * else may use the processor meanwhile: the fastest part counts. */
static void measure_host(void) {
  enum { PARTS = 16, PART = 1 << 14, SIZE = PARTS * PART };
  double *a = malloc(2 * SIZE * sizeof *a);
  host.instance = 1e-9;
  if (!a)
    return;
  for (size_t i = 0; i < 2 * SIZE; i++)
    a[i] = (double)i;
  uint64_t best = UINT64_MAX;
  for (double *part = a; part < a + SIZE; part += PART) {
    uint64_t start = pacc_clock();
#pragma clang loop vectorize(disable) unroll(disable)
    for (size_t i = 0; i < PART; i++)
      part[i] = part[i] * 0.5 + part[SIZE + i];
    uint64_t time = pacc_clock() - start;
    /* The value is used, so that the loop stays. */
    if (part[0] >= 0 && time < best)
      best = time;
  }
  host.instance = (double)best * 1e-9 / (double)PART;
  free(a);
}

/* The fastest of three copies; the first one sets things up. */
static double measured_copy(struct pacc_run *run, uint64_t to, const char *from,
                            uint64_t size) {
  const struct pacc_backend *backend = run->device->backend;
  void *device = run->device->handle, *stream = run->thread->stream;
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 3; i++) {
    uint64_t start = pacc_clock();
    int status =
        pacc_stage_pays(run, size, 1)
            ? pacc_stage_copy_in(run, to, size, from, size, size, 1)
            : backend->copy_in(device, stream, to, size, from, size, size, 1);
    if (status || backend->sync(device, stream))
      return -1;
    uint64_t time = pacc_clock() - start;
    best = time < best ? time : best;
  }
  return (double)best * 1e-9;
}

void pacc_guard_measure(struct pacc_device *device) {
  const struct pacc_backend *backend = device->backend;
  enum { SIZE = 16 << 20 };
  struct pacc_thread thread = {0};
  struct pacc_run run = {.device = device, .thread = &thread};
  char *from = calloc(1, SIZE);
  uint64_t to = 0;
  if (from && !backend->stream_create(device->handle, &thread.stream)) {
    if (!backend->alloc(device->handle, SIZE, &to)) {
      double small = measured_copy(&run, to, from, 8);
      double large = measured_copy(&run, to, from, SIZE);
      if (small > 0 && large > small) {
        device->copy_seconds = small;
        device->byte_seconds = (large - small) / (double)SIZE;
      }
      backend->free(device->handle, to);
    }
    pacc_stage_free(&run);
    pacc_thread_free_events(&thread, device);
    backend->stream_destroy(device->handle, thread.stream);
  }
  free(from);
}

/* ---- estimates --------------------------------------------------------- */

static double instances_of(const struct pacc_size *kernels, uint32_t n) {
  double instances = 0;
  for (uint32_t k = 0; k < n; k++)
    instances += kernels[k].instances;
  return instances;
}

/* Seconds of an instance on the host, for a region that did not run there. */
static double host_instance(double instances) {
  double seconds = instances * PACC_SECONDS_HOST_INSTANCE;
  uint64_t asked_ns = (uint64_t)((seconds < 1e6 ? seconds : 1e6) * 1e9);
  asked_ns += atomic_fetch_add(&host.asked_ns, asked_ns);
  if ((double)asked_ns * 1e-9 < MEASURING_PAYS)
    return PACC_SECONDS_HOST_INSTANCE;
  pthread_once(&host.once, measure_host);
  return host.instance;
}

/* What n kernels that are phases of one loop take, one kernel or many. */
static double loop_seconds(const struct pacc_size *phases, uint32_t n,
                           bool is_gpu, uint32_t sms) {
  /* Of the loop's kernel nothing is known yet. */
  enum { BLOCK = 256, BLOCKS_PER_SM = 2 };
  const struct pacc_loop_facts facts = {.is_gpu = is_gpu,
                                        .sm_count = sms,
                                        .resident = BLOCKS_PER_SM * sms,
                                        .block_threads = BLOCK,
                                        .n_phases = n,
                                        .sizes = phases};
  return pacc_loop_choose(&facts).seconds;
}

static double copy_seconds(const struct pacc_device *device) {
  return device && device->copy_seconds > 0 ? device->copy_seconds
                                            : PACC_SECONDS_COPY;
}

static double byte_seconds(const struct pacc_device *device) {
  return device && device->copy_seconds > 0 ? device->byte_seconds : BYTE;
}

/* Seconds of a region with these kernels, which copies so many bytes. */
static double device_seconds(const struct pacc_device *device,
                             const struct pacc_size *kernels, uint32_t n,
                             double bytes) {
  uint32_t sms = device && device->info.sm_count ? device->info.sm_count
                                                 : (uint32_t)PACC_USUAL_SMS;
  bool is_gpu = !device || device->info.cc != 0;
  double seconds = 2 * copy_seconds(device) + bytes * byte_seconds(device);
  for (uint32_t k = 0, next; k < n; k = next) {
    next = k + 1;
    while (kernels[k].loop > 0 && next < n &&
           kernels[next].loop == kernels[k].loop)
      next++;
    seconds += kernels[k].loop > 0
                   ? loop_seconds(&kernels[k], next - k, is_gpu, sms)
                   : pacc_launches_seconds(&kernels[k], sms);
  }
  return seconds;
}

/* ---- what was seen ----------------------------------------------------- */

/* Sizes within a factor of four behave alike: class 0 has up to 4^4 instances,
 * the last one more than 4^18. */
static unsigned class_of(double instances) {
  double limit = 256;
  unsigned class = 0;
  for (; class < PACC_HISTORY_CLASSES - 1 && instances > limit; class++)
    limit *= 4;
  return class;
}

static bool is_seen(const uint32_t *history) {
  return __atomic_load_n(history, __ATOMIC_RELAXED) != 0;
}

/* Real by estimated time, the best that was seen; 1 before the first time.
 * Stored as a float's bits: plain stores of several threads do no harm. */
static double factor(const uint32_t *history) {
  uint32_t bits = __atomic_load_n(history, __ATOMIC_RELAXED);
  float value;
  memcpy(&value, &bits, sizeof value);
  return bits ? (double)value : 1;
}

static void learn(uint32_t *history, double estimate, double seconds) {
  if (!(estimate > 0 && seconds > 0))
    return;
  float value = (float)(seconds / estimate);
  if (is_seen(history) && factor(history) <= (double)value)
    return;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  __atomic_store_n(history, bits, __ATOMIC_RELAXED);
}

/* Both sides for a region. The history of the host is of
 * PACC_SECONDS_HOST_INSTANCE's time. seconds, estimate  expected, and without
 * history */
struct expected {
  double on_host, on_device;
  double host_estimate, device_estimate;
  uint32_t *host_history, *device_history;
};

static struct expected expect(struct pacc_region *region,
                              const struct pacc_device *device,
                              const struct pacc_size *kernels, uint32_t n,
                              double bytes) {
  double instances = instances_of(kernels, n);
  unsigned class = class_of(instances);
  struct expected e = {.host_estimate = instances * PACC_SECONDS_HOST_INSTANCE,
                       .device_estimate =
                           device_seconds(device, kernels, n, bytes),
                       .host_history = &region->host_factor[class],
                       .device_history = &region->device_factor[class]};
  e.on_host = is_seen(e.host_history) ? e.host_estimate * factor(e.host_history)
                                      : instances * host_instance(instances);
  e.on_device = e.device_estimate * factor(e.device_history);
  return e;
}

/* ---- the decision ------------------------------------------------------ */

/* What it takes to get the device ready for the region, in seconds. */
static double start_price(const struct pacc_device *device,
                          const struct pacc_region *region) {
  const struct pacc_image *image = region->image;
  double price = device ? 0 : OPEN;
  if (__atomic_load_n(&image->state, __ATOMIC_ACQUIRE))
    return price;
  /* Machine code, "sm_90", is for one architecture. */
  bool fits =
      image->cubin &&
      (!device || strtoul(image->arch + strcspn(image->arch, "0123456789"),
                          NULL, 10) == device->info.cc);
  return price + (fits ? LOAD_MACHINE_CODE : LOAD_PTX);
}

/* Is the device ready for the region, or has enough been missed by now to pay
 * for that? */
static bool may_start(double price, double gain) {
  if (price == 0)
    return true;
  uint64_t gain_ns = (uint64_t)((gain < 1e6 ? gain : 1e6) * 1e9);
  uint64_t price_ns = (uint64_t)(price * 1e9);
  uint64_t missed = atomic_load(&missed_ns), left;
  do
    left = missed + gain_ns >= price_ns ? missed + gain_ns - price_ns
                                        : missed + gain_ns;
  while (!atomic_compare_exchange_weak(&missed_ns, &missed, left));
  return missed + gain_ns >= price_ns;
}

/* The same without counting the gain as missed. */
static bool would_pay(double gain, double price) {
  return gain > 0 && (double)atomic_load(&missed_ns) * 1e-9 + gain >= price;
}

/* Is there nothing to learn? A region that was timed on the host once, and is
 * far faster there, is not timed again: small ones take no longer than the
 * clock. */
static bool is_settled(const struct expected *e) {
  return is_seen(e->host_history) &&
         e->on_device > PACC_FAR_FASTER * e->on_host;
}

/* A region that is far faster on the host than two empty copies is not even
 * thought about again. */
static void settle(struct pacc_region *region, const struct expected *e,
                   const struct pacc_device *device, double instances) {
  if (PACC_FAR_FASTER * e->on_host < 2 * copy_seconds(device))
    __atomic_store(&region->settled, &instances, __ATOMIC_RELAXED);
}

/* What was settled before for as many instances. */
static bool is_known_small(const struct pacc_region *region,
                           const struct pacc_size *kernels, uint32_t n) {
  double settled;
  __atomic_load(&region->settled, &settled, __ATOMIC_RELAXED);
  return settled > 0 && instances_of(kernels, n) <= settled;
}

/* Says where the region runs, if that is news. */
static void tell(const struct pacc_region *region, const struct expected *e,
                 bool worth, bool is_open) {
  char title[PACC_TITLE_SIZE];
  if (!pacc_log_is_news(region, worth ? GOES_TO_DEVICE : STAYS_ON_HOST) ||
      worth)
    return;
  pacc_log(PACC_LOG_INFO,
           "%s: the original loops run: about %.3g ms, the device would need "
           "%.3g ms%s (PACC_DEVICE=cuda insists)",
           pacc_region_title(region, title), e->on_host * 1e3,
           e->on_device * 1e3, is_open ? "" : " and has to be started");
}

static int32_t decide(struct pacc_region *region,
                      const struct pacc_size *kernels, uint32_t n,
                      double bytes) {
  const struct pacc_device *device = pacc_device_peek();
  struct expected e = expect(region, device, kernels, n, bytes);
  double price = start_price(device, region);
  bool doubtful = price > 0 && !is_seen(e.host_history);
  double gain = e.on_host / (doubtful ? DOUBT : 1) - e.on_device;
  bool worth = gain > 0 && may_start(price, gain);
  if (is_settled(&e)) {
    settle(region, &e, device, instances_of(kernels, n));
  } else {
    running.region = region;
    running.history = worth ? e.device_history : e.host_history;
    running.estimate = worth ? e.device_estimate : e.host_estimate;
    running.start_ns = pacc_clock();
  }
  if (pacc_log_on(PACC_LOG_INFO))
    tell(region, &e, worth, device != NULL);
  return worth;
}

PACC_RT_API int32_t __pacc_rt_worth(struct pacc_region *region,
                                    const struct pacc_size *kernels,
                                    uint32_t n_kernels, double bytes) {
  running.region = NULL;
  pacc_guard_reached(region);
  if (is_known_small(region, kernels, n_kernels)) {
    pacc_count(&pacc_counts.fallbacks, 1);
    return 0;
  }
  /* Who reads of estimates should know that there is nothing to choose from. */
  if (pacc_log_on(PACC_LOG_INFO) && pacc_cuda_has_no_library())
    pacc_device_get();
  if (!pacc_device_is_optional())
    return 1;
  /* Which of the bytes are on the device already is not known here. */
  if (pacc_data_exists())
    bytes = 0;
  int32_t worth = decide(region, kernels, n_kernels, bytes);
  if (!worth)
    pacc_count(&pacc_counts.fallbacks, 1);
  return worth;
}

/* A span is given up when what its regions are expected to lose on the device
 * passes what was put into it: it costs at most twice what it had to. */
PACC_RT_API int32_t __pacc_rt_span_worth(void *handle,
                                         struct pacc_region *region,
                                         const struct pacc_size *kernels,
                                         uint32_t n_kernels, double bytes) {
  struct pacc_open_span *span = handle;
  running.region = NULL;
  if (!pacc_device_is_optional())
    return 1;
  const struct pacc_device *device = pacc_device_peek();
  bool first = pacc_span_is_first(span, region);
  struct expected e =
      expect(region, device, kernels, n_kernels, first ? bytes : 0);
  span->balance += e.on_device - e.on_host;
  double price = start_price(device, region);
  if (price > 0)
    return would_pay(-span->balance, price);
  return span->balance <= (double)(pacc_clock() - span->start_ns) * 1e-9;
}

PACC_RT_API void __pacc_rt_host_begin(struct pacc_region *region) {
  bool was_reached = reached == region;
  reached = NULL;
  pacc_data_to_host();
  if (was_reached)
    return;
  /* The code before the region came here by itself. */
  pacc_count(&pacc_counts.fallbacks, 1);
  if (pacc_log_on(PACC_LOG_INFO) && pacc_log_is_news(region, FAILED_CHECK)) {
    char title[PACC_TITLE_SIZE];
    pacc_log(PACC_LOG_INFO,
             "%s: the original loops run: a check before the region does not "
             "hold (arrays overlap, a size or subscript is out of range, or "
             "there is less to do than -polly-acc-min-work)",
             pacc_region_title(region, title));
  }
}

PACC_RT_API void __pacc_rt_host_end(struct pacc_region *region) {
  if (running.region != region)
    return;
  running.region = NULL;
  learn(running.history, running.estimate,
        (double)(pacc_clock() - running.start_ns) * 1e-9);
}

void pacc_guard_reached(const struct pacc_region *region) { reached = region; }

void pacc_guard_forget(void) { running.region = NULL; }

void pacc_guard_device_ran(const struct pacc_region *region, double seconds) {
  if (running.region != region)
    return;
  running.region = NULL;
  learn(running.history, running.estimate, seconds);
}
