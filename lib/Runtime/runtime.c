/* runtime.c: the functions that generated host code calls (pacc/abi.h).
 *
 * Between begin and end a thread holds the device and has it current. Host
 * memory is written in one place only, write_back, when every result of the
 * region has arrived in staging memory.
 */
#include "count_private.h"
#include "data_private.h"
#include "guard_private.h"
#include "span_private.h"
#include "sweep_private.h"

#include "pacc/runtime.h"

#include <inttypes.h>
#include <string.h>

struct pacc_counts pacc_counts;

PACC_RT_API const int PACC_ABI_SYMBOL = PACC_ABI_VERSION;

/* ---- begin ------------------------------------------------------------ */

struct pacc_run *pacc_run_open(struct pacc_device *device,
                               struct pacc_thread *thread,
                               const struct pacc_region *region) {
  bool loaded;
  uint64_t start_ns = pacc_clock();
  struct pacc_module *module =
      pacc_module_get(device, region->image, &loaded, &thread->error);
  if (!module)
    return NULL;
  if (!thread->stream) {
    int status =
        device->backend->stream_create(device->handle, &thread->stream);
    if (status) {
      thread->stream = NULL;
      pacc_error_set(&thread->error, device->backend, device->handle, status,
                     "no stream");
      return NULL;
    }
  }
  struct pacc_run *run = pacc_run_take(thread);
  if (!run) {
    pacc_error_set(&thread->error, NULL, NULL, 0, "out of host memory");
    return NULL;
  }
  run->region = region;
  run->device = device;
  run->module = module;
  run->start_ns = start_ns;
  run->loaded = loaded;
  if (loaded)
    pacc_profile_host(run, PACC_PROFILE_LOAD, region->image->name, start_ns,
                      pacc_module_code_size(device, region->image));
  pacc_profile_begin(run);
  return run;
}

static struct pacc_run *enter_and_open(struct pacc_device *device,
                                       struct pacc_thread *thread,
                                       const struct pacc_region *region) {
  int status = device->backend->enter(device->handle);
  if (status) {
    pacc_error_set(&thread->error, device->backend, device->handle, status,
                   "the device can't be made current");
    return NULL;
  }
  struct pacc_run *run = pacc_run_open(device, thread, region);
  if (!run)
    device->backend->leave(device->handle);
  return run;
}

struct pacc_run *pacc_run_begin(const struct pacc_region *region) {
  struct pacc_device *device = pacc_device_get();
  struct pacc_thread *thread = device ? pacc_thread_get() : NULL;
  if (!thread)
    return NULL;
  thread->error.text[0] = 0;
  if (!pacc_device_hold(device))
    return NULL;
  struct pacc_run *run = enter_and_open(device, thread, region);
  if (!run)
    pacc_device_unhold(device);
  return run;
}

PACC_RT_API void *__pacc_rt_begin(struct pacc_region *region) {
  pacc_guard_reached(region);
  struct pacc_run *run = pacc_run_begin(region);
  if (!run) {
    const struct pacc_thread *thread = pacc_thread_peek();
    if (thread && thread->error.text[0])
      pacc_error_report(region, &thread->error);
    pacc_guard_forget();
    pacc_count(&pacc_counts.fallbacks, 1);
  }
  return run;
}

PACC_RT_API void *__pacc_rt_begin_managed(struct pacc_region *region) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  /* What pacc_data_begin left on the device has to be in the host's memory. */
  pacc_data_to_host();
  struct pacc_run *run = __pacc_rt_begin(region);
  if (!run)
    return NULL;
  run->managed = run->device->info.host_memory;
  if (!run->managed && !atomic_flag_test_and_set(&said))
    pacc_log(PACC_LOG_INFO,
             "%s can't access the host's memory: arrays are copied",
             run->device->info.name);
  return run;
}

/* ---- launches --------------------------------------------------------- */

/* Blocks that cover n > 0 threads. */
static uint64_t count_blocks(int64_t n, uint32_t block) {
  return ((uint64_t)n - 1) / block + 1;
}

