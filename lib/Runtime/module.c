/* module.c: checks an image, loads it, and remembers both success and
 * failure.
 */
#include "count_private.h"
#include "module_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- checks ----------------------------------------------------------- */

static bool damaged(const struct pacc_image *image, const char *what,
                    struct pacc_error *error) {
  pacc_error_set(error, NULL, NULL, 0,
                 "the device code of %s in this program is damaged (%s): "
                 "compile it again, and keep tools that edit binaries away "
                 "from it",
                 image->name ? image->name : "a source file", what);
  return false;
}

/* The CPU device runs bitcode, every other one PTX or machine code. */
static bool runs_bitcode(const struct pacc_device *device) {
  return strcmp(device->backend->name, "cpu") == 0;
}

uint64_t pacc_module_code_size(const struct pacc_device *device,
                               const struct pacc_image *image) {
  return runs_bitcode(device) ? image->bitcode_size : image->ptx_size;
}

static bool check_code(const struct pacc_device *device,
                       const struct pacc_image *image,
                       struct pacc_error *error) {
  if (runs_bitcode(device)) {
    if (!image->bitcode || !image->bitcode_size) {
      pacc_error_set(error, NULL, NULL, 0,
                     "%s has no code for the CPU device: compile it with "
                     "-polly-acc-embed-bitcode=on",
                     image->name ? image->name : "the program");
      return false;
    }
    if (pacc_hash(image->bitcode, image->bitcode_size) != image->bitcode_hash)
      return damaged(image, "its bitcode has another checksum", error);
    return true;
  }
  if (!image->ptx || !image->ptx_size)
    return damaged(image, "it holds no PTX", error);
  if (pacc_hash(image->ptx, image->ptx_size) != image->ptx_hash)
    return damaged(image, "its PTX has another checksum", error);
  if (image->ptx[image->ptx_size])
    return damaged(image, "its PTX has no end", error);
  if (image->cubin &&
      pacc_hash(image->cubin, image->cubin_size) != image->cubin_hash)
    return damaged(image, "its machine code has another checksum", error);
  return true;
}

/* CUDA's limits of a block; they hold for every architecture. */
static bool possible_block(const uint32_t block[3]) {
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (block[i] == 0 || block[i] > 1024)
      return false;
    threads *= block[i];
  }
  return threads <= 1024;
}

static bool check_kernel(const struct pacc_image *image,
                         const struct pacc_kernel *kernel,
                         struct pacc_error *error) {
  if (!kernel->name || !kernel->name[0])
    return damaged(image, "a kernel has no name", error);
  bool possible =
      possible_block(kernel->block) && (!kernel->n_smaller || kernel->smaller);
  for (uint32_t i = 0; possible && i < kernel->n_smaller; i++)
    possible = possible_block(kernel->smaller[i].block);
  if (!possible)
    return damaged(image, "a kernel has an impossible block size", error);
  if (kernel->dims > 3 || kernel->max_threads > 1024)
    return damaged(image, "a kernel has an impossible grid", error);
  if (kernel->n_params && !kernel->param_sizes)
    return damaged(image, "a kernel has no parameter sizes", error);
  return true;
}

static bool check_image(const struct pacc_device *device,
                        const struct pacc_image *image,
                        struct pacc_error *error) {
  if (!image->abi || *image->abi != PACC_ABI_VERSION) {
    pacc_error_set(error, NULL, NULL, 0,
                   "%s was compiled for version %d of the runtime's "
                   "interface, this is version %d: compile it again",
                   image->name ? image->name : "the program",
                   image->abi ? *image->abi : 0, PACC_ABI_VERSION);
    return false;
  }
  if (!image->n_kernels || !image->kernels)
    return damaged(image, "it has no kernels", error);
  if (!check_code(device, image, error))
    return false;
  for (uint64_t i = 0; i < image->n_kernels; i++)
    if (!check_kernel(image, &image->kernels[i], error))
      return false;
  return true;
}

/* ---- loading ---------------------------------------------------------- */

