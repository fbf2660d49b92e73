/* cuda.c: the backend over NVIDIA's driver, libcuda.so.1, which is opened at
 * run time. The device's primary context is retained, as the CUDA runtime
 * does, so that both can be used in one program.
 */
#include "backends_private.h"
#include "cuda_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

/* Status codes of our own, beside the driver's (which are positive). */
enum { NO_LIBRARY = -1, MISSING_SYMBOL = -2, NO_HOST_MEMORY = -3 };

static struct {
#define X(field, symbol, parameters) int(*field) parameters;
  PACC_CUDA_REQUIRED(X)
  PACC_CUDA_OPTIONAL(X)
#undef X
} cu;

static const struct {
#define X(field, symbol, parameters) const char *field;
  PACC_CUDA_REQUIRED(X)
#undef X
} names = {
#define X(field, symbol, parameters) .field = #symbol,
    PACC_CUDA_REQUIRED(X)
#undef X
};

struct cuda_device {
  int device;
  int cc;
  int driver;
  int sm_count;
  int cooperative;
  uint64_t max_pitch;
  void *context;
};

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

/* What error_detail returns on this thread. */
static _Thread_local char detail[PACC_MESSAGE_SIZE / 2];

/* The capture mode that enter replaced, and how often enter nests. */
static _Thread_local int saved_mode;
static _Thread_local unsigned enter_depth;

/* Keeps the name of the driver function that failed as the detail. */
static int check(int status, const char *function) {
  if (status)
    snprintf(detail, sizeof detail, "%s", function);
  return status;
}
#define CHECK(field, ...) check(cu.field(__VA_ARGS__), names.field)

/* ---- library ---------------------------------------------------------- */

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static int library_status;
static char library_detail[256];

static void *find(void *library, const char *symbol) {
  void *address = dlsym(library, symbol);
  if (!address && !library_status) {
    library_status = MISSING_SYMBOL;
    snprintf(library_detail, sizeof library_detail,
             "it lacks %s; update the NVIDIA driver (CUDA 11 or later)",
             symbol);
  }
  return address;
}

static void load_library(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    library_status = NO_LIBRARY;
    snprintf(library_detail, sizeof library_detail, "%s", dlerror());
    return;
  }
