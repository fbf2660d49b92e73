/* run_private.h: one open region of one thread. */
#ifndef PACC_RUN_PRIVATE_H
#define PACC_RUN_PRIVATE_H

#include "module_private.h"
#include "profile_private.h"
#include "thread_private.h"

/* The bytes [lo, hi) relative to `host`, and their place on the device.
 * address  that stands for `host` on the device
 * block    its memory; NULL for an empty array
 */
struct pacc_array {
  const char *name;
  char *host;
  int64_t lo, hi;
  uint64_t address;
  struct pacc_block *block;
};

/* A copy to the host that is due at the region's end: `count` rows of `width`
 * bytes, `pitch` bytes apart in host and device memory.
 * host    the first byte
 * device  the same on the device
 * result  the same in the run's staging block, where rows are dense
 * before  what the host had there at the region's begin, dense too, if only
 *         changes may be written; else NULL
 */
struct pacc_result {
  const char *name;
  char *host;
  uint64_t device;
  uint64_t width, count, pitch;
  char *result;
  struct pacc_block *before;
};

/* loaded   this run brought the module to the device
 * failed   sticky; the reason is in thread->error
 * staging  where results wait until all have arrived
 * bytes_in, bytes_out, launches  so far, for the log
 */
struct pacc_run {
  const struct pacc_region *region;
  struct pacc_device *device;
  struct pacc_thread *thread;
  struct pacc_module *module;
  bool loaded;
  bool failed;
  struct pacc_array *arrays;
  unsigned n_arrays, arrays_capacity;
  struct pacc_result *results;
  unsigned n_results, results_capacity;
  struct pacc_block *staging;
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

/* Brings all results into staging memory and waits for them (array.c). */
void pacc_run_fetch_results(struct pacc_run *run);

/* Writes the results that were fetched to the host's arrays (array.c). */
void pacc_run_write_back(struct pacc_run *run);

/* The region's name for messages. */
const char *pacc_region_name(const struct pacc_region *region);

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
