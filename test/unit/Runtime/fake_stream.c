/* fake_stream.c: memory, streams and events of the stand-in for the driver.
 * Work is done when it is waited for.
 */
#include "fake_private.h"

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

static struct memory *allocations;
static struct stream *streams;
static uint64_t last_size;
static unsigned last_grid[3], last_block[3];
static unsigned max_threads = 1024;
/* A clock of the test's own, if launches take time on it. */
static double clock_ms, launch_ms, first_launch_ms;

#pragma GCC visibility push(default)

/* ---- memory ----------------------------------------------------------- */

int cuMemAlloc_v2(address *result, size_t size) {
  ENTER(true);
  int status = SUCCESS;
  pthread_mutex_lock(&fake_lock);
  last_size = size;
  if (size == 0)
    status = INVALID_VALUE;
  else if (size > fake_memory - fake_live.bytes)
    status = OUT_OF_MEMORY;
  else {
    struct memory *made = malloc(sizeof *made);
    made->start = aligned_alloc(256, (size + 255) & ~(size_t)255);
    memset(made->start, 0xa5, size);
    made->size = size;
    made->next = allocations;
    allocations = made;
    fake_live.allocations++;
    fake_live.bytes += size;
    *result = (uintptr_t)made->start;
  }
  pthread_mutex_unlock(&fake_lock);
  return status;
}

static void run_all(struct stream *stream);

int cuMemFree_v2(address freed) {
  ENTER(true);
  int status = INVALID_VALUE;
  pthread_mutex_lock(&fake_lock);
  for (struct stream *stream = streams; stream; stream = stream->next)
    run_all(stream);
  for (struct memory **at = &allocations; *at; at = &(*at)->next) {
    struct memory *memory = *at;
    if ((uintptr_t)memory->start == freed) {
      *at = memory->next;
      fake_live.allocations--;
      fake_live.bytes -= memory->size;
      free(memory->start);
      free(memory);
      status = SUCCESS;
      break;
    }
  }
  pthread_mutex_unlock(&fake_lock);
  return status;
}

int cuMemHostRegister_v2(void *memory, size_t size, unsigned flags) {
  ENTER(true);
  if (!memory || !size || flags)
    return INVALID_VALUE;
  pthread_mutex_lock(&fake_lock);
  fake_live.host_allocations++;
  pthread_mutex_unlock(&fake_lock);
  return SUCCESS;
}

int cuMemHostUnregister(void *memory) {
  ENTER(true);
  pthread_mutex_lock(&fake_lock);
  fake_live.host_allocations--;
  pthread_mutex_unlock(&fake_lock);
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
    work->event->ms = launch_ms > 0 ? clock_ms : now_ms();
    work->event->done = true;
    break;
  }
}

static void run_all(struct stream *stream) {
  double before_launch_ms = first_launch_ms;
  while (stream->first) {
    struct work *work = stream->first;
    stream->first = work->next;
    if (work->kind == LAUNCH) {
      clock_ms += before_launch_ms + launch_ms;
      before_launch_ms = 0;
    }
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
  pthread_mutex_lock(&fake_lock);
  made->next = streams;
  streams = made;
  fake_live.streams++;
  pthread_mutex_unlock(&fake_lock);
  *stream = made;
  return flags == 1 ? SUCCESS : INVALID_VALUE;
}

int cuStreamDestroy_v2(void *handle) {
  ENTER(true);
  pthread_mutex_lock(&fake_lock);
  for (struct stream **at = &streams; *at; at = &(*at)->next) {
    if (*at == handle) {
      struct stream *stream = *at;
      *at = stream->next;
      run_all(stream);
      free(stream);
      fake_live.streams--;
      break;
    }
  }
  pthread_mutex_unlock(&fake_lock);
  return SUCCESS;
}

int cuStreamSynchronize(void *stream) {
  ENTER(true);
  pthread_mutex_lock(&fake_lock);
  run_all(stream);
  pthread_mutex_unlock(&fake_lock);
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
  pthread_mutex_lock(&fake_lock);
  if (!allocated(device, (work->count - 1) * device_pitch + work->width))
    status = ILLEGAL_ADDRESS;
  else
    queue(stream, work);
  pthread_mutex_unlock(&fake_lock);
  return status;
}

int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t size,
                         void *stream) {
  struct work work = {.kind = COPY,
                      .to = (char *)(uintptr_t)to,
                      .from = from,
                      .width = size,
                      .count = 1};
  return copy(fake_enter(__func__, true), stream, &work, work.to, 0, false);
}

