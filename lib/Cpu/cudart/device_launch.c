/* device_launch.c: launches, copies, streams and events of kernels: CUDA's
 * device runtime (CUDA C++ Programming Guide, dynamic parallelism). */
#include "device_private.h"

#include "arena.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 24 };

/* -- The calling thread -- */

struct pacc_grid *pacc_device_grid(void) {
  return pacc_worker_current->launch->owner;
}

static uint64_t block_number(void) {
  const struct pacc_cpu_block *b = pacc_self_current->block;
  return ((uint64_t)b->id[2] * b->grid[1] + b->id[1]) * b->grid[0] + b->id[0];
}

static uint32_t thread_number(void) {
  return pacc_cpu_id_linear(pacc_self_current->id);
}

cudaError_t pacc_device_error(cudaError_t error) {
  if (error) {
    pacc_worker_current->errors[thread_number()] = error;
    pacc_worker_current->has_errors = 1;
  }
  return error;
}

int pacc_dev_cudaCDP2PeekAtLastError(void) {
  return (int)pacc_worker_current->errors[thread_number()];
}
int pacc_dev_cudaCDP2GetLastError(void) {
  uint32_t *error = &pacc_worker_current->errors[thread_number()];
  int last = (int)*error;
  *error = 0;
  return last;
}

static cudaError_t status_error(int status) {
  return pacc_device_error(pacc_cudart_translate(status));
}

/* The handles of CUDA's own streams, for kernels (driver_types.h). */
enum { LEGACY = 1, PER_THREAD = 2, TAIL = 3, FIRE_AND_FORGET = 4 };

/* The stream of a handle, NULL if memory is out. */
static struct pacc_stream *find_stream(void *handle, int per_thread) {
  struct pacc_grid *grid = pacc_device_grid();
  uintptr_t number = (uintptr_t)handle;
  if (!number)
    number = per_thread ? PER_THREAD : LEGACY;
  switch (number) {
  case LEGACY:
    return pacc_grid_block_stream(grid, block_number());
  case PER_THREAD:
    return pacc_grid_thread_stream(grid, block_number(), thread_number());
  case TAIL:
    return pacc_grid_tail_stream(grid);
  case FIRE_AND_FORGET:
    return pacc_grid_new_stream(grid);
  default:
    return handle;
  }
}

/* To be called when the operation is in the stream. */
static void leave_stream(void *handle, struct pacc_stream *stream) {
  if ((uintptr_t)handle == FIRE_AND_FORGET)
    pacc_stream_destroy(stream);
}

/* -- Launches --
 *
 * A thread fetches a buffer, fills it and launches; the launch copies it. So
 * buffers are few, and go round. */

enum { BUFFER_SIZE = 4096, BUFFERS_OF_REGION = 64, MAX_REGIONS = 1024 };

/* What version 2 of the interface passes with the buffer. */
struct buffer {
  struct buffer *next;
  void *bytes;
  void *func;
  uint32_t grid[3], block[3], shared;
  int taken;
};

