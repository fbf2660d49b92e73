/* fake_cpu.c: a stand-in for libpacc_cpu.so that has just enough to run a
 * region without kernels. Built a second time with FAKE_VERSION for the table
 * of another build.
 */
#include "pacc/backend.h"

#include <stdlib.h>
#include <string.h>

#ifndef FAKE_VERSION
#define FAKE_VERSION PACC_BACKEND_VERSION
#endif

static int one;

static int fake_open(int ordinal, void **device,
                     struct pacc_device_info *info) {
  (void)ordinal;
  *device = &one;
  strcpy(info->name, "Fake CPU device");
  info->cc = 0;
  info->memory = 1 << 30;
  return 0;
}

static int fake_enter(void *device) { return device != &one; }

static void fake_leave(void *device) { (void)device; }

static int fake_load(void *device, const struct pacc_image *image,
                     void **module) {
  (void)device;
  (void)image;
  *module = &one;
  return 0;
}

static void fake_unload(void *device, void *module) {
  (void)device;
  (void)module;
}

static int fake_kernel(void *device, void *module, const char *name,
                       void **kernel) {
  (void)device;
  (void)module;
  (void)name;
  *kernel = &one;
  return 0;
}

static int fake_stream_create(void *device, void **stream) {
  (void)device;
  *stream = &one;
  return 0;
}

static void fake_stream_destroy(void *device, void *stream) {
  (void)device;
  (void)stream;
}

static int fake_sync(void *device, void *stream) {
  (void)device;
  (void)stream;
  return 0;
}

static int fake_alloc(void *device, uint64_t size, uint64_t *address) {
  (void)device;
  void *memory = malloc(size);
  memset(memory, (int)size, size);
  *address = (uintptr_t)memory;
  return 0;
}

static void fake_free(void *device, uint64_t address) {
  (void)device;
  free((void *)(uintptr_t)address);
}

static int fake_host_alloc(void *device, uint64_t size, void **memory) {
  (void)device;
  *memory = malloc(size);
  return 0;
}

static void fake_host_free(void *device, void *memory) {
  (void)device;
  free(memory);
}

static int fake_copy_out(void *device, void *stream, void *to,
                         uint64_t to_pitch, uint64_t from, uint64_t from_pitch,
                         uint64_t width, uint64_t count) {
  (void)device;
  (void)stream;
  for (uint64_t i = 0; i < count; i++)
    memcpy((char *)to + i * to_pitch,
           (const char *)(uintptr_t)(from + i * from_pitch), width);
  return 0;
}

static const char *fake_error_name(int status) {
  return status ? "FAKE_ERROR" : "FAKE_SUCCESS";
}

static const char *fake_error_detail(void *device) {
  (void)device;
  return "";
}

__attribute__((visibility("default"))) const struct pacc_backend *
pacc_cpu_backend(void) {
  static const struct pacc_backend backend = {
      .version = FAKE_VERSION,
      .name = "cpu",
      .open = fake_open,
      .enter = fake_enter,
      .leave = fake_leave,
      .load = fake_load,
      .unload = fake_unload,
      .kernel = fake_kernel,
      .stream_create = fake_stream_create,
      .stream_destroy = fake_stream_destroy,
      .sync = fake_sync,
      .alloc = fake_alloc,
      .free = fake_free,
      .host_alloc = fake_host_alloc,
      .host_free = fake_host_free,
      .copy_out = fake_copy_out,
      .error_name = fake_error_name,
      .error_detail = fake_error_detail,
  };
  return &backend;
}