static uint32_t cut(uint64_t blocks) {
  return blocks > 65535 ? 65535 : (uint32_t)blocks;
}

bool pacc_grid_of(const struct pacc_kernel *kernel, const int64_t n[3],
                  uint32_t grid[3]) {
  uint64_t blocks_x = count_blocks(n[0], kernel->block[0]);
  if (blocks_x > INT32_MAX)
    return false;
  grid[0] = (uint32_t)blocks_x;
  grid[1] = cut(count_blocks(n[1], kernel->block[1]));
  grid[2] = cut(count_blocks(n[2], kernel->block[2]));
  return true;
}

/* The kernel with its block for a launch of n threads. */
static struct pacc_kernel sized(const struct pacc_kernel *kernel,
                                const int64_t n[3], uint32_t sm_count) {
  struct pacc_kernel found = *kernel;
  double threads = (double)n[0] * (double)n[1] * (double)n[2];
  for (uint32_t i = 0; i < kernel->n_smaller; i++) {
    const struct pacc_sized_block *smaller = &kernel->smaller[i];
    if (threads <= (double)smaller->threads_sm * sm_count) {
      memcpy(found.block, smaller->block, sizeof found.block);
      break;
    }
  }
  return found;
}

typedef int launch_fn(void *device, void *stream, void *kernel,
                      const uint32_t grid[3], const struct pacc_kernel *info,
                      void **params);

static void launch(struct pacc_run *run, launch_fn *queue, uint32_t number,
                   const struct pacc_kernel *kernel, const uint32_t grid[3],
                   void **params) {
  struct pacc_device *device = run->device;
  struct pacc_profile_op op = {
      .kind = PACC_PROFILE_KERNEL,
      .name = kernel->name,
      .label = kernel->label,
      .grid = {grid[0], grid[1], grid[2]},
      .block = {kernel->block[0], kernel->block[1], kernel->block[2]}};
  bool timed = pacc_profile_before(run, &op);
  int status = queue(device->handle, run->thread->stream,
                     run->module->kernels[number], grid, kernel, params);
  if (timed)
    pacc_profile_after(run);
  if (status) {
    FAIL(run, status,
         "kernel %s failed (grid %ux%ux%u, block "
         "%ux%ux%u, %u bytes of shared memory)",
         kernel->name, grid[0], grid[1], grid[2], kernel->block[0],
         kernel->block[1], kernel->block[2], kernel->shared);
    return;
  }
  run->launches++;
  pacc_count(&pacc_counts.launches, 1);
  if (pacc_log_on(PACC_LOG_LAUNCH))
    pacc_log(PACC_LOG_LAUNCH,
             "%s: launch %s, grid %ux%ux%u, block %ux%ux%u, %u bytes of "
             "shared memory",
             pacc_region_name(run->region), kernel->name, grid[0], grid[1],
             grid[2], kernel->block[0], kernel->block[1], kernel->block[2],
             kernel->shared);
  pacc_run_collect_if_full(run);
}

/* What has to be done between the region's copies and its first kernel. */
static void prepare(struct pacc_run *run) {
  if (run->span)
    pacc_mirror_prepare(run);
  else
    pacc_data_prepare(run);
}

PACC_RT_API void __pacc_rt_launch(void *handle, uint32_t number, int64_t nx,
                                  int64_t ny, int64_t nz, void **params) {
  struct pacc_run *run = handle;
  if (run->failed || nx <= 0 || ny <= 0 || nz <= 0)
    return;
  if (number >= run->region->image->n_kernels) {
    FAIL_HERE(run, "there is no kernel %u", number);
    return;
  }
  const int64_t n[3] = {nx, ny, nz};
  const struct pacc_kernel kernel = sized(&run->region->image->kernels[number],
                                          n, run->device->info.sm_count);
  uint32_t grid[3];
  if (!pacc_grid_of(&kernel, n, grid)) {
    FAIL_HERE(run,
              "kernel %s needs %" PRIu64 " blocks along x, more than the "
              "2147483647 that there can be",
              kernel.name, count_blocks(nx, kernel.block[0]));
    return;
  }
  prepare(run);
  /* A sweep restores arrays by copies. */
  if (!run->failed && !run->managed)
    pacc_sweep_launch(run, number, n, params);
  if (!run->failed)
    launch(run, run->device->backend->launch, number, &kernel, grid, params);
}