#define X(field, symbol, parameters)                                           \
  cu.field = (int(*) parameters)find(library, #symbol);
  PACC_CUDA_REQUIRED(X)
#undef X
#define X(field, symbol, parameters)                                           \
  cu.field = (int(*) parameters)dlsym(library, #symbol);
  PACC_CUDA_OPTIONAL(X)
#undef X
}

/* ---- errors ----------------------------------------------------------- */

static const char *cuda_error_name(int status) {
  static _Thread_local char unknown[32];
  const char *name = NULL;
  switch (status) {
  case NO_LIBRARY:
    return "no NVIDIA driver";
  case MISSING_SYMBOL:
    return "libcuda.so.1 can't be used";
  case NO_HOST_MEMORY:
    return "out of host memory";
  default:
    if (cu.error_name && cu.error_name(status, &name) == 0 && name)
      return name;
    snprintf(unknown, sizeof unknown, "CUDA error %d", status);
    return unknown;
  }
}

static const char *cuda_error_detail(void *device) {
  (void)device;
  return detail;
}

/* ---- device ----------------------------------------------------------- */

static int describe(struct cuda_device *cuda, struct pacc_device_info *info) {
  int major = 0, minor = 0, sms = 0, pitch = 0, pageable = 0, status;
  size_t memory = 0;
  if ((status = CHECK(device_name, info->name, (int)sizeof info->name,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &major, PACC_CU_ATTRIBUTE_CC_MAJOR,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &minor, PACC_CU_ATTRIBUTE_CC_MINOR,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &sms, PACC_CU_ATTRIBUTE_SM_COUNT,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &pitch, PACC_CU_ATTRIBUTE_MAX_PITCH,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &pageable,
                      PACC_CU_ATTRIBUTE_PAGEABLE_MEMORY, cuda->device)) ||
      (status = CHECK(device_attribute, &cuda->cooperative,
                      PACC_CU_ATTRIBUTE_COOPERATIVE_LAUNCH, cuda->device)) ||
      (status = CHECK(device_memory, &memory, cuda->device)))
    return status;
  cuda->max_pitch = (uint64_t)pitch;
  cuda->sm_count = sms;
  cuda->cc = 10 * major + minor;
  info->name[sizeof info->name - 1] = 0;
  info->cc = (uint32_t)cuda->cc;
  info->sm_count = (uint32_t)sms;
  info->memory = memory;
  info->host_memory = pageable > 0;
  info->driver = (uint32_t)cuda->driver;
  return 0;
}

/* "GPU-" or "MIG-" and the UUID, as nvidia-smi has it; "" if it can't be had.
 */
static void print_uuid(int device, const char *kind, char text[48]) {
  unsigned char uuid[16];
  text[0] = 0;
  if (!cu.device_uuid || cu.device_uuid(uuid, device))
    return;
  int used = snprintf(text, 48, "%.3s", kind);
  for (int i = 0; i < 16; i++)
    used += snprintf(text + used, 48 - (size_t)used, "%s%02x",
                     i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                     uuid[i]);
}

/* Is the device meant by the begin of its UUID, or by a part of its name? */
static bool is_called(int device, const char *wanted) {
  char name[128] = "", uuid[48];
  if (strncmp(wanted, "GPU-", 4) == 0 || strncmp(wanted, "MIG-", 4) == 0) {
    print_uuid(device, wanted, uuid);
    return strncasecmp(uuid, wanted, strlen(wanted)) == 0;
  }
  return cu.device_name(name, (int)sizeof name - 1, device) == 0 &&
         strcasestr(name, wanted);
}

int pacc_cuda_find(const char *wanted, int *ordinal) {
  pthread_once(&library_once, load_library);
  if (library_status) {
    snprintf(detail, sizeof detail, "%s", library_detail);
    return library_status;
  }
  int count = 0, device;
  int status = CHECK(init, 0);
  if (!status)
    status = CHECK(device_count, &count);
  for (*ordinal = 0; !status && *ordinal < count; ++*ordinal) {
    status = CHECK(device_get, &device, *ordinal);
    if (!status && is_called(device, wanted))
      return 0;
  }
  if (status)
    return status;
  snprintf(detail, sizeof detail, "none of the %d is called %s", count, wanted);
  return PACC_CU_INVALID_DEVICE;
}

static int cuda_open(int ordinal, void **device,
                     struct pacc_device_info *info) {
  pthread_once(&library_once, load_library);
  if (library_status) {
    snprintf(detail, sizeof detail, "%s", library_detail);
    return library_status;
  }
  struct cuda_device *cuda = calloc(1, sizeof *cuda);
  if (!cuda)
    return check(NO_HOST_MEMORY, "device");
  int count = 0;
  int status = CHECK(init, 0);
  if (!status)
    status = CHECK(driver_version, &cuda->driver);
  if (!status)
    status = CHECK(device_count, &count);
  if (!status && count == 0)
    status = check(PACC_CU_NO_DEVICE, "the driver found none");
  if (!status && ordinal >= count) {
    status = PACC_CU_INVALID_DEVICE;
    snprintf(detail, sizeof detail, "device %d was asked for, there %s %d",
             ordinal, count == 1 ? "is" : "are", count);
  }
  if (!status)
    status = CHECK(device_get, &cuda->device, ordinal);
  if (!status)
    status = describe(cuda, info);
  if (!status)
    status = CHECK(context_retain, &cuda->context, cuda->device);
  if (status) {
    free(cuda);
    return status;
  }
  *device = cuda;
  return 0;
}

static void cuda_close(void *device) {
  struct cuda_device *cuda = device;
  cu.context_release(cuda->device);
  free(cuda);
}

bool pacc_cuda_absent(int status) {
  return status == NO_LIBRARY || status == PACC_CU_NO_DEVICE ||
         status == PACC_CU_STUB_LIBRARY;
}

static int cuda_enter(void *device) {
  struct cuda_device *cuda = device;
  int status = CHECK(context_push, cuda->context);
  if (status)
    return status;
  /* A program that captures a graph on this thread must not have its capture
   * broken by our allocations, which are no part of it. */
  if (enter_depth++ == 0 && cu.capture_mode) {
    saved_mode = PACC_CU_CAPTURE_RELAXED;
    if (cu.capture_mode(&saved_mode))
      saved_mode = PACC_CU_CAPTURE_RELAXED;
  }
  return 0;
}

static void cuda_leave(void *device) {
  (void)device;
  void *context;
  if (--enter_depth == 0 && cu.capture_mode &&
      saved_mode != PACC_CU_CAPTURE_RELAXED)
    cu.capture_mode(&saved_mode);
  cu.context_pop(&context);
}

/* ---- modules ---------------------------------------------------------- */

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
    snprintf(detail, sizeof detail,
             "the PTX has version %s, newer than this driver (CUDA %d.%d) "
             "knows: update the NVIDIA driver",
             version, cuda->driver / 1000, cuda->driver % 1000 / 10);
  else if (status == PACC_CU_JIT_COMPILER_NOT_FOUND)
    snprintf(detail, sizeof detail,
             "libnvidia-ptxjitcompiler.so.1 of the NVIDIA driver is missing: "
             "install it, it belongs to the driver's compute packages");
  else if ((status == PACC_CU_NO_BINARY_FOR_GPU ||
            status == PACC_CU_INVALID_PTX) &&
           wanted > cuda->cc)
    snprintf(detail, sizeof detail,
             "the kernels were compiled for %s and this device is sm_%d: "
             "compile with -polly-acc-arch=sm_%d",
             arch, cuda->cc, cuda->cc);
  else
    snprintf(detail, sizeof detail, "%s%s%s", names.module_load,
             log[0] ? ": " : "", log);
}

