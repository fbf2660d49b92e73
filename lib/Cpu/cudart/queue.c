/* queue.c: which operation runs next. */
#include "queue_private.h"

#include "random.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_PENDING = 2048 };

struct pacc_queue *pacc_queue_create(struct pacc_cpu_executor *executor,
                                     uint64_t seed) {
  struct pacc_queue *queue = calloc(1, sizeof(*queue));
  if (!queue) {
    pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for the streams");
    return NULL;
  }
  queue->executor = executor;
  queue->seed = queue->random = seed;
  queue->pending_limit = DEFAULT_PENDING;
  pthread_mutex_init(&queue->lock, NULL);
  pthread_mutex_init(&queue->turn, NULL);
  queue->legacy = pacc_stream_create(queue, PACC_STREAM_LEGACY);
  if (!queue->legacy) {
    free(queue);
    return NULL;
  }
  return queue;
}

struct pacc_stream *pacc_queue_legacy(struct pacc_queue *queue) {
  return queue->legacy;
}

void pacc_queue_set_pending(struct pacc_queue *queue, uint64_t limit) {
  queue->pending_limit = limit;
}

uint64_t pacc_queue_pending(const struct pacc_queue *queue) {
  return queue->pending_limit;
}

static void fail(struct pacc_queue *queue, int status) {
  if (queue->status)
    return;
  queue->status = status;
  snprintf(queue->detail, sizeof(queue->detail), "%s", pacc_cpu_detail());
}

/* -- The list of ready streams -- */

static int reserve(struct pacc_queue *queue) {
  if (queue->end < queue->capacity)
    return 0;
  size_t n = queue->end - queue->begin;
  if (queue->begin > n) { /* half of it is free in front */
    memmove(queue->ready, queue->ready + queue->begin,
            n * sizeof(*queue->ready));
  } else {
    size_t capacity = queue->capacity ? 2 * queue->capacity : 64;
    struct pacc_stream **ready = malloc(capacity * sizeof(*ready));
    if (!ready)
      return -1;
    if (n)
      memcpy(ready, queue->ready + queue->begin, n * sizeof(*ready));
    free(queue->ready);
    queue->ready = ready;
    queue->capacity = capacity;
  }
  queue->begin = 0;
  queue->end = n;
  return 0;
}

static int may_begin(const struct pacc_stream *stream) {
  return !stream->is_tail || stream->owner->tail_begun;
}

void pacc_queue_list(struct pacc_queue *queue, struct pacc_stream *stream) {
  struct pacc_operation *first = stream->first;
  if (!first || stream->busy || stream->listed || !may_begin(stream))
    return;
  stream->listed = 1;
  if (first->kind == PACC_OPERATION_WAIT && !first->mark->done) {
    stream->next = first->mark->waiting;
    first->mark->waiting = stream;
  } else if (reserve(queue)) {
    pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for launches");
    fail(queue, PACC_CPU_ERROR_OUT_OF_MEMORY);
  } else {
    queue->ready[queue->end++] = stream;
  }
}

static uint64_t random_below(struct pacc_queue *queue, uint64_t n) {
  return (uint64_t)((unsigned __int128)pacc_random(&queue->random) * n >> 64);
}

static struct pacc_stream *take_ready(struct pacc_queue *queue) {
  size_t at = queue->begin;
  if (queue->seed)
    at += random_below(queue, queue->end - queue->begin);
  struct pacc_stream *stream = queue->ready[at];
  queue->ready[at] = queue->ready[queue->begin++];
  stream->listed = 0;
  return stream;
}

/* -- Streams of the host -- */

/* Whether some other stream of the kind holds operations from before. */
static int waits_for_kind(const struct pacc_queue *queue, uint64_t number,
                          enum pacc_stream_kind kind) {
  for (const struct pacc_stream *s = queue->host_streams; s; s = s->next)
    if (s->kind == kind && s->first && s->first->number < number)
      return 1;
  return 0;
}

static int host_may_run(const struct pacc_queue *queue,
                        const struct pacc_stream *stream) {
  const struct pacc_operation *first = stream->first;
  if (!first || stream->busy)
    return 0;
  if (first->kind == PACC_OPERATION_WAIT && !first->mark->done)
    return 0;
  switch (stream->kind) {
  case PACC_STREAM_LEGACY:
    return !waits_for_kind(queue, first->number, PACC_STREAM_BLOCKING);
  case PACC_STREAM_BLOCKING:
    return !waits_for_kind(queue, first->number, PACC_STREAM_LEGACY);
  default:
    return 1;
  }
}

/* The stream to go on with: a grid's before the host's and the oldest first,
 * or one at random. */
static struct pacc_stream *pick(struct pacc_queue *queue) {
  size_t n_ready = queue->end - queue->begin, n_host = 0;
  struct pacc_stream *chosen = NULL;
  if (n_ready && !queue->seed)
    return take_ready(queue);
  for (struct pacc_stream *s = queue->host_streams; s; s = s->next) {
    if (!host_may_run(queue, s))
      continue;
    n_host++;
    if (queue->seed ? random_below(queue, n_host) == 0
                    : !chosen || s->first->number < chosen->first->number)
      chosen = s;
  }
  if (n_ready && (!n_host || random_below(queue, n_ready + n_host) < n_ready))
    return take_ready(queue);
  return chosen;
}

/* -- Completion -- */

/* The oldest operation of a stream is over. Returns the grid that may be over
 * with it. */
