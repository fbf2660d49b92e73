/* device.c: the one device, its properties and limits. It stands for a GPU of
 * compute capability 9.0: what programs size their launches by is that of the
 * table in lib/Model. */
#include "cudart_private.h"

#include "pacc/model.h"

#include <cuda_profiler_api.h>

#include <stdio.h>
#include <string.h>

static const struct pacc_gpu *gpu(void) {
  return pacc_gpu_find(PACC_CUDART_ARCH_NAME);
}

static cudaError_t check_ordinal(int ordinal) {
  return pacc_cudart_error(ordinal ? cudaErrorInvalidDevice : cudaSuccess);
}

PACC_PUBLIC cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaGetDevice(int *ordinal) {
  *ordinal = 0;
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaSetDevice(int ordinal) {
  return check_ordinal(ordinal);
}

/* Hints about how the host waits. */
PACC_PUBLIC cudaError_t cudaSetDeviceFlags(unsigned flags) {
  (void)flags;
  return cudaSuccess;
}
PACC_PUBLIC cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
  (void)config;
  return cudaSuccess;
}

/* There is no profiler to tell. */
PACC_PUBLIC cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
PACC_PUBLIC cudaError_t cudaProfilerStop(void) { return cudaSuccess; }

PACC_PUBLIC cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
PACC_PUBLIC cudaError_t cudaDriverGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaDeviceSynchronize(void) {
  PACC_CUDART_ENTER(device);
  return pacc_cudart_finished(pacc_queue_finish(device->queue));
}

/* Memory and variables stay, which a program that goes on would miss. */
PACC_PUBLIC cudaError_t cudaDeviceReset(void) {
  PACC_CUDART_ENTER(device);
  return pacc_cudart_finished(pacc_queue_finish(device->queue));
}

PACC_PUBLIC cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p,
                                                int ordinal) {
  PACC_CUDART_ENTER(device);
  if (!p || ordinal)
    return pacc_cudart_error(p ? cudaErrorInvalidDevice
                               : cudaErrorInvalidValue);
  const struct pacc_gpu *g = gpu();
  memset(p, 0, sizeof(*p));
  snprintf(p->name, sizeof(p->name), "CPU device");
  p->totalGlobalMem = device->memory.config.memory;
  p->sharedMemPerBlock = g->smem_block;
  p->sharedMemPerBlockOptin = g->smem_block_optin;
  p->sharedMemPerMultiprocessor = g->smem_sm;
  p->reservedSharedMemPerBlock = g->smem_reserved;
  p->regsPerBlock = p->regsPerMultiprocessor = (int)g->regs_sm;
  p->warpSize = (int)g->warp_size;
  p->memPitch = INT32_MAX;
  p->maxThreadsPerBlock = (int)g->threads_block;
  static const int block[3] = {1024, 1024, 64};
  static const int grid[3] = {INT32_MAX, 65535, 65535};
  memcpy(p->maxThreadsDim, block, sizeof(block));
  memcpy(p->maxGridSize, grid, sizeof(grid));
  p->totalConstMem = 65536;
  p->major = (int)g->cc / 10;
  p->minor = (int)g->cc % 10;
  p->multiProcessorCount = (int)g->sm_count;
  p->maxThreadsPerMultiProcessor = (int)g->threads_sm;
  p->maxBlocksPerMultiProcessor = (int)g->blocks_sm;
  p->l2CacheSize = (int)g->l2_bytes;
  p->canMapHostMemory = p->unifiedAddressing = p->managedMemory = 1;
  p->concurrentKernels = p->streamPrioritiesSupported = 1;
  p->memoryPoolsSupported = 0;
  p->textureAlignment = p->surfaceAlignment = 512;
  p->texturePitchAlignment = 32;
  return cudaSuccess;
}

