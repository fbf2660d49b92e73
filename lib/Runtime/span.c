/* span.c: regions that are all or nothing together, and leave their arrays on
 * the device meanwhile (pacc/abi.h). The span holds the device from its first
 * region on; the regions' kernels are queued without waiting for them.
 */
#include "count_private.h"
#include "data_private.h"
#include "span_private.h"

#include "pacc/runtime.h"

#include <stdlib.h>

static uint32_t load(const uint32_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void store(uint32_t *counter, uint32_t value) {
  __atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

/* What made a span impossible may go on: it is tried again after 1, 3, 7 ...
 * times. Threads that count at the same time do no harm. */
static void note_abort(struct pacc_span *span) {
  uint32_t aborts = load(&span->aborts) + 1;
  store(&span->aborts, aborts < 20 ? aborts : 20);
  store(&span->rest, (1u << (aborts < 20 ? aborts : 20)) - 1);
}

PACC_RT_API void *__pacc_rt_span_begin(struct pacc_span *descriptor) {
  uint32_t rest = load(&descriptor->rest);
  if (rest) {
    store(&descriptor->rest, rest - 1);
    return NULL;
  }
  if (!pacc_device_is_possible() || pacc_data_exists())
    return NULL;
  struct pacc_open_span *span = calloc(1, sizeof *span);
  if (!span)
    return NULL;
  span->descriptor = descriptor;
  span->start_ns = pacc_clock();
  return span;
}

bool pacc_span_is_first(struct pacc_open_span *span,
                        const struct pacc_region *region) {
  for (unsigned i = 0; i < span->n_seen; i++)
    if (span->seen[i] == region)
      return false;
  if (span->n_seen == span->seen_capacity) {
    unsigned capacity = span->seen_capacity * 2 + 4;
    const struct pacc_region **seen =
        realloc(span->seen, capacity * sizeof *seen);
    if (!seen)
      return true;
    span->seen = seen;
    span->seen_capacity = capacity;
  }
  span->seen[span->n_seen++] = region;
  return true;
}

PACC_RT_API void *__pacc_rt_span_region(void *handle,
                                        struct pacc_region *region) {
  struct pacc_open_span *span = handle;
  if (!span->run)
    span->run = pacc_run_begin(&span->descriptor->region);
  if (!span->run)
    return NULL;
  struct pacc_run *run =
      pacc_run_open(span->run->device, span->run->thread, region);
  if (run)
    run->span = span;
  return run;
}

/* Only what does not stay on the device has to be waited for. */
static bool must_wait(const struct pacc_run *run) {
  for (unsigned i = 0; i < run->n_arrays; i++)
    if (run->arrays[i].block)
      return true;
  return run->stage.block || pacc_profile_on();
}

int32_t pacc_span_end_region(struct pacc_run *run) {
  if (!run->failed)
    pacc_mirror_prepare(run);
  bool ok = !run->failed;
  if (!ok || must_wait(run))
    ok = pacc_run_finish(run);
  if (ok)
    pacc_count(&pacc_counts.regions, 1);
  pacc_run_close(run);
  return ok;
}

static void close_span(struct pacc_open_span *span, bool ok) {
  struct pacc_run *run = span->run;
  if (!ok)
    note_abort(span->descriptor);
  if (run) {
    const char *why = run->thread->error.text;
    if (!ok)
      pacc_log(PACC_LOG_INFO, "%s: %s; its regions run one by one",
               pacc_region_name(run->region),
               why[0] ? why : "a region can't run on the device, or loses");
    run->failed |= !ok;
    pacc_mirror_free_all(span, run->device);
    pacc_run_close(run);
  }
  free(span->seen);
  free(span);
}

PACC_RT_API int32_t __pacc_rt_span_end(void *handle) {
  struct pacc_open_span *span = handle;
  bool ok = true;
  if (span->run) {
    pacc_mirror_collect(span);
    ok = pacc_run_finish(span->run);
  }
  close_span(span, ok);
  return ok;
}

PACC_RT_API void __pacc_rt_span_abort(void *handle) {
  struct pacc_open_span *span = handle;
  if (span->run)
    pacc_run_settle(span->run);
  close_span(span, false);
}
