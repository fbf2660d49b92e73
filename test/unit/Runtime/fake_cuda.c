/* fake_cuda.c: a stand-in for libcuda.so.1; see fake_cuda.h. It serves
 * exactly the functions that the runtime's cuda_api.h declares, with the
 * declarations written out again so that a slip there does not go unnoticed.
 */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC visibility push(default)

typedef unsigned long long address;

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  DEINITIALIZED = 4,
  INVALID_DEVICE = 101,
  NO_BINARY_FOR_GPU = 209,
  INVALID_PTX = 218,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  ILLEGAL_ADDRESS = 700,
  OUT_OF_RESOURCES = 701,
};

/* ---- state; everything under `lock` ----------------------------------- */

enum { MAX_KERNELS = 16, MAX_FUNCTIONS = 64, MAX_PARAMS = 16, STACK = 8 };

struct kernel {
  const char *name;
  fake_kernel *run;
  unsigned n_params;
  const uint32_t *sizes;
};

struct memory {
  char *start;
  uint64_t size;
  struct memory *next;
};

enum kind { LAUNCH, COPY, RECORD };

/* Queued work. A copy has `count` rows. */
struct work {
  enum kind kind;
  const struct kernel *kernel;
  unsigned grid[3], block[3];
  uint64_t params[MAX_PARAMS];
  char *to;
  const char *from;
  uint64_t to_pitch, from_pitch, width, count;
  struct event *event;
  struct work *next;
};

struct stream {
  struct work *first, **last;
  struct stream *next;
};

struct event {
  double ms;
  bool done;
};