void pacc_run_launch_resident(struct pacc_run *run, uint32_t number,
                              const uint32_t grid[3], void **params) {
  if (!run->failed)
    prepare(run);
  if (!run->failed)
    launch(run, run->device->backend->launch_resident, number,
           &run->region->image->kernels[number], grid, params);
}

/* ---- end ------------------------------------------------------------ */

void pacc_run_settle(struct pacc_run *run) {
  struct pacc_device *device = run->device;
  if (device->backend->sync(device->handle, run->thread->stream))
    pacc_device_lose(device);
}

static void free_staging(struct pacc_device *device, struct pacc_block *block,
                         bool lost) {
  if (block && lost)
    pacc_pool_abandon(&device->staging, block);
  else if (block)
    pacc_pool_give(&device->staging, block);
}

static void free_memory(struct pacc_run *run) {
  struct pacc_device *device = run->device;
  bool lost = atomic_load(&device->lost);
  for (unsigned i = 0; i < run->n_arrays; i++) {
    struct pacc_block *block = run->arrays[i].block;
    if (block && lost)
      pacc_pool_abandon(&device->memory, block);
    else if (block)
      pacc_pool_give(&device->memory, block);
  }
  free_staging(device, run->staging, lost);
  pacc_stage_free(run);
  for (unsigned i = 0; i < run->n_results; i++)
    free_staging(device, run->results[i].before_block, lost);
}

static void log_success(const struct pacc_run *run) {
  if (!pacc_log_on(PACC_LOG_INFO))
    return;
  char in[24], out[24], title[PACC_TITLE_SIZE];
  uint64_t us = (pacc_clock() - run->start_ns) / 1000;
  pacc_log(PACC_LOG_INFO,
           "%s: %" PRIu64 " launch%s, %s in, %s out, %" PRIu64 ".%03u ms",
           pacc_region_title(run->region, title), run->launches,
           run->launches == 1 ? "" : "es", pacc_bytes(run->bytes_in, in),
           pacc_bytes(run->bytes_out, out), us / 1000, (unsigned)(us % 1000));
}

bool pacc_run_finish(struct pacc_run *run) {
  if (!run->failed)
    prepare(run);
  if (!run->failed)
    pacc_run_fetch_results(run);
  if (run->failed)
    pacc_run_settle(run);
  else
    pacc_run_write_back(run);
  if (run->failed && run->managed)
    pacc_run_restore(run);
  return !run->failed;
}

void pacc_run_close(struct pacc_run *run) {
  struct pacc_device *device = run->device;
  free_memory(run);
  pacc_profile_end(run, !run->failed);
  if (!run->span) {
    device->backend->leave(device->handle);
    pacc_device_unhold(device);
  }
  if (!run->failed)
    log_success(run);
  pacc_run_give(run);
}

PACC_RT_API int32_t __pacc_rt_end(void *handle) {
  struct pacc_run *run = handle;
  if (run->span)
    return pacc_span_end_region(run);
  bool ok = pacc_run_finish(run);
  pacc_data_end_run(run, ok);
  pacc_count(ok ? &pacc_counts.regions : &pacc_counts.fallbacks, 1);
  /* Loading is paid once. */
  if (ok && !run->loaded)
    pacc_guard_device_ran(run->region,
                          (double)(pacc_clock() - run->start_ns) * 1e-9);
  if (ok) {
    pacc_guard_reached(NULL);
  } else {
    pacc_guard_forget();
    pacc_error_report(run->region, &run->thread->error);
  }
  pacc_run_close(run);
  return ok;
}
