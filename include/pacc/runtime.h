/* runtime.h: what a program may ask of the host runtime, libpacc_rt.
 *
 * No program needs these functions: offloaded loops work without them. They
 * serve tests, benchmarks, programs that want to know where their loops ran,
 * and programs that know better than the compiler which data the GPU may keep.
 * All are safe to call from several host threads. The environment that the
 * runtime reads (PACC_DEVICE, PACC_LOG, ...) is described in docs/runtime.md.
 */
#ifndef PACC_RUNTIME_H
#define PACC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACC_RT_API __attribute__((visibility("default")))

/* The library's version, "0.1.0". */
PACC_RT_API const char *pacc_rt_version(void);

/* The version of the interface of generated code (pacc/abi.h). */
PACC_RT_API int pacc_rt_abi_version(void);

/* The device that offloaded regions use.
 * backend   "cuda", "cpu" (the CPU device), or "host": the original loops run
 * name      "NVIDIA H200", "CPU device", "" for the host
 * cc        compute capability, 90 for 9.0; 0 without a GPU
 * sm_count  multiprocessors; 0 for the host
 * driver    CUDA driver version, 13000 for 13.0; 0 without a GPU
 * memory    bytes of device memory; 0 for the host
 */
struct pacc_rt_device {
  char backend[8];
  char name[128];
  uint32_t cc;
  uint32_t sm_count;
  uint32_t driver;
  uint64_t memory;
};

/* Describes the device, and opens it if no region did so before. Returns 1,
 * or 0 if the regions run their original loops: no device, a lost device, or
 * the child of a fork. `size` is sizeof *device of the caller. */
PACC_RT_API int pacc_rt_device_info(struct pacc_rt_device *device, size_t size);

/* What the calling thread's last failed region failed of, one line; "" if
 * none failed. Valid until this thread's next region. */
PACC_RT_API const char *pacc_rt_last_error(void);

/* Counts since the start of the process, over all threads.
 * regions        regions that ran on the device; those of a span that was given
 *                up in the end count, too
 * fallbacks      regions that ran their original loops
 * launches       kernels queued
 * copies_in, bytes_in, copies_out, bytes_out
 *                transfers between host and device; a region that failed
 *                counts those that it had queued
 * modules        images loaded onto the device
 * device_memory  bytes of device memory held now, in use or kept for reuse
 * host_memory    bytes of staging memory held now
 */
struct pacc_rt_counters {
  uint64_t regions;
  uint64_t fallbacks;
  uint64_t launches;
  uint64_t copies_in;
  uint64_t bytes_in;
  uint64_t copies_out;
  uint64_t bytes_out;
  uint64_t modules;
  uint64_t device_memory;
  uint64_t host_memory;
};

/* Reads the counters. `size` is sizeof *counters of the caller. */
PACC_RT_API void pacc_rt_count(struct pacc_rt_counters *counters, size_t size);

/* Gives the memory that is kept for reuse back: device memory, staging
 * memory, and, if no other thread is in a region, loaded modules and this
 * thread's stream. Later regions work, and pay for them again. */
PACC_RT_API void pacc_rt_release(void);

/* Data that stay on the device.
 *
 *   pacc_data_begin(a, n * sizeof *a);
 *   for (int t = 0; t < steps; t++) {
 *     step(a, n);                        offloaded loops
 *     if (t % 100 == 0) {
 *       pacc_data_update_host(a, 8);
 *       printf("%g\n", a[0]);
 *     }
 *   }
 *   pacc_data_end(a);
 *
 * From begin to end the program promises: code that is not offloaded reads the
 * bytes only after pacc_data_update_host, and writes them only after it and
 * before pacc_data_update_device. That goes for all functions, libraries and
 * threads, and for loops that the compiler left alone (-Rpass-missed=polly-acc
 * names them). At most one region at a time writes the bytes. Regions then copy
 * them to the device when they lack them there, and never back. A region that
 * runs its original loops gets everything back first.
 *
 * All are no-ops, and return 1, in programs whose regions run on the host.
 *
 * All or nothing is weaker here: a region that fails still changes nothing, but
 * data that only a lost device had are lost. Functions that find that return 0.
 */

/* The bytes [start, start + bytes). 0: none at all, or some are in other data
 * already, or out of memory; regions copy them as ever then. */
PACC_RT_API int pacc_data_begin(const void *start, size_t bytes);

/* Brings everything back. `start` is that of the begin; others are ignored. */
PACC_RT_API int pacc_data_end(const void *start);

/* Brings bytes of the data back, so that the host may read them. */
PACC_RT_API int pacc_data_update_host(const void *start, size_t bytes);

/* The host has written these bytes: regions are to see them. */
PACC_RT_API int pacc_data_update_device(const void *start, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