/* Machine code spares the driver the compilation of the PTX, 50 to 250 ms. It
 * is for one architecture, and an older driver may refuse it. */
static bool load_machine_code(const struct cuda_device *cuda,
                              const struct pacc_image *image, void **module) {
  int arch = 0;
  return image->cubin && image->arch && sscanf(image->arch, "sm_%d", &arch) &&
         arch == cuda->cc &&
         cu.module_load(module, image->cubin, 0, NULL, NULL) == 0;
}

static int load_code(struct cuda_device *cuda, const struct pacc_image *image,
                     void **module) {
  char log[sizeof detail - 32] = "";
  int options[] = {PACC_CU_JIT_ERROR_LOG, PACC_CU_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
  if (load_machine_code(cuda, image, module))
    return 0;
  int status = cu.module_load(module, image->ptx, 2, options, values);
  if (status) {
    log[sizeof log - 1] = 0;
    for (size_t end = strlen(log); end && log[end - 1] == '\n'; end--)
      log[end - 1] = 0;
    explain(cuda, image, status, log);
  }
  return status;
}

static int cuda_load(void *device, const struct pacc_image *image,
                     void **module) {
  struct cuda_module *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return check(NO_HOST_MEMORY, "module");
  int status = load_code(device, image, &loaded->module);
  if (status) {
    free(loaded);
    return status;
  }
  loaded->image = image;
  *module = loaded;
  return 0;
}

static void cuda_unload(void *device, void *module) {
  (void)device;
  struct cuda_module *loaded = module;
  cu.module_unload(loaded->module);
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
  if (!cu.function_param || !info)
    return 0;
  for (uint32_t i = 0; i < info->n_params; i++) {
    if (cu.function_param(function, i, &offset, &size) ||
        size != info->param_sizes[i]) {
      snprintf(detail, sizeof detail,
               "parameter %u of the PTX differs from the host code", i);
      return PACC_CU_INVALID_PTX;
    }
  }
  return 0;
}

static int cuda_kernel(void *device, void *module, const char *name,
                       void **kernel) {
  (void)device;
  struct cuda_module *loaded = module;
  struct cuda_kernel *found = calloc(1, sizeof *found);
  if (!found)
    return check(NO_HOST_MEMORY, "kernel");
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

/* ---- streams, memory, copies, launches -------------------------------- */

static int cuda_stream_create(void *device, void **stream) {
  (void)device;
  /* Not ordered with the program's own work in the default stream. */
  return CHECK(stream_create, stream, PACC_CU_STREAM_NON_BLOCKING);
}

static void cuda_stream_destroy(void *device, void *stream) {
  (void)device;
  cu.stream_destroy(stream);
}

static int cuda_sync(void *device, void *stream) {
  (void)device;
  return CHECK(stream_sync, stream);
}

static int cuda_alloc(void *device, uint64_t size, uint64_t *address) {
  (void)device;
  pacc_cu_address memory = 0;
  int status = CHECK(memory_alloc, &memory, size);
  *address = memory;
  return status;
}

static void cuda_free(void *device, uint64_t address) {
  (void)device;
  cu.memory_free(address);
}

/* What stands before pinned memory. */
struct pinned {
  void *map;
  size_t map_size;
};

/* Huge pages, where there is enough to fill some, are pinned in half the time
 * that cuMemHostAlloc takes. The memory stays out of children: after a fork, a
 * first write would give this process another page than the one that the
 * device writes to. */
static int cuda_host_alloc(void *device, uint64_t size, void **memory) {
  (void)device;
  const uint64_t huge = 2 << 20, page = 64 << 10;
  uint64_t grain = size >= 2 * huge ? huge : page;
  if (size > UINT64_MAX / 2)
    return check(NO_HOST_MEMORY, "staging");
  size = (size + grain - 1) & ~(grain - 1);
  size_t map_size = size + 2 * grain;
  char *map = mmap(NULL, map_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    return check(NO_HOST_MEMORY, "staging");
  char *made = map + grain + (-(uintptr_t)map & (grain - 1));
  madvise(map, map_size, MADV_DONTFORK);
  if (grain == huge)
    madvise(made, size, MADV_HUGEPAGE);
  int status = CHECK(host_register, made, size, 0);
  if (status) {
    munmap(map, map_size);
    return status;
  }
  ((struct pinned *)(void *)made)[-1] = (struct pinned){map, map_size};
  *memory = made;
  return 0;
}

static void cuda_host_free(void *device, void *memory) {
  (void)device;
  struct pinned pinned = ((struct pinned *)memory)[-1];
  cu.host_unregister(memory);
  munmap(pinned.map, pinned.map_size);
}

/* The driver's limit on the distance of rows in a 2-D copy. */
static bool fits_2d(const struct cuda_device *cuda, uint64_t to_pitch,
                    uint64_t from_pitch) {
  return to_pitch <= cuda->max_pitch && from_pitch <= cuda->max_pitch;
}

static int cuda_copy_in(void *device, void *stream, uint64_t to,
                        uint64_t to_pitch, const void *from,
                        uint64_t from_pitch, uint64_t width, uint64_t count) {
  if (count == 1)
    return CHECK(copy_in, to, from, width, stream);
  if (fits_2d(device, to_pitch, from_pitch)) {
    struct pacc_cu_copy copy = {.from_type = PACC_CU_MEMORY_HOST,
                                .from_host = from,
                                .from_pitch = from_pitch,
                                .to_type = PACC_CU_MEMORY_DEVICE,
                                .to_device = to,
                                .to_pitch = to_pitch,
                                .width = width,
                                .height = count};
    return CHECK(copy_2d, &copy, stream);
  }
  int status = 0;
  for (uint64_t i = 0; i < count && !status; i++)
    status = CHECK(copy_in, to + i * to_pitch,
                   (const char *)from + i * from_pitch, width, stream);
  return status;
}

static int cuda_copy_out(void *device, void *stream, void *to,
                         uint64_t to_pitch, uint64_t from, uint64_t from_pitch,
                         uint64_t width, uint64_t count) {
  if (count == 1)
    return CHECK(copy_out, to, from, width, stream);
  if (fits_2d(device, to_pitch, from_pitch)) {
    struct pacc_cu_copy copy = {.from_type = PACC_CU_MEMORY_DEVICE,
                                .from_device = from,
                                .from_pitch = from_pitch,
                                .to_type = PACC_CU_MEMORY_HOST,
                                .to_host = to,
                                .to_pitch = to_pitch,
                                .width = width,
                                .height = count};
    return CHECK(copy_2d, &copy, stream);
  }
  int status = 0;
  for (uint64_t i = 0; i < count && !status; i++)
    status = CHECK(copy_out, (char *)to + i * to_pitch, from + i * from_pitch,
                   width, stream);
  return status;
}

static int cuda_copy_within(void *device, void *stream, uint64_t to,
                            uint64_t from, uint64_t size) {
  (void)device;
  return CHECK(copy_within, to, from, size, stream);
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

static int cuda_launch(void *device, void *stream, void *kernel,
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

static int cuda_resident(void *device, void *kernel,
                         const struct pacc_kernel *info, uint32_t *blocks) {
  const struct cuda_device *cuda = device;
  struct cuda_kernel *asked = kernel;
  *blocks = 0;
  if (cuda->cooperative <= 0 || !cu.launch_resident || !cu.active_blocks)
    return 0;
  uint32_t active = atomic_load_explicit(&asked->active, memory_order_relaxed);
  if (!active) {
    int found = 0;
    uint32_t threads = info->block[0] * info->block[1] * info->block[2];
    int status = cu.active_blocks(&found, asked->function, (int)threads, 0);
    if (status)
      return check(status, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    active = (uint32_t)found;
    atomic_store_explicit(&asked->active, active, memory_order_relaxed);
  }
  *blocks = active * (uint32_t)cuda->sm_count;
  return 0;
}

static int cuda_launch_resident(void *device, void *stream, void *kernel,
                                const uint32_t grid[3],
                                const struct pacc_kernel *info, void **params) {
  (void)device;
  struct cuda_kernel *launched = kernel;
  return check(cu.launch_resident(launched->function, grid[0], grid[1], grid[2],
                                  info->block[0], info->block[1],
                                  info->block[2], 0, stream, params),
               "cuLaunchCooperativeKernel");
}

/* ---- events ----------------------------------------------------------- */

static int cuda_event_create(void *device, void **event) {
  (void)device;
  return CHECK(event_create, event, 0);
}

static void cuda_event_destroy(void *device, void *event) {
  (void)device;
  cu.event_destroy(event);
}

static int cuda_event_record(void *device, void *stream, void *event) {
  (void)device;
  return CHECK(event_record, event, stream);
}

static int cuda_event_wait(void *device, void *event) {
  (void)device;
  return CHECK(event_sync, event);
}

static int cuda_event_elapsed(void *device, void *from, void *to, float *ms) {
  (void)device;
  return CHECK(event_elapsed, ms, from, to);
}

const struct pacc_backend *pacc_cuda_backend(void) {
  static const struct pacc_backend backend = {
      .version = PACC_BACKEND_VERSION,
      .name = "cuda",
      .open = cuda_open,
      .close = cuda_close,
      .enter = cuda_enter,
      .leave = cuda_leave,
      .load = cuda_load,
      .unload = cuda_unload,
      .kernel = cuda_kernel,
      .stream_create = cuda_stream_create,
      .stream_destroy = cuda_stream_destroy,
      .sync = cuda_sync,
      .alloc = cuda_alloc,
      .free = cuda_free,
      .host_alloc = cuda_host_alloc,
      .host_free = cuda_host_free,
      .copy_in = cuda_copy_in,
      .copy_out = cuda_copy_out,
      .copy_within = cuda_copy_within,
      .launch = cuda_launch,
      .resident = cuda_resident,
      .launch_resident = cuda_launch_resident,
      .event_create = cuda_event_create,
      .event_destroy = cuda_event_destroy,
      .event_record = cuda_event_record,
      .event_wait = cuda_event_wait,
      .event_elapsed = cuda_event_elapsed,
      .error_name = cuda_error_name,
      .error_detail = cuda_error_detail,
  };
  return &backend;
}
