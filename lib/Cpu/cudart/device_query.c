/* device_query.c: what kernels ask of the device, as the host does. */
#include "device_private.h"

#include "arena.h"

#include <string.h>

int pacc_dev_cudaCDP2GetDevice(int *ordinal) {
  *ordinal = 0;
  return cudaSuccess;
}
int pacc_dev_cudaCDP2GetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
int pacc_dev_cudaCDP2RuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

int pacc_dev_cudaCDP2DeviceGetAttribute(int *value, uint32_t attribute,
                                        uint32_t ordinal) {
  return (int)pacc_device_error(
      ordinal ? cudaErrorInvalidDevice
              : pacc_cudart_attribute((enum cudaDeviceAttr)attribute, value));
}

int pacc_dev_cudaCDP2DeviceGetLimit(uint64_t *value, uint32_t limit) {
  size_t size = 0;
  cudaError_t error =
      pacc_cudart_limit(pacc_cudart_get(), (enum cudaLimit)limit, &size);
  *value = size;
  return (int)pacc_device_error(error);
}

int pacc_dev_cudaCDP2FuncGetAttributes(void *attributes, const void *func) {
  const struct pacc_cpu_kernel *kernel = pacc_cudart_kernel(func);
  if (kernel)
    pacc_cudart_describe(kernel, attributes);
  return (int)pacc_device_error(kernel ? cudaSuccess
                                       : cudaErrorInvalidDeviceFunction);
}

int pacc_dev_cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *n_blocks, const void *func, uint32_t threads, uint64_t shared,
    uint32_t flags) {
  const struct pacc_cpu_kernel *kernel = pacc_cudart_kernel(func);
  (void)flags;
  return (int)pacc_device_error(
      kernel ? pacc_cudart_occupancy(kernel, (int)threads, shared, n_blocks)
             : cudaErrorInvalidDeviceFunction);
}
int pacc_dev_cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor(
    int *n_blocks, const void *func, uint32_t threads, uint64_t shared) {
  return pacc_dev_cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      n_blocks, func, threads, shared, 0);
}

/* A copy of a text where kernels can read it, which stays. */
static const char *device_text(const char *text) {
  enum { MAX_TEXTS = 64 };
  static struct {
    const char *text;
    uint64_t copy;
  } copies[MAX_TEXTS];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < MAX_TEXTS && copies[i].text && copies[i].text != text)
    i++;
  if (i < MAX_TEXTS && !copies[i].text) {
    size_t size = strlen(text) + 1;
    if (!pacc_cpu_arena_alloc(PACC_CPU_VARIABLE, size, 1, "error text",
                              &copies[i].copy)) {
      memcpy((void *)(uintptr_t)copies[i].copy, text, size);
      copies[i].text = text;
    }
  }
  const char *copy =
      i < MAX_TEXTS ? (const char *)(uintptr_t)copies[i].copy : NULL;
  pthread_mutex_unlock(&lock);
  return copy;
}

const char *pacc_dev_cudaCDP2GetErrorString(uint32_t error) {
  return device_text(cudaGetErrorString((cudaError_t)error));
}
const char *pacc_dev_cudaCDP2GetErrorName(uint32_t error) {
  return device_text(cudaGetErrorName((cudaError_t)error));
}