int cuMemcpyDtoHAsync_v2(void *to, address from, size_t size, void *stream) {
  struct work work = {.kind = COPY,
                      .to = to,
                      .from = (const char *)(uintptr_t)from,
                      .width = size,
                      .count = 1};
  return copy(fake_enter(__func__, true), stream, &work, work.from, 0, true);
}

int cuMemcpyDtoDAsync_v2(address to, address from, size_t size, void *stream) {
  struct work work = {.kind = COPY,
                      .to = (char *)(uintptr_t)to,
                      .from = (const char *)(uintptr_t)from,
                      .width = size,
                      .count = 1};
  int failed = fake_enter(__func__, true);
  pthread_mutex_lock(&fake_lock);
  if (!failed && !allocated(work.from, size))
    failed = ILLEGAL_ADDRESS;
  pthread_mutex_unlock(&fake_lock);
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
  int failed = fake_enter(__func__, true);
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
  pthread_mutex_lock(&fake_lock);
  memcpy(last_grid, work.grid, sizeof last_grid);
  memcpy(last_block, work.block, sizeof last_block);
  queue(stream, &work);
  pthread_mutex_unlock(&fake_lock);
  return SUCCESS;
}

/* Of any kernel: two blocks on each multiprocessor. */
enum { ACTIVE = 2, MULTIPROCESSORS = 4 };

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function,
                                                int threads, size_t shared) {
  ENTER(true);
  (void)function;
  (void)shared;
  *blocks = (unsigned)threads > max_threads ? 0 : ACTIVE;
  return SUCCESS;
}

int cuLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z,
                              unsigned shared, void *stream, void **params) {
  ENTER(true);
  if (grid_x * grid_y * grid_z > ACTIVE * MULTIPROCESSORS)
    return TOO_LARGE;
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y,
                        block_z, shared, stream, params, NULL);
}

/* ---- events ----------------------------------------------------------- */

int cuEventCreate(void **event, unsigned flags) {
  ENTER(true);
  (void)flags;
  *event = calloc(1, sizeof(struct event));
  pthread_mutex_lock(&fake_lock);
  fake_live.events++;
  pthread_mutex_unlock(&fake_lock);
  return SUCCESS;
}

int cuEventDestroy_v2(void *event) {
  ENTER(true);
  pthread_mutex_lock(&fake_lock);
  fake_live.events--;
  for (struct stream *stream = streams; stream; stream = stream->next)
    run_all(stream);
  pthread_mutex_unlock(&fake_lock);
  free(event);
  return SUCCESS;
}

int cuEventRecord(void *event, void *stream) {
  ENTER(true);
  struct work work = {.kind = RECORD, .event = event};
  pthread_mutex_lock(&fake_lock);
  work.event->done = false;
  queue(stream, &work);
  pthread_mutex_unlock(&fake_lock);
  return SUCCESS;
}

int cuEventSynchronize(void *handle) {
  ENTER(true);
  const struct event *event = handle;
  pthread_mutex_lock(&fake_lock);
  for (struct stream *stream = streams; stream && !event->done;
       stream = stream->next)
    run_all(stream);
  pthread_mutex_unlock(&fake_lock);
  return SUCCESS;
}

int cuEventElapsedTime(float *ms, void *from, void *to) {
  ENTER(true);
  const struct event *start = from, *end = to;
  pthread_mutex_lock(&fake_lock);
  bool done = start->done && end->done;
  *ms = (float)(end->ms - start->ms);
  pthread_mutex_unlock(&fake_lock);
  return done ? SUCCESS : INVALID_HANDLE;
}
/* ---- controls --------------------------------------------------------- */

void fake_cuda_set_times(double launch, double first) {
  launch_ms = launch;
  first_launch_ms = first;
}

void fake_cuda_limit_threads(unsigned threads) { max_threads = threads; }

void fake_cuda_last_launch(unsigned grid[3], unsigned block[3]) {
  memcpy(grid, last_grid, sizeof last_grid);
  memcpy(block, last_block, sizeof last_block);
}

uint64_t fake_cuda_last_size(void) { return last_size; }