static struct {
  pthread_mutex_t lock;
  struct buffer *free;
  struct buffer *regions[MAX_REGIONS];
  uint64_t addresses[MAX_REGIONS];
  uint32_t n_regions;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held. */
static int add_region(void) {
  if (pool.n_regions == MAX_REGIONS)
    return -1;
  struct buffer *buffers = calloc(BUFFERS_OF_REGION, sizeof(*buffers));
  uint64_t *address = &pool.addresses[pool.n_regions];
  if (!buffers ||
      pacc_cpu_arena_alloc(PACC_CPU_WORKER,
                           (uint64_t)BUFFER_SIZE * BUFFERS_OF_REGION, 64, NULL,
                           address)) {
    free(buffers);
    return -1;
  }
  for (uint32_t i = 0; i < BUFFERS_OF_REGION; i++) {
    buffers[i].bytes = (void *)(uintptr_t)(*address + i * BUFFER_SIZE);
    buffers[i].next = pool.free;
    pool.free = &buffers[i];
  }
  pool.regions[pool.n_regions++] = buffers;
  return 0;
}

static struct buffer *take_buffer(void) {
  pthread_mutex_lock(&pool.lock);
  struct buffer *buffer = NULL;
  if (pool.free || !add_region()) {
    buffer = pool.free;
    pool.free = buffer->next;
    buffer->taken = 1;
  }
  pthread_mutex_unlock(&pool.lock);
  return buffer;
}

/* The buffer at an address, NULL if it is none that was fetched. */
static struct buffer *find_buffer(const void *bytes) {
  struct buffer *buffer = NULL;
  pthread_mutex_lock(&pool.lock);
  for (uint32_t i = 0; i < pool.n_regions && !buffer; i++) {
    uint64_t at = (uint64_t)(uintptr_t)bytes - pool.addresses[i];
    if (at / BUFFER_SIZE < BUFFERS_OF_REGION && at % BUFFER_SIZE == 0)
      buffer = &pool.regions[i][at / BUFFER_SIZE];
  }
  pthread_mutex_unlock(&pool.lock);
  return buffer && buffer->taken ? buffer : NULL;
}

static void return_buffer(struct buffer *buffer) {
  pthread_mutex_lock(&pool.lock);
  buffer->taken = 0;
  buffer->next = pool.free;
  pool.free = buffer;
  pthread_mutex_unlock(&pool.lock);
}

void *pacc_dev_cudaCDP2GetParameterBuffer(uint64_t align, uint64_t size) {
  struct buffer *buffer =
      size <= BUFFER_SIZE && align <= 64 ? take_buffer() : NULL;
  return buffer ? buffer->bytes : NULL;
}

void *pacc_dev_cudaCDP2GetParameterBufferV2(void *func, const uint32_t *grid,
                                            const uint32_t *block,
                                            uint32_t shared) {
  struct buffer *buffer = take_buffer();
  if (!buffer)
    return NULL;
  buffer->func = func;
  buffer->shared = shared;
  memcpy(buffer->grid, grid, sizeof(buffer->grid));
  memcpy(buffer->block, block, sizeof(buffer->block));
  return buffer->bytes;
}

static cudaError_t launch(const struct pacc_cpu_work *work, void *handle,
                          int per_thread) {
  struct pacc_grid *grid = pacc_device_grid();
  if (!work->kernel)
    return cudaErrorInvalidDeviceFunction;
  cudaError_t error = pacc_cudart_check(work);
  if (error)
    return error;
  if ((uintptr_t)handle != TAIL && pacc_grid_depth(grid) >= MAX_DEPTH)
    return cudaErrorLaunchMaxDepthExceeded;
  struct pacc_stream *stream = find_stream(handle, per_thread);
  if (!stream)
    return cudaErrorMemoryAllocation;
  int status = pacc_stream_launch(stream, work);
  leave_stream(handle, stream);
  return status == PACC_CPU_ERROR_OUT_OF_MEMORY
             ? cudaErrorLaunchPendingCountExceeded
             : pacc_cudart_translate(status);
}

static int launch_device(void *func, void *params, const uint32_t *grid,
                         const uint32_t *block, uint32_t shared, void *handle,
                         int per_thread) {
  struct buffer *buffer = find_buffer(params);
  if (!buffer)
    return (int)pacc_device_error(cudaErrorInvalidValue);
  struct pacc_cpu_work work = {.kernel = pacc_cudart_kernel(func),
                               .grid = {grid[0], grid[1], grid[2]},
                               .block = {block[0], block[1], block[2]},
                               .shared = shared,
                               .params = params};
  cudaError_t error = launch(&work, handle, per_thread);
  return_buffer(buffer);
  return (int)pacc_device_error(error);
}

int pacc_dev_cudaCDP2LaunchDevice(void *func, void *params,
                                  const uint32_t *grid, const uint32_t *block,
                                  uint32_t shared, void *stream) {
  return launch_device(func, params, grid, block, shared, stream, 0);
}
int pacc_dev_cudaCDP2LaunchDevice_ptsz(void *func, void *params,
                                       const uint32_t *grid,
                                       const uint32_t *block, uint32_t shared,
                                       void *stream) {
  return launch_device(func, params, grid, block, shared, stream, 1);
}

static int launch_device_v2(void *params, void *stream, int per_thread) {
  struct buffer *b = find_buffer(params);
  return b ? launch_device(b->func, params, b->grid, b->block, b->shared,
                           stream, per_thread)
           : (int)pacc_device_error(cudaErrorInvalidValue);
}
int pacc_dev_cudaCDP2LaunchDeviceV2(void *params, void *stream) {
  return launch_device_v2(params, stream, 0);
}
int pacc_dev_cudaCDP2LaunchDeviceV2_ptsz(void *params, void *stream) {
  return launch_device_v2(params, stream, 1);
}

/* -- Copies and fills -- */

struct rows {
  void *to;
  const void *from;
  uint64_t to_pitch, from_pitch, width, count;
  uint32_t value;
};

static void run_copy(void *data) {
  const struct rows *r = data;
  pacc_cpu_memory_copy(r->to, r->to_pitch, r->from, r->from_pitch, r->width,
                       r->count);
}
static void run_fill(void *data) {
  const struct rows *r = data;
  for (uint64_t i = 0; i < r->count; i++)
    memset((char *)r->to + i * r->to_pitch, (int)r->value, r->width);
}

static int put_rows(const struct rows *r, void (*run)(void *), void *handle,
                    int per_thread) {
  int status = pacc_cpu_memory_check("to", (uint64_t)(uintptr_t)r->to,
                                     r->to_pitch, r->width, r->count);
  if (!status && r->from)
    status = pacc_cpu_memory_check("from", (uint64_t)(uintptr_t)r->from,
                                   r->from_pitch, r->width, r->count);
  if (status)
    return (int)pacc_device_error(cudaErrorInvalidValue);
  struct pacc_stream *stream = find_stream(handle, per_thread);
  if (!stream)
    return (int)pacc_device_error(cudaErrorMemoryAllocation);
  status = pacc_stream_call(stream, run, r, sizeof(*r));
  leave_stream(handle, stream);
  return (int)status_error(status);
}

#define COPIES(suffix, per_thread)                                             \
  int pacc_dev_cudaCDP2MemcpyAsync##suffix(void *to, const void *from,         \
                                           uint64_t size, uint32_t kind,       \
                                           void *stream) {                     \
    struct rows r = {to, from, size, size, size, 1, 0};                        \
    (void)kind; /* device to device is the only one */                         \
    return put_rows(&r, run_copy, stream, per_thread);                         \
  }                                                                            \
  int pacc_dev_cudaCDP2Memcpy2DAsync##suffix(                                  \
      void *to, uint64_t to_pitch, const void *from, uint64_t from_pitch,      \
      uint64_t width, uint64_t count, uint32_t kind, void *stream) {           \
    struct rows r = {to, from, to_pitch, from_pitch, width, count, 0};         \
    (void)kind;                                                                \
    return put_rows(&r, run_copy, stream, per_thread);                         \
  }                                                                            \
  int pacc_dev_cudaCDP2MemsetAsync##suffix(void *to, uint32_t value,           \
                                           uint64_t size, void *stream) {      \
    struct rows r = {to, NULL, size, 0, size, 1, value};                       \
    return put_rows(&r, run_fill, stream, per_thread);                         \
  }                                                                            \
  int pacc_dev_cudaCDP2Memset2DAsync##suffix(void *to, uint64_t pitch,         \
                                             uint32_t value, uint64_t width,   \
                                             uint64_t count, void *stream) {   \
    struct rows r = {to, NULL, pitch, 0, width, count, value};                 \
    return put_rows(&r, run_fill, stream, per_thread);                         \
  }
