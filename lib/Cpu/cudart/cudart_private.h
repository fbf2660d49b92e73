/* cudart_private.h: what the files of the CUDA runtime share.
 *
 * state.c holds the device and turns statuses into CUDA's errors, registry.c
 * knows kernels and variables, stream_calls.c has the functions that take a
 * stream (compiled twice, see there), and one file each has memory, streams,
 * events, launches and attributes. device_*.c are the functions that kernels
 * call. queue.h is the order of all work.
 *
 * What is not here is no symbol of the library, so that a program that wants it
 * does not link.
 */
#ifndef PACC_CUDART_PRIVATE_H
#define PACC_CUDART_PRIVATE_H

#include "memory.h"
#include "program.h"
#include "queue.h"

#include <cuda_runtime_api.h>

#define PACC_PUBLIC __attribute__((visibility("default")))

/* -- state.c -- */

struct pacc_cudart {
  struct pacc_cpu_memory memory;
  struct pacc_cpu_executor *executor;
  struct pacc_queue *queue;
  _Atomic uint64_t heap_limit, heap_used; /* bytes of malloc in kernels */
};

/* The device, made by the first call; NULL with an error noted. */
struct pacc_cudart *pacc_cudart_get(void);

/* Notes an error as the last of this host thread and returns it. */
cudaError_t pacc_cudart_error(cudaError_t error);
/* The same for a status of the CPU device, whose text is printed. */
cudaError_t pacc_cudart_status(int status);
/* What pacc_queue_finish_* returned, as an error that stays. */
cudaError_t pacc_cudart_finished(int status);
/* CUDA's error for a status. */
cudaError_t pacc_cudart_translate(int status);

/* Begins a function that needs the device. */
#define PACC_CUDART_ENTER(device)                                              \
  struct pacc_cudart *device = pacc_cudart_get();                              \
  if (!device)                                                                 \
  return cudaPeekAtLastError()

/* -- progress.c -- */

/* Starts the thread that runs what is queued when the host is stuck. */
void pacc_cudart_start_progress(struct pacc_queue *queue);

/* -- registry.c -- */

/* The kernel of a host stub or of an address in device code, or NULL. */
struct pacc_cpu_kernel *pacc_cudart_kernel(const void *address);
/* Address and size of the device variable that a host variable stands for; 0 if
 * it stands for none. */
int pacc_cudart_variable(const void *address,
                         struct pacc_cpu_variable *variable);

/* -- launch.c -- */

/* cudaSuccess, or why no GPU takes the launch: the dynamic shared memory is
 * limited as cudaFuncSetAttribute says. */
cudaError_t pacc_cudart_check(const struct pacc_cpu_work *work);

void pacc_cudart_describe(const struct pacc_cpu_kernel *kernel,
                          struct cudaFuncAttributes *attributes);
cudaError_t pacc_cudart_occupancy(const struct pacc_cpu_kernel *kernel,
                                  int threads, size_t shared, int *n_blocks);

/* -- device.c: the device stands for a GPU of this architecture -- */

#define PACC_CUDART_ARCH_NAME "sm_90"
enum {
  PACC_CUDART_ARCH = 90,
  PACC_CUDART_REGISTERS = 32, /* assumed of every kernel */
};

cudaError_t pacc_cudart_attribute(enum cudaDeviceAttr attribute, int *value);
cudaError_t pacc_cudart_limit(struct pacc_cudart *device, enum cudaLimit limit,
                              size_t *value);

/* -- stream.c -- */

/* The stream of a handle, NULL with an error noted. Handle 0 is the legacy
 * stream, or the thread's own with `per_thread`. */
struct pacc_stream *pacc_cudart_stream(struct pacc_cudart *device,
                                       cudaStream_t handle, int per_thread);

/* What a stream was made with; NULL for what is not asked. */
cudaError_t pacc_cudart_stream_attributes(cudaStream_t stream, unsigned *flags,
                                          int *priority,
                                          unsigned long long *id);

/* -- event.c -- */

struct pacc_event {
  unsigned flags;
  struct pacc_mark *mark; /* of the last record, or NULL */
};

/* -- memory.c -- */

/* Whether an address is in memory that kernels reach: the device's, managed or
 * page-locked. */
int pacc_cudart_is_device(const void *address);

/* Device memory of `size` bytes, NULL for 0. */
cudaError_t pacc_cudart_alloc(struct pacc_cudart *device, void **result,
                              size_t size);

#endif
