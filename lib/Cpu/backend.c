/* backend.c: the CPU device as the host runtime sees it (pacc/backend.h).
 *
 * Everything is done at once, in the call: streams keep order by themselves,
 * and a failing launch returns its error. Failures do not stick: memory and
 * modules stay good, as nothing of them is shared with the failed kernel but
 * the memory that it wrote. */
#include "pacc/backend.h"

#include "arena.h"
#include "exec.h"
#include "jit.h"
#include "random.h"
#include "status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct device {
  struct pacc_cpu_config config;
  struct pacc_cpu_executor *executor;
  _Atomic uint64_t allocated;
};

static int no_memory(const char *what) {
  return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for %s", what);
}

/* -- Device and context -- */

static int backend_open(int ordinal, void **result,
                        struct pacc_device_info *info) {
  if (ordinal != 0)
    return pacc_cpu_fail(PACC_CPU_ERROR_NO_DEVICE,
                         "there is one CPU device, number 0, and no number %d",
                         ordinal);
  struct pacc_cpu_config config;
  int status = pacc_cpu_config_read(&config);
  if (status)
    return status;
  if (!pacc_cpu_arena_get())
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  struct device *device = calloc(1, sizeof(*device));
  if (!device)
    return no_memory("the device");
  device->config = config;
  device->executor = pacc_cpu_executor_create(&config);
  if (!device->executor) {
    free(device);
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  }
  *info = (struct pacc_device_info){.name = "CPU device",
                                    .sm_count = config.threads,
                                    .memory = config.memory};
  *result = device;
  return 0;
}

static void backend_close(void *device) {
  pacc_cpu_executor_destroy(((struct device *)device)->executor);
  free(device);
}

static int backend_enter(void *device) {
  (void)device;
  return 0;
}

static void backend_leave(void *device) { (void)device; }

/* -- Modules -- */

static uint64_t fnv1a(const unsigned char *bytes, uint64_t size) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (uint64_t i = 0; i < size; i++)
    hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  return hash;
}

static int backend_load(void *opaque, const struct pacc_image *image,
                        void **module) {
  struct device *device = opaque;
  if (!image->bitcode || !image->bitcode_size)
    return pacc_cpu_fail(PACC_CPU_ERROR_NO_BITCODE,
                         "%s was compiled without the bitcode that the CPU "
                         "device runs: use -mllvm -polly-acc-embed-bitcode=on",
                         image->name);
  if (fnv1a(image->bitcode, image->bitcode_size) != image->bitcode_hash)
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                         "the bitcode of %s is damaged: compile it again",
                         image->name);
  int status;
  struct pacc_jit *jit = pacc_jit_create(image->bitcode, image->bitcode_size,
                                         device->config.check, &status);
  *module = jit;
  return status;
}

static void backend_unload(void *device, void *module) {
  (void)device;
  pacc_jit_destroy(module);
}

static int backend_kernel(void *device, void *module, const char *name,
                          void **kernel) {
  (void)device;
  const struct pacc_cpu_kernel *found = pacc_jit_kernel(module, name);
  if (!found)
    return pacc_cpu_fail(PACC_CPU_ERROR_NO_KERNEL,
                         "the module has no kernel '%s'", name);
  *kernel = (void *)(uintptr_t)found;
  return 0;
}

/* -- Streams -- */

struct stream {
  char unused;
};

static int backend_stream_create(void *device, void **stream) {
  (void)device;
  *stream = calloc(1, sizeof(struct stream));
  return *stream ? 0 : no_memory("a stream");
}

static void backend_stream_destroy(void *device, void *stream) {
  (void)device;
  free(stream);
}

static int backend_sync(void *device, void *stream) {
  (void)device;
  (void)stream;
  return 0;
}

/* -- Memory -- */

static int backend_alloc(void *opaque, uint64_t size, uint64_t *address) {
  struct device *device = opaque;
  if (size == 0)
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_VALUE,
                         "an allocation of 0 bytes");
  uint64_t before = atomic_fetch_add(&device->allocated, size);
  int status;
  if (size > device->config.memory || before > device->config.memory - size)
    status = pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                           "%llu bytes wanted, %llu of %llu are in use",
                           (unsigned long long)size, (unsigned long long)before,
                           (unsigned long long)device->config.memory);
  else
    status = pacc_cpu_arena_alloc(PACC_CPU_MEMORY, size, 16, NULL, address);
  if (status) {
    atomic_fetch_sub(&device->allocated, size);
    return status;
  }
  pacc_poison((void *)(uintptr_t)*address, size, device->config.seed);
  return 0;
}

static void backend_free(void *opaque, uint64_t address) {
  struct device *device = opaque;
  uint64_t size;
  if (!pacc_cpu_arena_free(PACC_CPU_MEMORY, address, &size))
    atomic_fetch_sub(&device->allocated, size);
}

static int backend_host_alloc(void *device, uint64_t size, void **memory) {
  (void)device;
  *memory = malloc(size);
  return *memory ? 0 : no_memory("a host buffer");
}

static void backend_host_free(void *device, void *memory) {
  (void)device;
  free(memory);
}

/* The bytes on the device that a copy of `count` rows covers must be one
 * allocation's. */
