/* fake_cuda.c: a stand-in for libcuda.so.1; see fake_cuda.h. It serves
 * exactly the functions that the runtime's cuda_api.h declares, with the
 * declarations written out again so that a slip there does not go unnoticed.
 * Here: devices, and modules.
 */
#include "fake_private.h"

enum { MAX_KERNELS = 16 };

struct module {
  char *ptx;
};

struct fake_cuda_live fake_live;
uint64_t fake_memory = 1u << 30;

static struct kernel kernels[MAX_KERNELS];
static unsigned n_kernels;
static int devices = 1, capability = 80;
static const char *jit_log = "";
static bool initialized;
static unsigned n_compiled;
static bool refuses_cubins, pageable, cooperative = true;
static int the_context;

#pragma GCC visibility push(default)

/* ---- device ----------------------------------------------------------- */

int cuInit(unsigned flags) {
  ENTER(false);
  pthread_mutex_lock(&fake_lock);
  if (!initialized)
    atexit(fake_end);
  initialized = true;
  pthread_mutex_unlock(&fake_lock);
  return flags ? INVALID_VALUE : SUCCESS;
}

int cuDriverGetVersion(int *version) {
  ENTER(false);
  *version = 12040;
  return SUCCESS;
}

int cuDeviceGetCount(int *count) {
  ENTER(false);
  *count = devices;
  return initialized ? SUCCESS : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal) {
  ENTER(false);
  *device = ordinal;
  return ordinal < devices ? SUCCESS : INVALID_DEVICE;
}

int cuDeviceGetName(char *name, int size, int device) {
  ENTER(false);
  snprintf(name, (size_t)size, "Fake GPU %d", device);
  return SUCCESS;
}

int cuDeviceGetUuid_v2(unsigned char uuid[16], int device) {
  ENTER(false);
  for (int i = 0; i < 16; i++)
    uuid[i] = (unsigned char)(17 * i + device);
  return SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  ENTER(false);
  (void)device;
  switch (attribute) {
  case 11:
    *value = 1 << 20; /* longest pitch of a 2-D copy */
    return SUCCESS;
  case 16:
    *value = 4;
    return SUCCESS;
  case 88:
    *value = pageable;
    return SUCCESS;
  case 95:
    *value = cooperative;
    return SUCCESS;
  case 75:
    *value = capability / 10;
    return SUCCESS;
  case 76:
    *value = capability % 10;
    return SUCCESS;
  default:
    return INVALID_VALUE;
  }
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  ENTER(false);
  (void)device;
  *bytes = fake_memory;
  return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER(false);
  (void)device;
  *context = &the_context;
  pthread_mutex_lock(&fake_lock);
  fake_live.contexts++;
  pthread_mutex_unlock(&fake_lock);
  return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER(false);
  (void)device;
  pthread_mutex_lock(&fake_lock);
  fake_live.contexts--;
  pthread_mutex_unlock(&fake_lock);
  return SUCCESS;
}

int cuGetErrorName(int status, const char **name) {
  static const struct {
    int status;
    const char *name;
  } names[] = {{INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
               {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
               {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
               {100, "CUDA_ERROR_NO_DEVICE"},
               {NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
               {INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
               {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
               {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
               {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (names[i].status == status) {
      *name = names[i].name;
      return SUCCESS;
    }
  }
  *name = NULL;
  return INVALID_VALUE;
}
/* ---- modules ---------------------------------------------------------- */

int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values) {
  for (unsigned i = 0; i < count; i++)
    if (options[i] == 5 && jit_log[0])
      strcpy(values[i], jit_log);
  ENTER(true);
  int arch;
  bool compiled = false;
  if (sscanf(image, "\177ELF sm_%d", &arch) == 1) {
    if (arch != capability || refuses_cubins)
      return NO_BINARY_FOR_GPU;
  } else if (!strstr(image, ".version") || jit_log[0]) {
    return INVALID_PTX;
  } else {
    compiled = true;
  }
  struct module *made = malloc(sizeof *made);
  made->ptx = strdup(image);
  pthread_mutex_lock(&fake_lock);
  n_compiled += compiled;
  fake_live.modules++;
  pthread_mutex_unlock(&fake_lock);
  *module = made;
  return SUCCESS;
}

unsigned fake_cuda_compiled(void) { return n_compiled; }

void fake_cuda_refuse_resident(void) { cooperative = false; }

void fake_cuda_share_memory(void) { pageable = true; }

void fake_cuda_refuse_cubins(void) { refuses_cubins = true; }

int cuModuleUnload(void *handle) {
  ENTER(true);
  struct module *module = handle;
  pthread_mutex_lock(&fake_lock);
  fake_live.modules--;
  pthread_mutex_unlock(&fake_lock);
  free(module->ptx);
  free(module);
  return SUCCESS;
}

int cuModuleGetFunction(void **function, void *handle, const char *name) {
  ENTER(true);
  struct module *module = handle;
  char entry[128];
  snprintf(entry, sizeof entry, ".entry %s(", name);
  if (!strstr(module->ptx, entry))
    return NOT_FOUND;
  for (unsigned i = 0; i < n_kernels; i++) {
    if (strcmp(kernels[i].name, name) == 0) {
      *function = &kernels[i];
      return SUCCESS;
    }
  }
  return NOT_FOUND;
}

int cuFuncGetParamInfo(void *function, size_t index, size_t *offset,
                       size_t *size) {
  ENTER(true);
  const struct kernel *kernel = function;
  if (index >= kernel->n_params)
    return INVALID_VALUE;
  *offset = 8 * index;
  *size = kernel->sizes[index];
  return SUCCESS;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  ENTER(true);
  (void)function;
  return attribute == 8 && value <= 227 * 1024 ? SUCCESS : INVALID_VALUE;
}
/* ---- controls --------------------------------------------------------- */

void fake_cuda_kernel(const char *name, fake_kernel *kernel, unsigned n_params,
                      const uint32_t *param_sizes) {
  kernels[n_kernels++] = (struct kernel){name, kernel, n_params, param_sizes};
}

void fake_cuda_configure(int device_count, int cc, uint64_t memory,
                         const char *log) {
  devices = device_count;
  capability = cc;
  fake_memory = memory;
  jit_log = log;
}

void fake_cuda_live(struct fake_cuda_live *result) {
  pthread_mutex_lock(&fake_lock);
  *result = fake_live;
  pthread_mutex_unlock(&fake_lock);
}
