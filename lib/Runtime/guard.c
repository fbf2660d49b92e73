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

#include "pacc/runtime.h"
#include "span_private.h"

#include <stdlib.h>
#include <string.h>

/* Seconds, until something better is known. A launch that follows another, and
 * an instance in a thread that waits for its memory, are those of
 * lib/Poly/plan_cost.c; bandwidth is that of pageable memory over PCIe. */
static const double OPEN = 0.3;
static const double LOAD = 0.1;
static const double COPY = 20e-6;
static const double BYTE = 1e-10;
static const double LAUNCH = 4e-6;
static const double INSTANCE_WAITING = 50e-9;
static const double INSTANCE_PER_SM = 1.3e-9;
static const unsigned DEFAULT_SMS = 100;

static struct {
  pthread_once_t once;
  /* What one load, multiplication, addition and store take on this host. */
  double instance;
} host = {PTHREAD_ONCE_INIT, 0};

/* Gains that were missed because the device was not ready, in nanoseconds. */
static _Atomic uint64_t missed_ns;

/* What this thread's region is being measured against. */
static _Thread_local struct {
  const struct pacc_region *region;
  uint32_t *history;
  double estimate;
  uint64_t start_ns;
} running;

/*===-- Measurements
 * -------------------------------------------------------===*/

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
static double copy_seconds(struct pacc_run *run, uint64_t to, const char *from,
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
  enum { SIZE = 4 << 20 };
  struct pacc_thread thread = {0};
  struct pacc_run run = {.device = device, .thread = &thread};
  char *from = calloc(1, SIZE);
  uint64_t to = 0;
  if (from && !backend->stream_create(device->handle, &thread.stream)) {
    if (!backend->alloc(device->handle, SIZE, &to)) {
      double small = copy_seconds(&run, to, from, 8);
      double large = copy_seconds(&run, to, from, SIZE);
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

/*===-- Estimates
 * ----------------------------------------------------------===*/

static double host_seconds(const struct pacc_size *kernels, uint32_t n) {
  double instances = 0;
  for (uint32_t k = 0; k < n; k++)
    instances += kernels[k].instances;
  pthread_once(&host.once, measure_host);
  return instances * host.instance;
}

/* A kernel is bound by its launches, and either by what one thread does after
 * another or by what all multiprocessors do together. */
static double device_seconds(const struct pacc_device *device,
                             const struct pacc_size *kernels, uint32_t n,
                             double bytes) {
  unsigned sms =
      device && device->info.sm_count ? device->info.sm_count : DEFAULT_SMS;
  bool measured = device && device->copy_seconds > 0;
  double seconds = 2 * (measured ? device->copy_seconds : COPY) +
                   bytes * (measured ? device->byte_seconds : BYTE);
  for (uint32_t k = 0; k < n; k++) {
    const struct pacc_size *size = &kernels[k];
    if (!(size->instances > 0 && size->threads > 0))
      continue;
    double waiting =
        size->instances / size->threads * size->launches * INSTANCE_WAITING;
    double busy = size->instances * INSTANCE_PER_SM / sms;
    seconds += size->launches * LAUNCH + (waiting > busy ? waiting : busy);
  }
  return seconds;
}

/*===-- What was seen
 * ------------------------------------------------------===*/

/* Sizes within a factor of four behave alike: class 0 has up to 4^4 instances,
 * the last one more than 4^18. */
static unsigned class_of(const struct pacc_size *kernels, uint32_t n) {
  double instances = 0, limit = 256;
  for (uint32_t k = 0; k < n; k++)
    instances += kernels[k].instances;
  unsigned class = 0;
  for (; class < PACC_HISTORY_CLASSES - 1 && instances > limit; class++)
    limit *= 4;
  return class;
}

/* Real by estimated time, the best that was seen; 1 before the first time.
 * Stored as a float's bits: plain stores of several threads do no harm. */
static double factor(uint32_t *history) {
  uint32_t bits = __atomic_load_n(history, __ATOMIC_RELAXED);
  float value;
  memcpy(&value, &bits, sizeof value);
  return bits ? (double)value : 1;
}

static void learn(uint32_t *history, double estimate, double seconds) {
  if (!(estimate > 0 && seconds > 0))
    return;
  float value = (float)(seconds / estimate);
  if (__atomic_load_n(history, __ATOMIC_RELAXED) &&
      factor(history) <= (double)value)
    return;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  __atomic_store_n(history, bits, __ATOMIC_RELAXED);
}

/* Is there nothing to learn? A region that was timed on the host once, and is
 * far faster there, is not timed again: small ones take no longer than the
 * clock. */
static bool is_settled(uint32_t *history, double on_host, double on_device) {
  const double FAR = 4;
  return on_device > FAR * on_host &&
         __atomic_load_n(history, __ATOMIC_RELAXED);
}

/*===-- The decision
 * -------------------------------------------------------===*/

/* What it takes to get the device ready for the region, in seconds. */
static double start_price(const struct pacc_device *device,
                          const struct pacc_region *region) {
  bool loaded = __atomic_load_n(&region->image->state, __ATOMIC_ACQUIRE);
  return (device ? 0 : OPEN) + (loaded ? 0 : LOAD);
}

/* Is the device ready for the region, or has enough been missed by now to pay
 * for that? */
static bool may_start(const struct pacc_device *device,
                      const struct pacc_region *region, double gain) {
  double price = start_price(device, region);
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

static int32_t decide(struct pacc_region *region,
                      const struct pacc_size *kernels, uint32_t n,
                      double bytes) {
  const struct pacc_device *device = pacc_device_peek();
  unsigned class = class_of(kernels, n);
  double host_estimate = host_seconds(kernels, n);
  double device_estimate = device_seconds(device, kernels, n, bytes);
  double on_host = host_estimate * factor(&region->host_factor[class]);
  double on_device = device_estimate * factor(&region->device_factor[class]);
  double gain = on_host - on_device;
  bool worth = gain > 0 && may_start(device, region, gain);
  uint32_t *history =
      worth ? &region->device_factor[class] : &region->host_factor[class];
  if (!is_settled(history, on_host, on_device)) {
    running.region = region;
    running.history = history;
    running.estimate = worth ? device_estimate : host_estimate;
    running.start_ns = pacc_clock();
  }
  if (!worth && pacc_log_on(PACC_LOG_INFO))
    pacc_log(PACC_LOG_INFO,
             "%s: the original loops run: about %.3g ms, the device would need "
             "%.3g ms%s (PACC_DEVICE=cuda insists)",
             pacc_region_name(region), on_host * 1e3, on_device * 1e3,
             device ? "" : " and has to be started");
  return worth;
}

PACC_RT_API int32_t __pacc_rt_worth(struct pacc_region *region,
                                    const struct pacc_size *kernels,
                                    uint32_t n_kernels, double bytes) {
  running.region = NULL;
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
  unsigned class = class_of(kernels, n_kernels);
  bool first = pacc_span_is_first(span, region);
  span->balance +=
      device_seconds(device, kernels, n_kernels, first ? bytes : 0) *
          factor(&region->device_factor[class]) -
      host_seconds(kernels, n_kernels) * factor(&region->host_factor[class]);
  double price = start_price(device, region);
  if (price > 0)
    return would_pay(-span->balance, price);
  return span->balance <= (double)(pacc_clock() - span->start_ns) * 1e-9;
}

PACC_RT_API void __pacc_rt_host_end(struct pacc_region *region) {
  if (running.region != region)
    return;
  running.region = NULL;
  learn(running.history, running.estimate,
        (double)(pacc_clock() - running.start_ns) * 1e-9);
}

void pacc_guard_forget(void) { running.region = NULL; }

void pacc_guard_device_ran(const struct pacc_region *region, double seconds) {
  if (running.region != region)
    return;
  running.region = NULL;
  learn(running.history, running.estimate, seconds);
}
