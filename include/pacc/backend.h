/* backend.h: what the host runtime asks of a device. Filled by
 * lib/Runtime/cuda.c (libcuda.so.1) and by libpacc_cpu.so, whose table is
 * returned by pacc_cpu_backend().
 *
 * Every function returns 0 or a backend status code that error_name() turns
 * into the driver's own name for it. All are safe to call from several host
 * threads; a stream belongs to one thread at a time. Sizes are in bytes.
 */
#ifndef PACC_BACKEND_H
#define PACC_BACKEND_H

#include "pacc/abi.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACC_BACKEND_VERSION 3

/* What a device is.
 * name          "NVIDIA H200", "CPU device"
 * cc            compute capability, 90 for 9.0; 0 for the CPU device
 * sm_count      multiprocessors
 * memory        bytes of device memory
 * driver        driver version as the driver gives it (13000 for 13.0)
 * host_memory   kernels may access all of the host's memory
 */
struct pacc_device_info {
  char name[128];
  uint32_t cc;
  uint32_t sm_count;
  uint64_t memory;
  uint32_t driver;
  uint32_t host_memory;
};

struct pacc_backend {
  uint32_t version; /* PACC_BACKEND_VERSION */
  const char *name; /* "cuda", "cpu" */

  int (*open)(int ordinal, void **device, struct pacc_device_info *info);
  void (*close)(void *device);

  /* Make the device current on this host thread; leave restores what was. */
  int (*enter)(void *device);
  void (*leave)(void *device);

  int (*load)(void *device, const struct pacc_image *image, void **module);
  void (*unload)(void *device, void *module);
  int (*kernel)(void *device, void *module, const char *name, void **kernel);

  int (*stream_create)(void *device, void **stream);
  void (*stream_destroy)(void *device, void *stream);
  int (*sync)(void *device, void *stream);

  int (*alloc)(void *device, uint64_t size, uint64_t *address);
  void (*free)(void *device, uint64_t address);

  /* Host memory that the device copies to and from at full speed. */
  int (*host_alloc)(void *device, uint64_t size, void **memory);
  void (*host_free)(void *device, void *memory);

  /* Queued in stream order; the host memory must stay until sync. `count`
   * rows of `width` bytes; the rows are to_pitch and from_pitch bytes apart
   * (not looked at where count is 1). */
  int (*copy_in)(void *device, void *stream, uint64_t to, uint64_t to_pitch,
                 const void *from, uint64_t from_pitch, uint64_t width,
                 uint64_t count);
  int (*copy_out)(void *device, void *stream, void *to, uint64_t to_pitch,
                  uint64_t from, uint64_t from_pitch, uint64_t width,
                  uint64_t count);
  /* `size` bytes from one place of the device to another. */
  int (*copy_within)(void *device, void *stream, uint64_t to, uint64_t from,
                     uint64_t size);
  int (*launch)(void *device, void *stream, void *kernel,
                const uint32_t grid[3], const struct pacc_kernel *info,
                void **params);

  /* How many blocks of the kernel can be resident, that is, run at the same
   * time. 0: the device can't launch a grid of which that is sure. */
  int (*resident)(void *device, void *kernel, const struct pacc_kernel *info,
                  uint32_t *blocks);
  /* A launch whose blocks are all resident; a grid of more is an error. */
  int (*launch_resident)(void *device, void *stream, void *kernel,
                         const uint32_t grid[3], const struct pacc_kernel *info,
                         void **params);

  /* Time stamps on a stream, for profiles. elapsed is in milliseconds. */
  int (*event_create)(void *device, void **event);
  void (*event_destroy)(void *device, void *event);
  int (*event_record)(void *device, void *stream, void *event);
  /* Waits until the event has happened. */
  int (*event_wait)(void *device, void *event);
  int (*event_elapsed)(void *device, void *from, void *to, float *ms);

  const char *(*error_name)(int status);
  /* More about the last failure on this thread ("kernel k, block (0,0,0),
   * thread (3,0,0): read of 8 bytes out of bounds"), or "". */
  const char *(*error_detail)(void *device);
};

/* Exported by libpacc_cpu.so. */
const struct pacc_backend *pacc_cpu_backend(void);

#ifdef __cplusplus
}
#endif
#endif