static struct pacc_grid *remove_first(struct pacc_stream *stream) {
  struct pacc_operation *operation = stream->first;
  struct pacc_grid *owner = stream->owner;
  if (owner && !stream->is_tail)
    owner->n_open--;
  stream->busy = 0;
  stream->first = operation->next;
  free(operation);
  if (owner)
    pacc_queue_list(stream->queue, stream);
  pacc_stream_release(stream);
  return owner;
}

/* The grid may be over, and then the one that launched it, and so on. */
static void complete(struct pacc_grid *grid) {
  while (grid && grid->has_run && !grid->n_open) {
    struct pacc_stream *tail = grid->tail;
    if (tail && tail->first) {
      grid->tail_begun = 1;
      pacc_queue_list(grid->queue, tail);
      return;
    }
    struct pacc_stream *stream = grid->operation->stream;
    pacc_grid_free(grid);
    grid = remove_first(stream);
  }
}

static void mark_done(struct pacc_mark *mark) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  mark->done = 1;
  mark->when = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
  while (mark->waiting) {
    struct pacc_stream *stream = mark->waiting;
    mark->waiting = stream->next;
    stream->listed = 0;
    pacc_queue_list(mark->queue, stream);
  }
}

/* -- Running. The lock is held, and given up while an operation runs. -- */

static void run_first(struct pacc_queue *queue, struct pacc_stream *stream);

/* Time to run one grid or copy of the streams of grids within another one. A
 * helper of the executor may not, as it is not its turn. */
static void step_inside(void *owner) {
  enum { MOST_INSIDE = 8 };
  struct pacc_queue *queue = ((struct pacc_grid *)owner)->queue;
  pthread_mutex_lock(&queue->lock);
  if (queue->runs && pthread_equal(queue->runner, pthread_self()) &&
      queue->n_inside < MOST_INSIDE && !queue->status &&
      queue->end > queue->begin) {
    queue->n_inside++;
    run_first(queue, take_ready(queue));
    queue->n_inside--;
  }
  pthread_mutex_unlock(&queue->lock);
}

static void run_grid(struct pacc_queue *queue, struct pacc_stream *stream) {
  struct pacc_operation *operation = stream->first;
  struct pacc_grid *grid = calloc(1, sizeof(*grid));
  if (!grid) {
    pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for a launch");
    fail(queue, PACC_CPU_ERROR_OUT_OF_MEMORY);
    return;
  }
  grid->queue = queue;
  grid->operation = operation;
  if (stream->owner) {
    grid->depth = stream->owner->depth + !stream->is_tail;
    queue->n_pending--;
  }
  operation->work.owner = grid;
  operation->work.on_pause = step_inside;
  pthread_mutex_unlock(&queue->lock);
  int status = pacc_cpu_executor_run(queue->executor, &operation->work);
  pthread_mutex_lock(&queue->lock);
  if (status)
    fail(queue, status);
  grid->has_run = 1;
  complete(grid);
}

static void run_first(struct pacc_queue *queue, struct pacc_stream *stream) {
  struct pacc_operation *operation = stream->first;
  stream->busy = 1;
  queue->n_changes++;
  switch (operation->kind) {
  case PACC_OPERATION_GRID:
    run_grid(queue, stream);
    return;
  case PACC_OPERATION_CALL:
    pthread_mutex_unlock(&queue->lock);
    operation->function(operation->data);
    pthread_mutex_lock(&queue->lock);
    break;
  case PACC_OPERATION_MARK:
    mark_done(operation->mark);
    pacc_mark_release(operation->mark);
    break;
  case PACC_OPERATION_WAIT:
    pacc_mark_release(operation->mark);
    break;
  }
  complete(remove_first(stream));
}

/* Runs operations until `is_done` or nothing is left to run. */
static int run_until(struct pacc_queue *queue, int (*is_done)(const void *),
                     const void *what) {
  pthread_mutex_lock(&queue->turn);
  pthread_mutex_lock(&queue->lock);
  queue->runner = pthread_self();
  queue->runs = 1;
  struct pacc_stream *stream;
  while (!queue->status && !is_done(what) && (stream = pick(queue)))
    run_first(queue, stream);
  queue->runs = 0;
  int status = queue->status;
  if (status)
    pacc_cpu_fail(status, "%s", queue->detail);
  pthread_mutex_unlock(&queue->lock);
  pthread_mutex_unlock(&queue->turn);
  return status;
}

static int stream_is_done(const void *stream) {
  return !((const struct pacc_stream *)stream)->first;
}
static int mark_is_done(const void *mark) {
  return ((const struct pacc_mark *)mark)->done;
}
static int never(const void *what) {
  (void)what;
  return 0;
}
/* True from the second time on. */
static int once(const void *what) {
  int *n = *(int *const *)what;
  return (*n)++ != 0;
}

int pacc_queue_finish_stream(struct pacc_queue *queue,
                             struct pacc_stream *stream) {
  return run_until(queue, stream_is_done, stream);
}
int pacc_queue_finish_mark(struct pacc_queue *queue, struct pacc_mark *mark) {
  return run_until(queue, mark_is_done, mark);
}
int pacc_queue_finish(struct pacc_queue *queue) {
  return run_until(queue, never, NULL);
}
int pacc_queue_step(struct pacc_queue *queue) {
  int n = 0;
  int *const counter = &n;
  return run_until(queue, once, &counter);
}

int pacc_queue_is_idle(struct pacc_queue *queue, uint64_t *seen) {
  pthread_mutex_lock(&queue->lock);
  int idle = !queue->runs && queue->n_changes == *seen;
  int has_work = 0;
  for (const struct pacc_stream *s = queue->host_streams; s; s = s->next)
    has_work |= s->first != NULL;
  *seen = queue->n_changes;
  pthread_mutex_unlock(&queue->lock);
  return idle && has_work;
}
