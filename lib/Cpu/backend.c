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
#include "memory.h"
#include "status.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct device {
  struct pacc_cpu_memory memory;
  struct pacc_cpu_executor *executor;
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
  device->memory.config = config;
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
                                         device->memory.config.check, &status);
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
  return pacc_cpu_memory_alloc(&device->memory, size, 16, address);
}

static void backend_free(void *opaque, uint64_t address) {
  struct device *device = opaque;
  pacc_cpu_memory_free(&device->memory, address);
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

static int backend_copy_in(void *device, void *stream, uint64_t to,
                           uint64_t to_pitch, const void *from,
                           uint64_t from_pitch, uint64_t width,
                           uint64_t count) {
  (void)device;
  (void)stream;
  int status = pacc_cpu_memory_check("to", to, to_pitch, width, count);
  if (!status)
    pacc_cpu_memory_copy((void *)(uintptr_t)to, to_pitch, from, from_pitch,
                         width, count);
  return status;
}

static int backend_copy_out(void *device, void *stream, void *to,
                            uint64_t to_pitch, uint64_t from,
                            uint64_t from_pitch, uint64_t width,
                            uint64_t count) {
  (void)device;
  (void)stream;
  int status = pacc_cpu_memory_check("from", from, from_pitch, width, count);
  if (!status)
    pacc_cpu_memory_copy(to, to_pitch, (const void *)(uintptr_t)from,
                         from_pitch, width, count);
  return status;
}

static int backend_copy_within(void *device, void *stream, uint64_t to,
                               uint64_t from, uint64_t size) {
  (void)device;
  (void)stream;
  int status = pacc_cpu_memory_check("from", from, 0, size, 1);
  if (!status)
    status = pacc_cpu_memory_check("to", to, 0, size, 1);
  if (!status)
    pacc_cpu_memory_copy((void *)(uintptr_t)to, 0,
                         (const void *)(uintptr_t)from, 0, size, 1);
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

static int launch(const struct device *device,
                  const struct pacc_cpu_kernel *kernel, const uint32_t grid[3],
                  const struct pacc_kernel *info, int resident, void **params) {
  int status = check_params(kernel, info);
  return status ? status
                : pacc_cpu_executor_launch(device->executor, kernel, grid,
                                           info->block, info->shared, resident,
                                           params);
}

static int backend_launch(void *device, void *stream, void *kernel,
                          const uint32_t grid[3],
                          const struct pacc_kernel *info, void **params) {
  (void)stream;
  return launch(device, kernel, grid, info, 0, params);
}

/* Each block has a thread of its own. */
static int backend_resident(void *opaque, void *kernel,
                            const struct pacc_kernel *info, uint32_t *blocks) {
  const struct device *device = opaque;
  (void)kernel;
  (void)info;
  *blocks = device->memory.config.threads;
  return 0;
}

static int backend_launch_resident(void *device, void *stream, void *kernel,
                                   const uint32_t grid[3],
                                   const struct pacc_kernel *info,
                                   void **params) {
  (void)stream;
  return launch(device, kernel, grid, info, 1, params);
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

static int backend_event_wait(void *device, void *event) {
  (void)device;
  (void)event;
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
    .copy_within = backend_copy_within,
    .launch = backend_launch,
    .resident = backend_resident,
    .launch_resident = backend_launch_resident,
    .event_create = backend_event_create,
    .event_destroy = backend_event_destroy,
    .event_record = backend_event_record,
    .event_wait = backend_event_wait,
    .event_elapsed = backend_event_elapsed,
    .error_name = pacc_cpu_status_name,
    .error_detail = backend_error_detail,
};

__attribute__((visibility("default"))) const struct pacc_backend *
pacc_cpu_backend(void) {
  return &backend;
}
