/* cuda_module.c: modules, kernels and launches of the CUDA backend. */
#include "cuda_private.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel, the dynamic shared memory that it was allowed so far, and how many
 * of its blocks a multiprocessor holds (0: not asked yet). */
struct cuda_kernel {
  void *function;
  _Atomic uint32_t shared;
  _Atomic uint32_t active;
  struct cuda_kernel *next;
};

struct cuda_module {
  void *module;
  const struct pacc_image *image;
  struct cuda_kernel *kernels;
};

/* Says in words why the driver refused the PTX. `log` is the JIT's. */
static void explain(const struct cuda_device *cuda,
                    const struct pacc_image *image, int status,
                    const char *log) {
  const char *arch = image->arch ? image->arch : "an unknown architecture";
  int wanted = 0;
  char version[16] = "";
  sscanf(arch, "sm_%d", &wanted);
  const char *line = strstr(image->ptx, ".version ");
  if (line)
    sscanf(line, ".version %15[0-9.]", version);
  if (status == PACC_CU_UNSUPPORTED_PTX_VERSION)
    snprintf(pacc_cuda_detail, sizeof pacc_cuda_detail,
             "the PTX has version %s, newer than this driver (CUDA %d.%d) "
             "knows: update the NVIDIA driver",
             version, cuda->driver / 1000, cuda->driver % 1000 / 10);
  else if (status == PACC_CU_JIT_COMPILER_NOT_FOUND)
    snprintf(pacc_cuda_detail, sizeof pacc_cuda_detail,
             "libnvidia-ptxjitcompiler.so.1 of the NVIDIA driver is missing: "
             "install it, it belongs to the driver's compute packages");
  else if ((status == PACC_CU_NO_BINARY_FOR_GPU ||
            status == PACC_CU_INVALID_PTX) &&
           wanted > cuda->cc)
    snprintf(pacc_cuda_detail, sizeof pacc_cuda_detail,
             "the kernels were compiled for %s and this device is sm_%d: "
             "compile with -polly-acc-arch=sm_%d",
             arch, cuda->cc, cuda->cc);
  else
    snprintf(pacc_cuda_detail, sizeof pacc_cuda_detail, "%s%s%s",
             pacc_cu_names.module_load, log[0] ? ": " : "", log);
}

/* Machine code spares the driver the compilation of the PTX, 50 to 250 ms. It
 * is for one architecture, and an older driver may refuse it. */
static bool load_machine_code(const struct cuda_device *cuda,
                              const struct pacc_image *image, void **module) {
  int arch = 0;
  return image->cubin && image->arch && sscanf(image->arch, "sm_%d", &arch) &&
         arch == cuda->cc &&
         pacc_cu.module_load(module, image->cubin, 0, NULL, NULL) == 0;
}

static int load_code(struct cuda_device *cuda, const struct pacc_image *image,
                     void **module) {
  char log[sizeof pacc_cuda_detail - 32] = "";
  int options[] = {PACC_CU_JIT_ERROR_LOG, PACC_CU_JIT_ERROR_LOG_SIZE,
                   PACC_CU_JIT_LINES};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1), (void *)1};
  if (load_machine_code(cuda, image, module))
    return 0;
  unsigned int n = strstr(image->ptx, "\n\t.loc\t") ? 3 : 2;
  int status = pacc_cu.module_load(module, image->ptx, n, options, values);
  if (status) {
    log[sizeof log - 1] = 0;
    for (size_t end = strlen(log); end && log[end - 1] == '\n'; end--)
      log[end - 1] = 0;
    explain(cuda, image, status, log);
  }
  return status;
}

int pacc_cuda_load(void *device, const struct pacc_image *image,
                   void **module) {
  struct cuda_module *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return pacc_cuda_check(NO_HOST_MEMORY, "module");
  int status = load_code(device, image, &loaded->module);
  if (status) {
    free(loaded);
    return status;
  }
  loaded->image = image;
  *module = loaded;
  return 0;
}

void pacc_cuda_unload(void *device, void *module) {
  (void)device;
  struct cuda_module *loaded = module;
  pacc_cu.module_unload(loaded->module);
  while (loaded->kernels) {
    struct cuda_kernel *kernel = loaded->kernels;
    loaded->kernels = kernel->next;
    free(kernel);
  }
  free(loaded);
}