static bool load_kernels(struct pacc_device *device, struct pacc_module *module,
                         const struct pacc_image *image,
                         struct pacc_error *error) {
  const struct pacc_backend *backend = device->backend;
  module->kernels = calloc(image->n_kernels, sizeof *module->kernels);
  if (!module->kernels) {
    pacc_error_set(error, NULL, NULL, 0, "out of host memory for kernels");
    return false;
  }
  for (uint64_t i = 0; i < image->n_kernels; i++) {
    int status = backend->kernel(device->handle, module->handle,
                                 image->kernels[i].name, &module->kernels[i]);
    if (status) {
      pacc_error_set(error, backend, device->handle, status,
                     "kernel %s is not in the device code of %s",
                     image->kernels[i].name, image->name);
      free(module->kernels);
      module->kernels = NULL;
      return false;
    }
  }
  return true;
}

static bool load(struct pacc_device *device, struct pacc_module *module,
                 const struct pacc_image *image, struct pacc_error *error) {
  const struct pacc_backend *backend = device->backend;
  if (!check_image(device, image, error))
    return false;
  int status = backend->load(device->handle, image, &module->handle);
  if (status && pacc_device_trim(device)) {
    /* Memory that was only kept may be what was missing. */
    status = backend->load(device->handle, image, &module->handle);
  }
  if (status) {
    pacc_error_set(error, backend, device->handle, status,
                   "the device code of %s can't be loaded",
                   image->name ? image->name : "the program");
    return false;
  }
  if (!load_kernels(device, module, image, error)) {
    backend->unload(device->handle, module->handle);
    module->handle = NULL;
    return false;
  }
  pacc_count(&pacc_counts.modules, 1);
  return true;
}

static void load_once(struct pacc_device *device, struct pacc_module *module,
                      const struct pacc_image *image, bool *loaded) {
  pthread_mutex_lock(&module->lock);
  if (atomic_load(&module->state) == PACC_MODULE_NEW) {
    bool good = load(device, module, image, module->error);
    *loaded = good;
    atomic_store_explicit(&module->state,
                          good ? PACC_MODULE_READY : PACC_MODULE_BAD,
                          memory_order_release);
  }
  pthread_mutex_unlock(&module->lock);
}

/* The module of the image, made by the thread that comes first. */
static struct pacc_module *attach(struct pacc_device *device,
                                  struct pacc_image *image) {
  void *known = __atomic_load_n(&image->state, __ATOMIC_ACQUIRE);
  if (known)
    return known;
  struct pacc_module *made = calloc(1, sizeof *made);
  struct pacc_error *error = calloc(1, sizeof *error);
  if (!made || !error) {
    free(made);
    free(error);
    return NULL;
  }
  made->error = error;
  pthread_mutex_init(&made->lock, NULL);
  if (!__atomic_compare_exchange_n(&image->state, &known, (void *)made, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    pthread_mutex_destroy(&made->lock);
    free(made);
    free(error);
    return known;
  }
  pthread_mutex_lock(&device->modules_lock);
  made->next = device->modules;
  device->modules = made;
  pthread_mutex_unlock(&device->modules_lock);
  return made;
}

struct pacc_module *pacc_module_get(struct pacc_device *device,
                                    struct pacc_image *image, bool *loaded,
                                    struct pacc_error *error) {
  *loaded = false;
  struct pacc_module *module = attach(device, image);
  if (!module) {
    pacc_error_set(error, NULL, NULL, 0, "out of host memory for a module");
    return NULL;
  }
  enum pacc_module_state state =
      atomic_load_explicit(&module->state, memory_order_acquire);
  if (state == PACC_MODULE_NEW) {
    load_once(device, module, image, loaded);
    state = atomic_load_explicit(&module->state, memory_order_acquire);
  }
  if (state == PACC_MODULE_READY)
    return module;
  *error = *module->error;
  return NULL;
}

void pacc_module_unload_all(struct pacc_device *device) {
  pthread_mutex_lock(&device->modules_lock);
  for (struct pacc_module *module = device->modules; module;
       module = module->next) {
    if (atomic_load(&module->state) == PACC_MODULE_READY) {
      device->backend->unload(device->handle, module->handle);
      free(module->kernels);
      module->kernels = NULL;
      module->handle = NULL;
    }
    atomic_store(&module->state, PACC_MODULE_NEW);
  }
  pthread_mutex_unlock(&device->modules_lock);
}
