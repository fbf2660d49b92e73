/* run_private.h: one open region of one thread. */
#ifndef PACC_RUN_PRIVATE_H
#define PACC_RUN_PRIVATE_H

#include "module_private.h"
#include "profile_private.h"
#include "thread_private.h"

/* The bytes [lo, hi) relative to `host`, and their place on the device.
 * address  that stands for `host` on the device
 * block    its memory; NULL for an empty array, and in a mirror
 * mirror   one of the span's that the array lies in, else NULL
 * data     what the program said about its memory (data.c), else NULL
 */
struct pacc_array {
  const char *name;
  char *host;
  int64_t lo, hi;
  uint64_t address;
  struct pacc_block *block;
  struct pacc_mirror *mirror;
  struct pacc_data *data;
};

/* A copy to the host that is due at the region's end: `count` rows of `width`
 * bytes, `pitch` bytes apart in host and device memory.
 * host    the first byte
 * device  the same on the device
 * result  the same in the run's staging block, where rows are dense
 * before  what the host had there at the region's begin, dense too, if only
 *         changes may be written; else NULL
 * before_block  the memory of `before`, if it is the run's own
 * unit    bytes that are written together then
 */
struct pacc_result {
  const char *name;
  char *host;
  uint64_t device;
  uint64_t width, count, pitch;
  char *result;
  const char *before;
  struct pacc_block *before_block;
  uint32_t unit;
};

static inline uint32_t pacc_copy_unit(uint32_t direction) {
  return UINT32_C(1) << (direction >> PACC_COPY_UNIT_SHIFT & 3);
}

/* Pinned memory through which copies to the device go (stage.c).
 * block   of PACC_STAGE_SLOTS pieces; NULL before the first such copy
 * events  after the last copy from each slot
 * pieces  so far
 */
enum { PACC_STAGE_SLOTS = 8 };
struct pacc_stage {
  struct pacc_block *block;
  void *events[PACC_STAGE_SLOTS];
  uint64_t pieces;
};

/* span     that the region is part of, or NULL
 * managed  kernels work in the host's memory; the results' `before` undoes that
 * loaded   this run brought the module to the device
 * failed   sticky; the reason is in thread->error
 * staging  where results wait until all have arrived
 * bytes_in, bytes_out, launches  so far, for the log
 */
struct pacc_run {
  const struct pacc_region *region;
  struct pacc_device *device;
  struct pacc_thread *thread;
  struct pacc_module *module;
  struct pacc_open_span *span;
  bool managed;
  bool loaded;
  bool failed;
  struct pacc_array *arrays;
  unsigned n_arrays, arrays_capacity;
  struct pacc_result *results;
  unsigned n_results, results_capacity;
  struct pacc_block *staging;
  struct pacc_stage stage;
  uint64_t start_ns;
  uint64_t bytes_in, bytes_out, launches;
  struct pacc_profile_run profile;
  struct pacc_run *next;
};

/* A run of the thread, empty. NULL: out of memory. */
struct pacc_run *pacc_run_take(struct pacc_thread *thread);

/* Back to the thread, for its next region. */
void pacc_run_give(struct pacc_run *run);

/* Frees a list of runs that are not open. */
void pacc_run_free_all(struct pacc_run *runs);

/* A further element of the run; NULL: out of memory. */
struct pacc_array *pacc_run_add_array(struct pacc_run *run);
struct pacc_result *pacc_run_add_result(struct pacc_run *run);

/* The grid of the kernel's blocks for n[d] > 0 threads along dimension d, in
 * blocks. False: CUDA has no such grid. */
bool pacc_grid_of(const struct pacc_kernel *kernel, const int64_t n[3],
                  uint32_t grid[3]);

/* In a profile, waits for the stream when many operations wait already. */
void pacc_run_collect_if_full(struct pacc_run *run);

/* Queues a copy of rows to the device, where they are to_pitch bytes apart
 * (transfer.c). from_staging: they are in staging memory. */
void pacc_run_copy_in(struct pacc_run *run, const char *name, uint64_t to,
                      uint64_t to_pitch, const char *from, uint64_t from_pitch,
                      uint64_t width, uint64_t count, bool from_staging);

/* The same for memory that is not pinned, large enough to be worth it
 * (stage.c). Gives the backend's status. */
bool pacc_stage_pays(const struct pacc_run *run, uint64_t width,
                     uint64_t count);
int pacc_stage_copy_in(struct pacc_run *run, uint64_t to, uint64_t to_pitch,
                       const char *from, uint64_t from_pitch, uint64_t width,
                       uint64_t count);

/* Gives the pinned memory back; nothing uses it any more. */
void pacc_stage_free(struct pacc_run *run);

/* Queues the copy of a result to its place in staging memory. */
void pacc_run_copy_out(struct pacc_run *run, const struct pacc_result *result);

/* Opens a run of the region on a device that is held and entered (runtime.c).
 * NULL: the reason is in thread->error. */
struct pacc_run *pacc_run_open(struct pacc_device *device,
                               struct pacc_thread *thread,
                               const struct pacc_region *region);

/* Holds and enters the device, and opens a run. NULL: the reason is in the
 * thread's error, if there is one. */
struct pacc_run *pacc_run_begin(const struct pacc_region *region);

/* After a failure: waits for what was queued, since it reads host memory and
 * writes staging memory. A device that can't even do that is lost. */
void pacc_run_settle(struct pacc_run *run);

/* Waits, and writes the results to the host's arrays; if anything fails, not
 * one of them, and false is returned. */
bool pacc_run_finish(struct pacc_run *run);

/* Gives the run and its memory back, and the device unless it is a span's. */
void pacc_run_close(struct pacc_run *run);

/* Queues a kernel whose blocks all have to be resident. */
void pacc_run_launch_resident(struct pacc_run *run, uint32_t number,
                              const uint32_t grid[3], void **params);

/* Brings all results into staging memory and waits for them (array.c). */
void pacc_run_fetch_results(struct pacc_run *run);

/* Writes the results that were fetched to the host's arrays (array.c). */
void pacc_run_write_back(struct pacc_run *run);

/* Undoes what kernels did to the host's memory (array.c). */
void pacc_run_restore(struct pacc_run *run);

/* The region's name for messages. */
const char *pacc_region_name(const struct pacc_region *region);

/* The rest of __pacc_rt_end for a region of a span (span.c). */
int32_t pacc_span_end_region(struct pacc_run *run);

/* Keeps the first failure of the run; later calls do nothing. */
#define FAIL(run, status, ...)                                                 \
  do {                                                                         \
    (run)->failed = true;                                                      \
    pacc_error_set(&(run)->thread->error, (run)->device->backend,              \
                   (run)->device->handle, (status), __VA_ARGS__);              \
  } while (0)

/* The same for a failure that the backend has no code for. */
#define FAIL_HERE(run, ...)                                                    \
  do {                                                                         \
    (run)->failed = true;                                                      \
    pacc_error_set(&(run)->thread->error, NULL, NULL, 0, __VA_ARGS__);         \
  } while (0)

#endif
