/* launch.c: the configuration of a launch, and what can be asked of a kernel.
 */
#include "cudart_private.h"

#include "pacc/model.h"

#include <string.h>

enum { DEFAULT_SHARED = 48 * 1024 };

/* -- kernel<<<...>>>(): the configuration is pushed, clang's stub of the kernel
 * pops it -- */

struct configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
enum { MAX_PUSHED = 16 };
static _Thread_local struct configuration pushed[MAX_PUSHED];
static _Thread_local unsigned n_pushed;

PACC_PUBLIC unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                 size_t shared,
                                                 cudaStream_t stream);
PACC_PUBLIC unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                 size_t shared,
                                                 cudaStream_t stream) {
  if (n_pushed == MAX_PUSHED)
    return 1;
  pushed[n_pushed++] = (struct configuration){grid, block, shared, stream};
  return 0;
}

PACC_PUBLIC cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                                   size_t *shared,
                                                   cudaStream_t *stream);
PACC_PUBLIC cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
                                                   size_t *shared,
                                                   cudaStream_t *stream) {
  if (!n_pushed)
    return pacc_cudart_error(cudaErrorMissingConfiguration);
  const struct configuration *c = &pushed[--n_pushed];
  *grid = c->grid;
  *block = c->block;
  *shared = c->shared;
  *stream = c->stream;
  return cudaSuccess;
}

cudaError_t pacc_cudart_check(const struct pacc_cpu_work *work) {
  const struct pacc_cpu_kernel *kernel = work->kernel;
  uint32_t limit = kernel->dynamic_limit;
  if (!limit)
    limit = kernel->static_shared < DEFAULT_SHARED
                ? DEFAULT_SHARED - kernel->static_shared
                : 0;
  if (work->shared > limit)
    return cudaErrorInvalidValue;
  return pacc_cudart_translate(pacc_cpu_work_check(work));
}

/* -- Attributes -- */

PACC_PUBLIC cudaError_t
cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func) {
  const struct pacc_cpu_kernel *kernel = pacc_cudart_kernel(func);
  if (!attributes || !kernel)
    return pacc_cudart_error(attributes ? cudaErrorInvalidDeviceFunction
                                        : cudaErrorInvalidValue);
  pacc_cudart_describe(kernel, attributes);
  return cudaSuccess;
}

void pacc_cudart_describe(const struct pacc_cpu_kernel *kernel,
                          struct cudaFuncAttributes *attributes) {
  memset(attributes, 0, sizeof(*attributes));
  attributes->sharedSizeBytes = kernel->static_shared;
  attributes->maxThreadsPerBlock =
      kernel->max_threads ? (int)kernel->max_threads : PACC_CPU_MAX_THREADS;
  attributes->numRegs = PACC_CUDART_REGISTERS;
  attributes->ptxVersion = attributes->binaryVersion = PACC_CUDART_ARCH;
  attributes->maxDynamicSharedSizeBytes =
      (int)(kernel->dynamic_limit ? kernel->dynamic_limit
            : kernel->static_shared < DEFAULT_SHARED
                ? DEFAULT_SHARED - kernel->static_shared
                : 0);
  attributes->preferredShmemCarveout = -1;
}

PACC_PUBLIC cudaError_t cudaFuncSetAttribute(const void *func,
                                             enum cudaFuncAttribute attribute,
                                             int value) {
  struct pacc_cpu_kernel *kernel = pacc_cudart_kernel(func);
  if (!kernel)
    return pacc_cudart_error(cudaErrorInvalidDeviceFunction);
  switch (attribute) {
  case cudaFuncAttributeMaxDynamicSharedMemorySize:
    if (value < 0 ||
        (uint32_t)value > PACC_CPU_MAX_SHARED - kernel->static_shared)
      return pacc_cudart_error(cudaErrorInvalidValue);
    kernel->dynamic_limit = (uint32_t)value;
    return cudaSuccess;
  case cudaFuncAttributePreferredSharedMemoryCarveout:
    return cudaSuccess; /* a hint */
  default:
    return pacc_cudart_error(cudaErrorNotSupported);
  }
}

/* A hint. */
PACC_PUBLIC cudaError_t cudaFuncSetCacheConfig(const void *func,
                                               enum cudaFuncCache config) {
  (void)config;
  return pacc_cudart_error(
      pacc_cudart_kernel(func) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

/* -- Occupancy, of the GPU that the device stands for -- */

cudaError_t pacc_cudart_occupancy(const struct pacc_cpu_kernel *kernel,
                                  int threads, size_t shared, int *n_blocks) {
  struct pacc_occupancy_info info;
  struct pacc_resources resources = {
      .regs = PACC_CUDART_REGISTERS,
      .smem_static = kernel->static_shared,
      .smem_dynamic = (uint32_t)shared,
      .smem_limit = kernel->dynamic_limit,
      .carveout = PACC_CARVEOUT_DEFAULT,
      .max_threads = kernel->max_threads,
  };
  if (threads <= 0 || shared > PACC_CPU_MAX_SHARED ||
      pacc_occupancy(pacc_gpu_find(PACC_CUDART_ARCH_NAME), &resources,
                     (uint32_t)threads, &info))
    return cudaErrorInvalidValue;
  *n_blocks = (int)info.blocks;
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *n_blocks, const void *func, int threads, size_t shared,
    unsigned flags) {
  const struct pacc_cpu_kernel *kernel = pacc_cudart_kernel(func);
  (void)flags; /* about caches */
  if (!kernel)
    return pacc_cudart_error(cudaErrorInvalidDeviceFunction);
  return pacc_cudart_error(
      pacc_cudart_occupancy(kernel, threads, shared, n_blocks));
}

PACC_PUBLIC cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *n_blocks, const void *func, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      n_blocks, func, threads, shared, 0);
}
