/* cuda_api.h: the part of the CUDA driver's C interface that the backend
 * calls, declared here so that neither the build nor a run needs the CUDA
 * toolkit. Symbol names carry the version suffix of the ABI that is meant.
 */
#ifndef PACC_CUDA_API_H
#define PACC_CUDA_API_H

#include <stddef.h>

/* Results, as far as they are told apart here. */
enum {
  PACC_CU_OUT_OF_MEMORY = 2,
  PACC_CU_STUB_LIBRARY = 34,
  PACC_CU_NO_DEVICE = 100,
  PACC_CU_INVALID_DEVICE = 101,
  PACC_CU_NO_BINARY_FOR_GPU = 209,
  PACC_CU_INVALID_PTX = 218,
  PACC_CU_JIT_COMPILER_NOT_FOUND = 221,
  PACC_CU_UNSUPPORTED_PTX_VERSION = 222,
};

enum {
  PACC_CU_ATTRIBUTE_MAX_PITCH = 11,
  PACC_CU_ATTRIBUTE_SM_COUNT = 16,
  PACC_CU_ATTRIBUTE_PAGEABLE_MEMORY = 88,
  PACC_CU_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
  PACC_CU_ATTRIBUTE_CC_MAJOR = 75,
  PACC_CU_ATTRIBUTE_CC_MINOR = 76,
  PACC_CU_JIT_ERROR_LOG = 5,
  PACC_CU_JIT_ERROR_LOG_SIZE = 6,
  PACC_CU_JIT_LINES = 13,
  PACC_CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
  PACC_CU_STREAM_NON_BLOCKING = 1,
  PACC_CU_CAPTURE_RELAXED = 2,
};

enum { PACC_CU_MEMORY_HOST = 1, PACC_CU_MEMORY_DEVICE = 2 };

typedef unsigned long long pacc_cu_address;

/* CUDA_MEMCPY2D: `height` rows of `width` bytes. */
struct pacc_cu_copy {
  size_t from_x, from_y;
  int from_type;
  const void *from_host;
  pacc_cu_address from_device;
  void *from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void *to_host;
  pacc_cu_address to_device;
  void *to_array;
  size_t to_pitch;
  size_t width, height;
};

/* X(field, symbol, parameters): functions that every driver since CUDA 11
 * exports. Contexts, modules, functions, streams and events are pointers. */
#define PACC_CUDA_REQUIRED(X)                                                  \
  X(init, cuInit, (unsigned flags))                                            \
  X(driver_version, cuDriverGetVersion, (int *version))                        \
  X(device_count, cuDeviceGetCount, (int *count))                              \
  X(device_get, cuDeviceGet, (int *device, int ordinal))                       \
  X(device_name, cuDeviceGetName, (char *name, int size, int device))          \
  X(device_attribute, cuDeviceGetAttribute,                                    \
    (int *value, int attribute, int device))                                   \
  X(device_memory, cuDeviceTotalMem_v2, (size_t *bytes, int device))           \
  X(context_retain, cuDevicePrimaryCtxRetain, (void **context, int device))    \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (int device))               \
  X(context_push, cuCtxPushCurrent_v2, (void *context))                        \
  X(context_pop, cuCtxPopCurrent_v2, (void **context))                         \
  X(module_load, cuModuleLoadDataEx,                                           \
    (void **module, const void *image, unsigned count, int *options,           \
     void **values))                                                           \
  X(module_unload, cuModuleUnload, (void *module))                             \
  X(module_function, cuModuleGetFunction,                                      \
    (void **function, void *module, const char *name))                         \
  X(function_attribute, cuFuncSetAttribute,                                    \
    (void *function, int attribute, int value))                                \
  X(stream_create, cuStreamCreate, (void **stream, unsigned flags))            \
  X(stream_destroy, cuStreamDestroy_v2, (void *stream))                        \
  X(stream_sync, cuStreamSynchronize, (void *stream))                          \
  X(memory_alloc, cuMemAlloc_v2, (pacc_cu_address * address, size_t bytes))    \
  X(memory_free, cuMemFree_v2, (pacc_cu_address address))                      \
  X(host_register, cuMemHostRegister_v2,                                       \
    (void *memory, size_t bytes, unsigned flags))                              \
  X(host_unregister, cuMemHostUnregister, (void *memory))                      \
  X(copy_in, cuMemcpyHtoDAsync_v2,                                             \
    (pacc_cu_address to, const void *from, size_t bytes, void *stream))        \
  X(copy_out, cuMemcpyDtoHAsync_v2,                                            \
    (void *to, pacc_cu_address from, size_t bytes, void *stream))              \
  X(copy_within, cuMemcpyDtoDAsync_v2,                                         \
    (pacc_cu_address to, pacc_cu_address from, size_t bytes, void *stream))    \
  X(copy_2d, cuMemcpy2DAsync_v2,                                               \
    (const struct pacc_cu_copy *copy, void *stream))                           \
  X(launch, cuLaunchKernel,                                                    \
    (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,        \
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,    \
     void *stream, void **params, void **extra))                               \
  X(event_create, cuEventCreate, (void **event, unsigned flags))               \
  X(event_destroy, cuEventDestroy_v2, (void *event))                           \
  X(event_record, cuEventRecord, (void *event, void *stream))                  \
  X(event_sync, cuEventSynchronize, (void *event))                             \
  X(event_elapsed, cuEventElapsedTime, (float *ms, void *from, void *to))      \
  X(error_name, cuGetErrorName, (int status, const char **name))

/* The same for functions that may be missing (NULL). */
#define PACC_CUDA_OPTIONAL(X)                                                  \
  X(capture_mode, cuThreadExchangeStreamCaptureMode, (int *mode))              \
  X(active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                \
    (int *blocks, void *function, int threads, size_t shared))                 \
  X(launch_resident, cuLaunchCooperativeKernel,                                \
    (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,        \
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,    \
     void *stream, void **params))                                             \
  X(device_uuid, cuDeviceGetUuid_v2, (unsigned char uuid[16], int device))     \
  X(function_param, cuFuncGetParamInfo,                                        \
    (void *function, size_t index, size_t *offset, size_t *size))

#endif