static int check_range(const char *what, uint64_t address, uint64_t pitch,
                       uint64_t width, uint64_t count) {
  uint64_t before_last, size;
  if (!width || !count)
    return 0;
  if (count == 1)
    pitch = 0; /* and may be anything */
  if (!__builtin_mul_overflow(count - 1, pitch, &before_last) &&
      !__builtin_add_overflow(before_last, width, &size) &&
      pacc_cpu_arena_holds(address, size))
    return 0;
  char where[256];
  pacc_cpu_arena_describe(address, where, sizeof(where));
  return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_BOUNDS,
                       "a copy %s the device of %llu rows of %llu bytes at "
                       "0x%llx, %s",
                       what, (unsigned long long)count,
                       (unsigned long long)width, (unsigned long long)address,
                       where);
}

static void copy_rows(unsigned char *to, uint64_t to_pitch,
                      const unsigned char *from, uint64_t from_pitch,
                      uint64_t width, uint64_t count) {
  if (to_pitch == width && from_pitch == width) {
    width *= count;
    count = 1;
  }
  for (uint64_t row = 0; width && row < count; row++)
    memcpy(to + row * to_pitch, from + row * from_pitch, width);
}

static int backend_copy_in(void *device, void *stream, uint64_t to,
                           uint64_t to_pitch, const void *from,
                           uint64_t from_pitch, uint64_t width,
                           uint64_t count) {
  (void)device;
  (void)stream;
  int status = check_range("to", to, to_pitch, width, count);
  if (!status)
    copy_rows((unsigned char *)(uintptr_t)to, to_pitch, from, from_pitch, width,
              count);
  return status;
}

static int backend_copy_out(void *device, void *stream, void *to,
                            uint64_t to_pitch, uint64_t from,
                            uint64_t from_pitch, uint64_t width,
                            uint64_t count) {
  (void)device;
  (void)stream;
  int status = check_range("from", from, from_pitch, width, count);
  if (!status)
    copy_rows(to, to_pitch, (const unsigned char *)(uintptr_t)from, from_pitch,
              width, count);
  return status;
}

/* -- Launches -- */

static int check_params(const struct pacc_cpu_kernel *kernel,
                        const struct pacc_kernel *info) {
  if (info->n_params != kernel->n_params)
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_VALUE,
                         "kernel '%s' takes %u parameters, %u are given",
                         kernel->name, kernel->n_params, info->n_params);
  for (uint32_t i = 0; i < info->n_params; i++)
    if (info->param_sizes[i] != kernel->param_sizes[i])
      return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_VALUE,
                           "parameter %u of kernel '%s' has %u bytes, %u are "
                           "given",
                           i, kernel->name, kernel->param_sizes[i],
                           info->param_sizes[i]);
  return 0;
}

static int backend_launch(void *opaque, void *stream, void *opaque_kernel,
                          const uint32_t grid[3],
                          const struct pacc_kernel *info, void **params) {
  struct device *device = opaque;
  const struct pacc_cpu_kernel *kernel = opaque_kernel;
  (void)stream;
  int status = check_params(kernel, info);
  return status ? status
                : pacc_cpu_executor_launch(device->executor, kernel, grid,
                                           info->block, info->shared, params);
}

/* -- Events: the wall clock -- */

static int backend_event_create(void *device, void **event) {
  (void)device;
  *event = calloc(1, sizeof(struct timespec));
  return *event ? 0 : no_memory("an event");
}

static void backend_event_destroy(void *device, void *event) {
  (void)device;
  free(event);
}

static int backend_event_record(void *device, void *stream, void *event) {
  (void)device;
  (void)stream;
  clock_gettime(CLOCK_MONOTONIC, event);
  return 0;
}

static int backend_event_elapsed(void *device, void *from, void *to,
                                 float *ms) {
  (void)device;
  const struct timespec *a = from, *b = to;
  double seconds = (double)(b->tv_sec - a->tv_sec);
  *ms = (float)(seconds * 1e3 + (double)(b->tv_nsec - a->tv_nsec) * 1e-6);
  return 0;
}

static const char *backend_error_detail(void *device) {
  (void)device;
  return pacc_cpu_detail();
}

static const struct pacc_backend backend = {
    .version = PACC_BACKEND_VERSION,
    .name = "cpu",
    .open = backend_open,
    .close = backend_close,
    .enter = backend_enter,
    .leave = backend_leave,
    .load = backend_load,
    .unload = backend_unload,
    .kernel = backend_kernel,
    .stream_create = backend_stream_create,
    .stream_destroy = backend_stream_destroy,
    .sync = backend_sync,
    .alloc = backend_alloc,
    .free = backend_free,
    .host_alloc = backend_host_alloc,
    .host_free = backend_host_free,
    .copy_in = backend_copy_in,
    .copy_out = backend_copy_out,
    .launch = backend_launch,
    .event_create = backend_event_create,
    .event_destroy = backend_event_destroy,
    .event_record = backend_event_record,
    .event_elapsed = backend_event_elapsed,
    .error_name = pacc_cpu_status_name,
    .error_detail = backend_error_detail,
};

__attribute__((visibility("default"))) const struct pacc_backend *
pacc_cpu_backend(void) {
  return &backend;
}
