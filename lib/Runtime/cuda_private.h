/* cuda_private.h: what the files of the CUDA backend share: the driver's
 * functions, the device, and the table's functions that are not in cuda.c.
 * Statuses are the driver's (positive) or of the enumeration below.
 */
#ifndef PACC_CUDA_PRIVATE_H
#define PACC_CUDA_PRIVATE_H

#include "backends_private.h"
#include "cuda_api.h"

enum { NO_LIBRARY = -1, MISSING_SYMBOL = -2, NO_HOST_MEMORY = -3 };

/* The driver's functions, once pacc_cuda_library has returned 0. */
struct pacc_cuda_driver {
#define X(field, symbol, parameters) int(*field) parameters;
  PACC_CUDA_REQUIRED(X)
  PACC_CUDA_OPTIONAL(X)
#undef X
};
extern struct pacc_cuda_driver pacc_cu;

/* The names of those that every driver has. */
struct pacc_cuda_names {
#define X(field, symbol, parameters) const char *field;
  PACC_CUDA_REQUIRED(X)
#undef X
};
extern const struct pacc_cuda_names pacc_cu_names;

struct cuda_device {
  int device;
  int cc;
  int driver;
  int sm_count;
  int cooperative;
  uint64_t max_pitch;
  void *context;
};

/* What error_detail returns on this thread. */
extern _Thread_local char pacc_cuda_detail[PACC_MESSAGE_SIZE / 2];

/* Keeps the name of the driver function that failed as the detail. */
int pacc_cuda_check(int status, const char *function);
#define CHECK(field, ...)                                                      \
  pacc_cuda_check(pacc_cu.field(__VA_ARGS__), pacc_cu_names.field)

/* Opens libcuda.so.1, the first time. */
int pacc_cuda_library(void);

/* cuda_module.c. */
int pacc_cuda_load(void *device, const struct pacc_image *image, void **module);
void pacc_cuda_unload(void *device, void *module);
int pacc_cuda_kernel(void *device, void *module, const char *name,
                     void **kernel);
int pacc_cuda_launch(void *device, void *stream, void *kernel,
                     const uint32_t grid[3], const struct pacc_kernel *info,
                     void **params);
int pacc_cuda_resident(void *device, void *kernel,
                       const struct pacc_kernel *info, uint32_t *blocks);
int pacc_cuda_launch_resident(void *device, void *stream, void *kernel,
                              const uint32_t grid[3],
                              const struct pacc_kernel *info, void **params);

/* cuda_memory.c. */
int pacc_cuda_alloc(void *device, uint64_t size, uint64_t *address);
void pacc_cuda_free(void *device, uint64_t address);
int pacc_cuda_host_alloc(void *device, uint64_t size, void **memory);
void pacc_cuda_host_free(void *device, void *memory);
int pacc_cuda_copy_in(void *device, void *stream, uint64_t to,
                      uint64_t to_pitch, const void *from, uint64_t from_pitch,
                      uint64_t width, uint64_t count);
int pacc_cuda_copy_out(void *device, void *stream, void *to, uint64_t to_pitch,
                       uint64_t from, uint64_t from_pitch, uint64_t width,
                       uint64_t count);
int pacc_cuda_copy_within(void *device, void *stream, uint64_t to,
                          uint64_t from, uint64_t size);

#endif