cudaError_t pacc_cudart_attribute(enum cudaDeviceAttr attribute, int *value) {
  const struct pacc_gpu *g = gpu();
  switch (attribute) {
  case cudaDevAttrMaxThreadsPerBlock:
  case cudaDevAttrMaxBlockDimX:
  case cudaDevAttrMaxBlockDimY:
    *value = (int)g->threads_block;
    break;
  case cudaDevAttrMaxBlockDimZ:
    *value = 64;
    break;
  case cudaDevAttrMaxGridDimX:
    *value = INT32_MAX;
    break;
  case cudaDevAttrMaxGridDimY:
  case cudaDevAttrMaxGridDimZ:
    *value = 65535;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlock:
    *value = (int)g->smem_block;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = (int)g->smem_block_optin;
    break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    *value = (int)g->smem_sm;
    break;
  case cudaDevAttrReservedSharedMemoryPerBlock:
    *value = (int)g->smem_reserved;
    break;
  case cudaDevAttrTotalConstantMemory:
    *value = 65536;
    break;
  case cudaDevAttrWarpSize:
    *value = (int)g->warp_size;
    break;
  case cudaDevAttrMaxRegistersPerBlock:
  case cudaDevAttrMaxRegistersPerMultiprocessor:
    *value = (int)g->regs_sm;
    break;
  case cudaDevAttrMultiProcessorCount:
    *value = (int)g->sm_count;
    break;
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    *value = (int)g->threads_sm;
    break;
  case cudaDevAttrMaxBlocksPerMultiprocessor:
    *value = (int)g->blocks_sm;
    break;
  case cudaDevAttrL2CacheSize:
    *value = (int)g->l2_bytes;
    break;
  case cudaDevAttrComputeCapabilityMajor:
    *value = (int)g->cc / 10;
    break;
  case cudaDevAttrComputeCapabilityMinor:
    *value = (int)g->cc % 10;
    break;
  case cudaDevAttrClockRate:
    *value = (int)(g->clock / 1000);
    break;
  case cudaDevAttrCanMapHostMemory:
  case cudaDevAttrUnifiedAddressing:
  case cudaDevAttrManagedMemory:
  case cudaDevAttrConcurrentKernels:
  case cudaDevAttrStreamPrioritiesSupported:
    *value = 1;
    break;
  case cudaDevAttrIntegrated:
  case cudaDevAttrKernelExecTimeout:
  case cudaDevAttrComputeMode:
  case cudaDevAttrConcurrentManagedAccess:
  case cudaDevAttrPageableMemoryAccess:
  case cudaDevAttrCooperativeLaunch:
  case cudaDevAttrMemoryPoolsSupported:
  case cudaDevAttrClusterLaunch:
    *value = 0;
    break;
  default:
    return cudaErrorNotSupported;
  }
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaDeviceGetAttribute(int *value,
                                               enum cudaDeviceAttr attribute,
                                               int ordinal) {
  if (ordinal)
    return check_ordinal(ordinal);
  return pacc_cudart_error(value ? pacc_cudart_attribute(attribute, value)
                                 : cudaErrorInvalidValue);
}

/* -- Limits -- */

enum { STACK_BYTES = 256 * 1024, DEFAULT_PRINT_BUFFER = 1 << 20 };

cudaError_t pacc_cudart_limit(struct pacc_cudart *device, enum cudaLimit limit,
                              size_t *value) {
  switch (limit) {
  case cudaLimitDevRuntimePendingLaunchCount:
    *value = pacc_queue_pending(device->queue);
    return cudaSuccess;
  case cudaLimitMallocHeapSize:
    *value = device->heap_limit;
    return cudaSuccess;
  case cudaLimitStackSize:
    *value = STACK_BYTES;
    return cudaSuccess;
  case cudaLimitPrintfFifoSize:
    *value = DEFAULT_PRINT_BUFFER;
    return cudaSuccess;
  default:
    return cudaErrorUnsupportedLimit;
  }
}

PACC_PUBLIC cudaError_t cudaDeviceGetLimit(size_t *value,
                                           enum cudaLimit limit) {
  PACC_CUDART_ENTER(device);
  return pacc_cudart_error(value ? pacc_cudart_limit(device, limit, value)
                                 : cudaErrorInvalidValue);
}

PACC_PUBLIC cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  PACC_CUDART_ENTER(device);
  switch (limit) {
  case cudaLimitDevRuntimePendingLaunchCount:
    pacc_queue_set_pending(device->queue, value);
    return cudaSuccess;
  case cudaLimitMallocHeapSize:
    device->heap_limit = value;
    return cudaSuccess;
  case cudaLimitStackSize:
    return pacc_cudart_error(value > STACK_BYTES ? cudaErrorMemoryAllocation
                                                 : cudaSuccess);
  case cudaLimitPrintfFifoSize: /* printf writes at once */
    return cudaSuccess;
  default:
    return pacc_cudart_error(cudaErrorUnsupportedLimit);
  }
}