static const struct pacc_kernel *find_info(const struct pacc_image *image,
                                           const char *name) {
  for (uint64_t i = 0; i < image->n_kernels; i++)
    if (strcmp(image->kernels[i].name, name) == 0)
      return &image->kernels[i];
  return NULL;
}

/* 0, or INVALID_PTX if the kernel in the PTX takes other parameters than the
 * host code will pass. Drivers before 12.4 can't tell. */
static int check_params(void *function, const struct pacc_kernel *info) {
  size_t offset, size;
  if (!pacc_cu.function_param || !info)
    return 0;
  for (uint32_t i = 0; i < info->n_params; i++) {
    if (pacc_cu.function_param(function, i, &offset, &size) ||
        size != info->param_sizes[i]) {
      snprintf(pacc_cuda_detail, sizeof pacc_cuda_detail,
               "parameter %u of the PTX differs from the host code", i);
      return PACC_CU_INVALID_PTX;
    }
  }
  return 0;
}

int pacc_cuda_kernel(void *device, void *module, const char *name,
                     void **kernel) {
  (void)device;
  struct cuda_module *loaded = module;
  struct cuda_kernel *found = calloc(1, sizeof *found);
  if (!found)
    return pacc_cuda_check(NO_HOST_MEMORY, "kernel");
  int status = CHECK(module_function, &found->function, loaded->module, name);
  if (!status)
    status = check_params(found->function, find_info(loaded->image, name));
  if (status) {
    free(found);
    return status;
  }
  found->next = loaded->kernels;
  loaded->kernels = found;
  *kernel = found;
  return 0;
}

/* Static and dynamic shared memory together may pass the 48 KiB that every
 * kernel may use only if the kernel is told so. */
static int allow_shared(struct cuda_kernel *kernel, uint32_t shared) {
  if (shared <= atomic_load_explicit(&kernel->shared, memory_order_relaxed))
    return 0;
  int status = CHECK(function_attribute, kernel->function,
                     PACC_CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)shared);
  if (!status)
    atomic_store_explicit(&kernel->shared, shared, memory_order_relaxed);
  return status;
}

int pacc_cuda_launch(void *device, void *stream, void *kernel,
                     const uint32_t grid[3], const struct pacc_kernel *info,
                     void **params) {
  (void)device;
  struct cuda_kernel *launched = kernel;
  int status = allow_shared(launched, info->shared);
  if (status)
    return status;
  return CHECK(launch, launched->function, grid[0], grid[1], grid[2],
               info->block[0], info->block[1], info->block[2], info->shared,
               stream, params, NULL);
}

int pacc_cuda_resident(void *device, void *kernel,
                       const struct pacc_kernel *info, uint32_t *blocks) {
  const struct cuda_device *cuda = device;
  struct cuda_kernel *asked = kernel;
  *blocks = 0;
  if (cuda->cooperative <= 0 || !pacc_cu.launch_resident ||
      !pacc_cu.active_blocks)
    return 0;
  uint32_t active = atomic_load_explicit(&asked->active, memory_order_relaxed);
  if (!active) {
    int found = 0;
    uint32_t threads = info->block[0] * info->block[1] * info->block[2];
    int status =
        pacc_cu.active_blocks(&found, asked->function, (int)threads, 0);
    if (status)
      return pacc_cuda_check(status,
                             "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    active = (uint32_t)found;
    atomic_store_explicit(&asked->active, active, memory_order_relaxed);
  }
  *blocks = active * (uint32_t)cuda->sm_count;
  return 0;
}

int pacc_cuda_launch_resident(void *device, void *stream, void *kernel,
                              const uint32_t grid[3],
                              const struct pacc_kernel *info, void **params) {
  (void)device;
  struct cuda_kernel *launched = kernel;
  return pacc_cuda_check(
      pacc_cu.launch_resident(launched->function, grid[0], grid[1], grid[2],
                              info->block[0], info->block[1], info->block[2], 0,
                              stream, params),
      "cuLaunchCooperativeKernel");
}
