/* memory.c: allocations. Managed and page-locked memory is device memory that
 * the host may use, too, which here it could with all. */
#include "cudart_private.h"

#include "arena.h"
#include "status.h"

#include <string.h>

/* What CUDA promises at least (CUDA C++ Programming Guide, device memory
 * accesses), and what it aligns rows to. */
enum { ALIGNMENT = 256, PITCH = 512 };

int pacc_cudart_is_device(const void *address) {
  return pacc_cpu_arena_kind((uint64_t)(uintptr_t)address) >= 0;
}

cudaError_t pacc_cudart_alloc(struct pacc_cudart *device, void **result,
                              size_t size) {
  uint64_t address = 0;
  if (!result)
    return pacc_cudart_error(cudaErrorInvalidValue);
  *result = NULL;
  if (!size)
    return cudaSuccess;
  int status =
      pacc_cpu_memory_alloc(&device->memory, size, ALIGNMENT, &address);
  *result = (void *)(uintptr_t)address;
  return pacc_cudart_error(pacc_cudart_translate(status));
}

PACC_PUBLIC cudaError_t cudaMalloc(void **result, size_t size) {
  PACC_CUDART_ENTER(device);
  return pacc_cudart_alloc(device, result, size);
}

PACC_PUBLIC cudaError_t cudaMallocManaged(void **result, size_t size,
                                          unsigned flags) {
  PACC_CUDART_ENTER(device);
  if (!size || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
    return pacc_cudart_error(cudaErrorInvalidValue);
  return pacc_cudart_alloc(device, result, size);
}

PACC_PUBLIC cudaError_t cudaMallocHost(void **result, size_t size) {
  PACC_CUDART_ENTER(device);
  return pacc_cudart_alloc(device, result, size);
}

PACC_PUBLIC cudaError_t cudaHostAlloc(void **result, size_t size,
                                      unsigned flags) {
  (void)flags; /* all memory is portable and mapped */
  return cudaMallocHost(result, size);
}

PACC_PUBLIC cudaError_t cudaMallocPitch(void **result, size_t *pitch,
                                        size_t width, size_t height) {
  PACC_CUDART_ENTER(device);
  size_t size;
  if (!pitch || width > SIZE_MAX - PITCH)
    return pacc_cudart_error(cudaErrorInvalidValue);
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  if (__builtin_mul_overflow(*pitch, height, &size))
    return pacc_cudart_error(cudaErrorMemoryAllocation);
  return pacc_cudart_alloc(device, result, size);
}

/* Frees when all that was queued before has run. */
PACC_PUBLIC cudaError_t cudaFree(void *address) {
  PACC_CUDART_ENTER(device);
  cudaError_t error = pacc_cudart_finished(pacc_queue_finish(device->queue));
  if (error || !address)
    return error;
  return pacc_cudart_error(pacc_cudart_translate(
      pacc_cpu_memory_free(&device->memory, (uint64_t)(uintptr_t)address)));
}

PACC_PUBLIC cudaError_t cudaFreeHost(void *address) {
  return cudaFree(address);
}

/* Locking pages makes copies faster, nothing more; kernels that use the memory
 * are stopped, since it lies outside of the device's. */
PACC_PUBLIC cudaError_t cudaHostRegister(void *address, size_t size,
                                         unsigned flags) {
  if (!address || !size)
    return pacc_cudart_error(cudaErrorInvalidValue);
  return pacc_cudart_error(
      flags & cudaHostRegisterMapped ? cudaErrorNotSupported : cudaSuccess);
}
PACC_PUBLIC cudaError_t cudaHostUnregister(void *address) {
  return pacc_cudart_error(address ? cudaSuccess : cudaErrorInvalidValue);
}

PACC_PUBLIC cudaError_t cudaHostGetDevicePointer(void **result, void *address,
                                                 unsigned flags) {
  if (!result || flags || !pacc_cudart_is_device(address))
    return pacc_cudart_error(cudaErrorInvalidValue);
  *result = address;
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  PACC_CUDART_ENTER(device);
  size_t limit = device->memory.config.memory;
  if (available)
    *available = limit - device->memory.used;
  if (total)
    *total = limit;
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaPointerGetAttributes(
    struct cudaPointerAttributes *attributes, const void *address) {
  if (!attributes)
    return pacc_cudart_error(cudaErrorInvalidValue);
  memset(attributes, 0, sizeof(*attributes));
  attributes->device = -1;
  attributes->hostPointer = (void *)(uintptr_t)address;
  if (pacc_cudart_is_device(address)) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->device = 0;
    attributes->devicePointer = (void *)(uintptr_t)address;
  }
  return cudaSuccess;
}

/* -- Symbols -- */

PACC_PUBLIC cudaError_t cudaGetSymbolAddress(void **result,
                                             const void *symbol) {
  struct pacc_cpu_variable variable;
  if (!result || !pacc_cudart_variable(symbol, &variable))
    return pacc_cudart_error(cudaErrorInvalidSymbol);
  *result = (void *)(uintptr_t)variable.address;
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaGetSymbolSize(size_t *result, const void *symbol) {
  struct pacc_cpu_variable variable;
  if (!result || !pacc_cudart_variable(symbol, &variable))
    return pacc_cudart_error(cudaErrorInvalidSymbol);
  *result = variable.size;
  return cudaSuccess;
}