COPIES(, 0)
COPIES(_ptsz, 1)

/* -- Streams and events -- */

int pacc_dev_cudaCDP2StreamCreateWithFlags(void **stream, uint32_t flags) {
  if (flags != cudaStreamNonBlocking) /* the only kind that kernels have */
    return (int)pacc_device_error(cudaErrorInvalidValue);
  *stream = pacc_grid_new_stream(pacc_device_grid());
  return (int)pacc_device_error(*stream ? cudaSuccess
                                        : cudaErrorMemoryAllocation);
}

int pacc_dev_cudaCDP2StreamDestroy(void *stream) {
  if ((uintptr_t)stream <= FIRE_AND_FORGET)
    return (int)pacc_device_error(cudaErrorInvalidResourceHandle);
  pacc_stream_destroy(stream);
  return cudaSuccess;
}

int pacc_dev_cudaCDP2EventCreateWithFlags(void **event, uint32_t flags) {
  struct pacc_event *made = calloc(1, sizeof(*made));
  *event = made;
  if (!made)
    return (int)pacc_device_error(cudaErrorMemoryAllocation);
  made->flags = flags;
  return cudaSuccess;
}

int pacc_dev_cudaCDP2EventDestroy(void *event) {
  if (!event)
    return (int)pacc_device_error(cudaErrorInvalidResourceHandle);
  pacc_mark_drop(((struct pacc_event *)event)->mark);
  free(event);
  return cudaSuccess;
}

static int record(struct pacc_event *event, void *handle, int per_thread) {
  struct pacc_stream *stream = find_stream(handle, per_thread);
  if (!stream || !event)
    return (int)pacc_device_error(cudaErrorInvalidResourceHandle);
  struct pacc_mark *mark = NULL;
  int status = pacc_stream_mark(stream, &mark);
  leave_stream(handle, stream);
  if (!status) {
    pacc_mark_drop(event->mark);
    event->mark = mark;
  }
  return (int)status_error(status);
}

static int wait_for(void *handle, const struct pacc_event *event,
                    int per_thread) {
  struct pacc_stream *stream = find_stream(handle, per_thread);
  if (!stream || !event)
    return (int)pacc_device_error(cudaErrorInvalidResourceHandle);
  int status = event->mark ? pacc_stream_wait(stream, event->mark) : 0;
  leave_stream(handle, stream);
  return (int)status_error(status);
}

#define EVENTS(suffix, per_thread)                                             \
  int pacc_dev_cudaCDP2EventRecord##suffix(void *event, void *stream) {        \
    return record(event, stream, per_thread);                                  \
  }                                                                            \
  int pacc_dev_cudaCDP2EventRecordWithFlags##suffix(void *event, void *stream, \
                                                    uint32_t flags) {          \
    (void)flags;                                                               \
    return record(event, stream, per_thread);                                  \
  }                                                                            \
  int pacc_dev_cudaCDP2StreamWaitEvent##suffix(void *stream, void *event,      \
                                               uint32_t flags) {               \
    (void)flags;                                                               \
    return wait_for(stream, event, per_thread);                                \
  }
EVENTS(, 0)
EVENTS(_ptsz, 1)
