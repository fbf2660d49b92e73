/* support.c: see support.h. */
#include "support.h"

struct gpu gpu_open(const char *name, long seed, long threads, long check) {
  const struct {
    const char *name;
    long value;
  } settings[] = {{"PACC_CPU_SEED", seed},
                  {"PACC_CPU_THREADS", threads},
                  {"PACC_CPU_CHECK", check}};
  char text[32], path[512];
  for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
    snprintf(text, sizeof(text), "%ld", settings[i].value);
    if (settings[i].value < 0)
      unsetenv(settings[i].name);
    else
      setenv(settings[i].name, text, 1);
  }
  struct gpu gpu = {.backend = pacc_cpu_backend()};
  struct pacc_device_info info;
  assert_ok(&gpu, gpu.backend->open(0, &gpu.device, &info));
  if (!name)
    return gpu;
  size_t size;
  snprintf(path, sizeof(path), "%s/%s.bc", KERNELS, name);
  void *bitcode = read_file(path, &size);
  struct pacc_image image = make_image(bitcode, size);
  assert_ok(&gpu, gpu.backend->load(gpu.device, &image, &gpu.module));
  free(bitcode);
  return gpu;
}

void gpu_close(struct gpu *gpu) {
  if (gpu->module)
    gpu->backend->unload(gpu->device, gpu->module);
  gpu->backend->close(gpu->device);
}

void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file)
    fail_msg("cannot open %s", path);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void *bytes = malloc(*size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  fclose(file);
  return bytes;
}

struct pacc_image make_image(const void *bitcode, size_t size) {
  const unsigned char *bytes = bitcode;
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  return (struct pacc_image){.name = "test.c",
                             .arch = "sm_90",
                             .bitcode = bitcode,
                             .bitcode_size = size,
                             .bitcode_hash = hash};
}

uint64_t gpu_alloc(struct gpu *gpu, uint64_t size) {
  uint64_t address = 0;
  assert_ok(gpu, gpu->backend->alloc(gpu->device, size, &address));
  return address;
}

uint64_t gpu_upload(struct gpu *gpu, const void *from, uint64_t size) {
  uint64_t address = gpu_alloc(gpu, size);
  assert_ok(gpu, gpu->backend->copy_in(gpu->device, NULL, address, 0, from, 0,
                                       size, 1));
  return address;
}

void gpu_download(struct gpu *gpu, void *to, uint64_t from, uint64_t size) {
  assert_ok(gpu,
            gpu->backend->copy_out(gpu->device, NULL, to, 0, from, 0, size, 1));
}

int gpu_launch(struct gpu *gpu, const char *kernel, struct dims grid,
               struct dims block, uint32_t shared, const struct param *params) {
  enum { MAX_PARAMS = 16 };
  void *values[MAX_PARAMS], *handle;
  uint32_t sizes[MAX_PARAMS], n = 0;
  for (; params && params[n].at; n++) {
    values[n] = params[n].at;
    sizes[n] = params[n].size;
  }
  struct pacc_kernel info = {.name = kernel,
                             .label = "",
                             .block = {block.x, block.y, block.z},
                             .shared = shared,
                             .n_params = n,
                             .param_sizes = sizes};
  uint32_t blocks[3] = {grid.x, grid.y, grid.z};
  assert_ok(gpu,
            gpu->backend->kernel(gpu->device, gpu->module, kernel, &handle));
  return gpu->backend->launch(gpu->device, NULL, handle, blocks, &info, values);
}

void assert_ok(const struct gpu *gpu, int status) {
  if (status)
    fail_msg("%s: %s", gpu->backend->error_name(status),
             gpu->backend->error_detail(gpu->device));
}

void assert_error(const struct gpu *gpu, int status, const char *name, ...) {
  char full[64];
  snprintf(full, sizeof(full), "PACC_CPU_ERROR_%s", name);
  const char *detail = gpu->backend->error_detail(gpu->device), *text;
  if (strcmp(gpu->backend->error_name(status), full))
    fail_msg("%s instead of %s: %s", gpu->backend->error_name(status), full,
             detail);
  va_list args;
  va_start(args, name);
  while ((text = va_arg(args, const char *)))
    if (!strstr(detail, text))
      fail_msg("'%s' is missing in '%s'", text, detail);
  va_end(args);
}