struct module {
  char *ptx;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel kernels[MAX_KERNELS];
static unsigned n_kernels;
static struct memory *allocations;
static struct stream *streams;
static struct fake_cuda_live live;
static int devices = 1, capability = 80;
static uint64_t total_memory = 1u << 30, last_size;
static const char *jit_log = "";
static unsigned last_grid[3], last_block[3];
static bool initialized, deinitialized;
static unsigned late_calls, n_compiled;
static bool refuses_cubins;
static unsigned max_threads = 1024;
static int the_context;

static _Thread_local void *contexts[STACK];
static _Thread_local unsigned depth;

static struct {
  const char *name;
  unsigned calls;
} functions[MAX_FUNCTIONS] = {
    {"cuInit", 0},
    {"cuDriverGetVersion", 0},
    {"cuDeviceGetCount", 0},
    {"cuDeviceGet", 0},
    {"cuDeviceGetName", 0},
    {"cuDeviceGetUuid_v2", 0},
    {"cuDeviceGetAttribute", 0},
    {"cuDeviceTotalMem_v2", 0},
    {"cuDevicePrimaryCtxRetain", 0},
    {"cuDevicePrimaryCtxRelease_v2", 0},
    {"cuCtxPushCurrent_v2", 0},
    {"cuCtxPopCurrent_v2", 0},
    {"cuModuleLoadDataEx", 0},
    {"cuModuleUnload", 0},
    {"cuModuleGetFunction", 0},
    {"cuFuncSetAttribute", 0},
    {"cuStreamCreate", 0},
    {"cuStreamDestroy_v2", 0},
    {"cuStreamSynchronize", 0},
    {"cuMemAlloc_v2", 0},
    {"cuMemFree_v2", 0},
    {"cuMemHostRegister_v2", 0},
    {"cuMemHostUnregister", 0},
    {"cuMemcpyHtoDAsync_v2", 0},
    {"cuMemcpyDtoHAsync_v2", 0},
    {"cuMemcpyDtoDAsync_v2", 0},
    {"cuMemcpy2DAsync_v2", 0},
    {"cuLaunchKernel", 0},
    {"cuEventCreate", 0},
    {"cuEventDestroy_v2", 0},
    {"cuEventRecord", 0},
    {"cuEventSynchronize", 0},
    {"cuEventElapsedTime", 0},
    {"cuThreadExchangeStreamCaptureMode", 0},
    {"cuFuncGetParamInfo", 0},
};
static unsigned total_calls;

static struct {
  const char *function;
  unsigned first, count;
  int status;
} rule;

/* ---- calls ------------------------------------------------------------ */

static bool rule_hits(unsigned call) {
  return call >= rule.first && call - rule.first < rule.count;
}

/* Counts the call, and gives the status that it must fail with, or 0. */
static int enter(const char *function, bool needs_context) {
  int status = SUCCESS;
  unsigned call = 0;
  pthread_mutex_lock(&lock);
  total_calls++;
  for (unsigned i = 0; i < MAX_FUNCTIONS && functions[i].name; i++)
    if (strcmp(functions[i].name, function) == 0)
      call = ++functions[i].calls;
  if (deinitialized) {
    late_calls++;
    status = DEINITIALIZED;
  } else if (rule.count && strcmp(rule.function, "*") == 0) {
    status = rule_hits(total_calls) ? rule.status : SUCCESS;
  } else if (rule.count && strcmp(rule.function, function) == 0) {
    status = rule_hits(call) ? rule.status : SUCCESS;
  }
  if (!status && needs_context && (depth == 0 || !contexts[depth - 1]))
    status = INVALID_CONTEXT;
  pthread_mutex_unlock(&lock);
  return status;
}

#define ENTER(needs_context)                                                   \
  do {                                                                         \
    int failed = enter(__func__, needs_context);                               \
    if (failed)                                                                \
      return failed;                                                           \
  } while (0)

/* ---- device ----------------------------------------------------------- */

static void shut_down(void) {
  pthread_mutex_lock(&lock);
  deinitialized = true;
  pthread_mutex_unlock(&lock);
}

int cuInit(unsigned flags) {
  ENTER(false);
  pthread_mutex_lock(&lock);
  if (!initialized)
    atexit(shut_down);
  initialized = true;
  pthread_mutex_unlock(&lock);
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
  *bytes = total_memory;
  return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER(false);
  (void)device;
  *context = &the_context;
  pthread_mutex_lock(&lock);
  live.contexts++;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER(false);
  (void)device;
  pthread_mutex_lock(&lock);
  live.contexts--;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int cuCtxPushCurrent_v2(void *context) {
  ENTER(false);
  if (depth == STACK)
    return INVALID_VALUE;
  contexts[depth++] = context;
  return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context) {
  /* A context that can't be popped would stay for good: the call that fails
   * does its work nevertheless. */
  int status = enter(__func__, false);
  if (depth == 0)
    return INVALID_CONTEXT;
  *context = contexts[--depth];
  return status;
}

int cuThreadExchangeStreamCaptureMode(int *mode) {
  static _Thread_local int current;
  ENTER(false);
  int old = current;
  current = *mode;
  *mode = old;
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
  pthread_mutex_lock(&lock);
  n_compiled += compiled;
  live.modules++;
  pthread_mutex_unlock(&lock);
  *module = made;
  return SUCCESS;
}

unsigned fake_cuda_compiled(void) { return n_compiled; }

void fake_cuda_limit_threads(unsigned threads) { max_threads = threads; }

void fake_cuda_refuse_cubins(void) { refuses_cubins = true; }

int cuModuleUnload(void *handle) {
  ENTER(true);
  struct module *module = handle;
  pthread_mutex_lock(&lock);
  live.modules--;
  pthread_mutex_unlock(&lock);
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

/* ---- memory ----------------------------------------------------------- */

int cuMemAlloc_v2(address *result, size_t size) {
  ENTER(true);
  int status = SUCCESS;
  pthread_mutex_lock(&lock);
  last_size = size;
  if (size == 0)
    status = INVALID_VALUE;
  else if (size > total_memory - live.bytes)
    status = OUT_OF_MEMORY;
  else {
    struct memory *made = malloc(sizeof *made);
    made->start = aligned_alloc(256, (size + 255) & ~(size_t)255);
    memset(made->start, 0xa5, size);
    made->size = size;
    made->next = allocations;
    allocations = made;
    live.allocations++;
    live.bytes += size;
    *result = (uintptr_t)made->start;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

static void run_all(struct stream *stream);

int cuMemFree_v2(address freed) {
  ENTER(true);
  int status = INVALID_VALUE;
  pthread_mutex_lock(&lock);
  for (struct stream *stream = streams; stream; stream = stream->next)
    run_all(stream);
  for (struct memory **at = &allocations; *at; at = &(*at)->next) {
    struct memory *memory = *at;
    if ((uintptr_t)memory->start == freed) {
      *at = memory->next;
      live.allocations--;
      live.bytes -= memory->size;
      free(memory->start);
      free(memory);
      status = SUCCESS;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return status;
}

int cuMemHostRegister_v2(void *memory, size_t size, unsigned flags) {
  ENTER(true);
  if (!memory || !size || flags)
    return INVALID_VALUE;
  pthread_mutex_lock(&lock);
  live.host_allocations++;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int cuMemHostUnregister(void *memory) {
  ENTER(true);
  pthread_mutex_lock(&lock);
  live.host_allocations--;
  pthread_mutex_unlock(&lock);
  return memory ? SUCCESS : INVALID_VALUE;
}

/* Whether the bytes lie in one allocation. */
static bool allocated(const char *start, uint64_t size) {
  for (struct memory *at = allocations; at; at = at->next)
    if (start >= at->start && start + size <= at->start + at->size)
      return true;
  return false;
}

/* ---- streams ---------------------------------------------------------- */

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void run_work(struct work *work) {
  void *params[MAX_PARAMS];
  switch (work->kind) {
  case LAUNCH:
    for (unsigned i = 0; i < work->kernel->n_params; i++)
      params[i] = &work->params[i];
    work->kernel->run(work->grid, work->block, params);
    break;
  case COPY:
    for (uint64_t i = 0; i < work->count; i++)
      memcpy(work->to + i * work->to_pitch, work->from + i * work->from_pitch,
             work->width);
    break;
  case RECORD:
    work->event->ms = now_ms();
    work->event->done = true;
    break;
  }
}

static void run_all(struct stream *stream) {
  while (stream->first) {
    struct work *work = stream->first;
    stream->first = work->next;
    run_work(work);
    free(work);
  }
  stream->last = &stream->first;
}

/* Takes the lock's owner's word that it holds it. */
static void queue(struct stream *stream, const struct work *work) {
  struct work *added = malloc(sizeof *added);
  *added = *work;
  added->next = NULL;
  *stream->last = added;
  stream->last = &added->next;
}

int cuStreamCreate(void **stream, unsigned flags) {
  ENTER(true);
  struct stream *made = calloc(1, sizeof *made);
  made->last = &made->first;
  pthread_mutex_lock(&lock);
  made->next = streams;
  streams = made;
  live.streams++;
  pthread_mutex_unlock(&lock);
  *stream = made;
  return flags == 1 ? SUCCESS : INVALID_VALUE;
}

int cuStreamDestroy_v2(void *handle) {
  ENTER(true);
  pthread_mutex_lock(&lock);
  for (struct stream **at = &streams; *at; at = &(*at)->next) {
    if (*at == handle) {
      struct stream *stream = *at;
      *at = stream->next;
      run_all(stream);
      free(stream);
      live.streams--;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int cuStreamSynchronize(void *stream) {
  ENTER(true);
  pthread_mutex_lock(&lock);
  run_all(stream);
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

/* Queues a copy; `device` is the side that must be allocated. A copy to the
 * host that fails has overwritten a part of its target with nonsense. */
static int copy(int failed, struct stream *stream, const struct work *work,
                const char *device, uint64_t device_pitch, bool to_host) {
  if (failed) {
    if (to_host)
      memset(work->to, 0x5a, work->width / 2 + 1);
    return failed;
  }
  int status = SUCCESS;
  pthread_mutex_lock(&lock);
  if (!allocated(device, (work->count - 1) * device_pitch + work->width))
    status = ILLEGAL_ADDRESS;
  else
    queue(stream, work);
  pthread_mutex_unlock(&lock);
  return status;
}

int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t size,
                         void *stream) {
  struct work work = {.kind = COPY,
                      .to = (char *)(uintptr_t)to,
                      .from = from,
                      .width = size,
                      .count = 1};
  return copy(enter(__func__, true), stream, &work, work.to, 0, false);
}

int cuMemcpyDtoHAsync_v2(void *to, address from, size_t size, void *stream) {
  struct work work = {.kind = COPY,
                      .to = to,
                      .from = (const char *)(uintptr_t)from,
                      .width = size,
                      .count = 1};
  return copy(enter(__func__, true), stream, &work, work.from, 0, true);
}

int cuMemcpyDtoDAsync_v2(address to, address from, size_t size, void *stream) {
  struct work work = {.kind = COPY,
                      .to = (char *)(uintptr_t)to,
                      .from = (const char *)(uintptr_t)from,
                      .width = size,
                      .count = 1};
  int failed = enter(__func__, true);
  pthread_mutex_lock(&lock);
  if (!failed && !allocated(work.from, size))
    failed = ILLEGAL_ADDRESS;
  pthread_mutex_unlock(&lock);
  return copy(failed, stream, &work, work.to, 0, false);
}

struct copy_2d {
  size_t from_x, from_y;
  int from_type;
  const void *from_host;
  address from_device;
  void *from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void *to_host;
  address to_device;
  void *to_array;
  size_t to_pitch;
  size_t width, height;
};

int cuMemcpy2DAsync_v2(const struct copy_2d *rows, void *stream) {
  bool to_host = rows->to_type == 1;
  struct work work = {
      .kind = COPY,
      .to = to_host ? rows->to_host : (char *)(uintptr_t)rows->to_device,
      .from = to_host ? (const char *)(uintptr_t)rows->from_device
                      : rows->from_host,
      .to_pitch = rows->to_pitch,
      .from_pitch = rows->from_pitch,
      .width = rows->width,
      .count = rows->height};
  int failed = enter(__func__, true);
  if (!failed &&
      (rows->to_pitch > 1 << 20 || rows->from_pitch > 1 << 20 ||
       rows->to_pitch < rows->width || rows->from_pitch < rows->width ||
       rows->from_x || rows->from_y || rows->to_x || rows->to_y))
    failed = INVALID_VALUE;
  return to_host ? copy(failed, stream, &work, work.from, work.from_pitch, true)
                 : copy(failed, stream, &work, work.to, work.to_pitch, false);
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void *stream,
                   void **params, void **extra) {
  ENTER(true);
  const struct kernel *kernel = function;
  struct work work = {.kind = LAUNCH,
                      .kernel = kernel,
                      .grid = {grid_x, grid_y, grid_z},
                      .block = {block_x, block_y, block_z}};
  if (grid_x == 0 || grid_y == 0 || grid_z == 0 || grid_y > 65535 ||
      grid_z > 65535 || shared > 227 * 1024 || extra)
    return INVALID_VALUE;
  if (block_x * block_y * block_z > max_threads)
    return OUT_OF_RESOURCES;
  for (unsigned i = 0; i < kernel->n_params; i++)
    memcpy(&work.params[i], params[i], kernel->sizes[i]);
  pthread_mutex_lock(&lock);
  memcpy(last_grid, work.grid, sizeof last_grid);
  memcpy(last_block, work.block, sizeof last_block);
  queue(stream, &work);
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

/* ---- events ----------------------------------------------------------- */

int cuEventCreate(void **event, unsigned flags) {
  ENTER(true);
  (void)flags;
  *event = calloc(1, sizeof(struct event));
  pthread_mutex_lock(&lock);
  live.events++;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int cuEventDestroy_v2(void *event) {
  ENTER(true);
  pthread_mutex_lock(&lock);
  live.events--;
  for (struct stream *stream = streams; stream; stream = stream->next)
    run_all(stream);
  pthread_mutex_unlock(&lock);
  free(event);
  return SUCCESS;
}

int cuEventRecord(void *event, void *stream) {
  ENTER(true);
  struct work work = {.kind = RECORD, .event = event};
  pthread_mutex_lock(&lock);
  work.event->done = false;
  queue(stream, &work);
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int cuEventSynchronize(void *handle) {
  ENTER(true);
  const struct event *event = handle;
  pthread_mutex_lock(&lock);
  for (struct stream *stream = streams; stream && !event->done;
       stream = stream->next)
    run_all(stream);
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int cuEventElapsedTime(float *ms, void *from, void *to) {
  ENTER(true);
  const struct event *start = from, *end = to;
  pthread_mutex_lock(&lock);
  bool done = start->done && end->done;
  *ms = (float)(end->ms - start->ms);
  pthread_mutex_unlock(&lock);
  return done ? SUCCESS : INVALID_HANDLE;
}

/* ---- controls --------------------------------------------------------- */

void fake_cuda_kernel(const char *name, fake_kernel *kernel, unsigned n_params,
                      const uint32_t *param_sizes) {
  kernels[n_kernels++] = (struct kernel){name, kernel, n_params, param_sizes};
}

void fake_cuda_fail(const char *function, unsigned first, unsigned count,
                    int status) {
  pthread_mutex_lock(&lock);
  rule.function = function;
  rule.first = first;
  rule.count = count;
  rule.status = status;
  pthread_mutex_unlock(&lock);
}

unsigned fake_cuda_calls(const char *function) {
  unsigned calls = 0;
  pthread_mutex_lock(&lock);
  if (strcmp(function, "*") == 0)
    calls = total_calls;
  for (unsigned i = 0; i < MAX_FUNCTIONS && functions[i].name; i++)
    if (strcmp(functions[i].name, function) == 0)
      calls = functions[i].calls;
  pthread_mutex_unlock(&lock);
  return calls;
}

const char *fake_cuda_function(unsigned number) {
  return number < MAX_FUNCTIONS ? functions[number].name : NULL;
}

void fake_cuda_configure(int device_count, int cc, uint64_t memory,
                         const char *log) {
  devices = device_count;
  capability = cc;
  total_memory = memory;
  jit_log = log;
}

void fake_cuda_live(struct fake_cuda_live *result) {
  pthread_mutex_lock(&lock);
  *result = live;
  pthread_mutex_unlock(&lock);
}

void *fake_cuda_current(void) { return depth ? contexts[depth - 1] : NULL; }

void fake_cuda_push(void *context) { contexts[depth++] = context; }

void fake_cuda_last_launch(unsigned grid[3], unsigned block[3]) {
  memcpy(grid, last_grid, sizeof last_grid);
  memcpy(block, last_block, sizeof last_block);
}

uint64_t fake_cuda_last_size(void) { return last_size; }

unsigned fake_cuda_late_calls(void) { return late_calls; }
