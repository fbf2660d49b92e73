/* state.c: the device of the program, and errors.
 *
 * CUDA has codes alone for errors; the text that names kernel, block, thread
 * and address goes to stderr. A failed grid is an error that every later call
 * returns, as on a GPU. */
#include "cudart_private.h"

#include "arena.h"
#include "status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { DEFAULT_HEAP = 8 << 20 };

static struct pacc_cudart device = {.heap_limit = DEFAULT_HEAP};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int open_status;
static char open_detail[PACC_CPU_DETAIL_SIZE];

static _Thread_local cudaError_t last_error;
static _Atomic int sticky_status;

static int open_device(void) {
  int status = pacc_cpu_config_read(&device.memory.config);
  if (status)
    return status;
  if (!pacc_cpu_arena_get())
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  device.executor = pacc_cpu_executor_create(&device.memory.config);
  if (!device.executor)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  device.queue = pacc_queue_create(device.executor, device.memory.config.seed);
  if (!device.queue)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  pacc_cudart_start_progress(device.queue);
  return 0;
}

static void open_once(void) {
  open_status = open_device();
  if (open_status)
    snprintf(open_detail, sizeof(open_detail), "%s", pacc_cpu_detail());
}

struct pacc_cudart *pacc_cudart_get(void) {
  pthread_once(&once, open_once);
  if (open_status) {
    pacc_cpu_fail(open_status, "%s", open_detail);
    pacc_cudart_status(open_status);
    return NULL;
  }
  if (sticky_status) {
    last_error = pacc_cudart_translate(sticky_status);
    return NULL;
  }
  return &device;
}

cudaError_t pacc_cudart_translate(int status) {
  switch (status) {
  case PACC_CPU_OK:
    return cudaSuccess;
  case PACC_CPU_ERROR_INVALID_VALUE:
    return cudaErrorInvalidValue;
  case PACC_CPU_ERROR_NO_DEVICE:
    return cudaErrorInvalidDevice;
  case PACC_CPU_ERROR_OUT_OF_MEMORY:
    return cudaErrorMemoryAllocation;
  case PACC_CPU_ERROR_INVALID_IMAGE:
    return cudaErrorInvalidKernelImage;
  case PACC_CPU_ERROR_NO_KERNEL:
    return cudaErrorInvalidDeviceFunction;
  case PACC_CPU_ERROR_LAUNCH_LIMITS:
    return cudaErrorInvalidConfiguration;
  case PACC_CPU_ERROR_OUT_OF_BOUNDS:
    return cudaErrorIllegalAddress;
  case PACC_CPU_ERROR_MISALIGNED:
    return cudaErrorMisalignedAddress;
  case PACC_CPU_ERROR_ASSERT:
    return cudaErrorAssert;
  case PACC_CPU_ERROR_STACK_OVERFLOW:
    return cudaErrorHardwareStackError;
  case PACC_CPU_ERROR_DEADLOCK:
    return cudaErrorLaunchTimeout;
  case PACC_CPU_ERROR_BARRIER_DIVERGENCE:
  case PACC_CPU_ERROR_INVALID_SYNC:
    return cudaErrorIllegalInstruction;
  case PACC_CPU_ERROR_UNSUPPORTED:
    return cudaErrorNotSupported;
  default:
    return cudaErrorLaunchFailure;
  }
}

cudaError_t pacc_cudart_error(cudaError_t error) {
  if (error)
    last_error = error;
  return error;
}

cudaError_t pacc_cudart_status(int status) {
  if (status)
    fprintf(stderr, "CPU device: %s: %s\n", pacc_cpu_status_name(status),
            pacc_cpu_detail());
  return pacc_cudart_error(pacc_cudart_translate(status));
}

cudaError_t pacc_cudart_finished(int status) {
  int none = 0;
  if (!status)
    return cudaSuccess;
  if (atomic_compare_exchange_strong(&sticky_status, &none, status))
    return pacc_cudart_status(status);
  return pacc_cudart_error(pacc_cudart_translate(status));
}

PACC_PUBLIC cudaError_t cudaGetLastError(void) {
  cudaError_t error = last_error;
  last_error =
      sticky_status ? pacc_cudart_translate(sticky_status) : cudaSuccess;
  return error ? error : last_error;
}

PACC_PUBLIC cudaError_t cudaPeekAtLastError(void) {
  return last_error || !sticky_status ? last_error
                                      : pacc_cudart_translate(sticky_status);
}
