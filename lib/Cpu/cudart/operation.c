/* operation.c: streams of the host, marks, and putting operations into streams.
 */
#include "queue_private.h"

#include "status.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(const char *what) {
  return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for %s", what);
}

/* -- Streams of the host -- */

struct pacc_stream *pacc_stream_create(struct pacc_queue *queue,
                                       enum pacc_stream_kind kind) {
  struct pacc_stream *stream = calloc(1, sizeof(*stream));
  if (!stream) {
    no_memory("a stream");
    return NULL;
  }
  stream->queue = queue;
  stream->kind = kind;
  pthread_mutex_lock(&queue->lock);
  stream->next = queue->host_streams;
  queue->host_streams = stream;
  pthread_mutex_unlock(&queue->lock);
  return stream;
}

void pacc_stream_release(struct pacc_stream *stream) {
  if (!stream->destroyed || stream->first)
    return;
  struct pacc_stream **link = &stream->queue->host_streams;
  while (!stream->owner && *link != stream)
    link = &(*link)->next;
  if (!stream->owner)
    *link = stream->next;
  free(stream);
}

void pacc_stream_destroy(struct pacc_stream *stream) {
  struct pacc_queue *queue = stream->queue;
  pthread_mutex_lock(&queue->lock);
  stream->destroyed = 1;
  pacc_stream_release(stream);
  pthread_mutex_unlock(&queue->lock);
}

enum pacc_stream_kind pacc_stream_kind(const struct pacc_stream *stream) {
  return stream->kind;
}

int pacc_stream_is_empty(struct pacc_queue *queue, struct pacc_stream *stream) {
  pthread_mutex_lock(&queue->lock);
  int empty = !stream->first;
  pthread_mutex_unlock(&queue->lock);
  return empty;
}

/* -- Marks -- */

void pacc_mark_release(struct pacc_mark *mark) {
  if (mark && --mark->users == 0)
    free(mark);
}

void pacc_mark_drop(struct pacc_mark *mark) {
  if (!mark)
    return;
  struct pacc_queue *queue = mark->queue;
  pthread_mutex_lock(&queue->lock);
  pacc_mark_release(mark);
  pthread_mutex_unlock(&queue->lock);
}

int pacc_mark_is_done(const struct pacc_mark *mark, double *when) {
  pthread_mutex_lock(&mark->queue->lock);
  int done = mark->done;
  if (when)
    *when = mark->when;
  pthread_mutex_unlock(&mark->queue->lock);
  return done;
}

/* -- Operations -- */

static struct pacc_operation *make(enum pacc_operation_kind kind, size_t size) {
  struct pacc_operation *operation =
      calloc(1, sizeof(struct pacc_operation) + size);
  if (operation)
    operation->kind = kind;
  else
    no_memory("an operation");
  return operation;
}

/* With the lock held. */
static void append(struct pacc_stream *stream,
                   struct pacc_operation *operation) {
  operation->stream = stream;
  operation->number = ++stream->queue->next_number;
  stream->queue->n_changes++;
  if (stream->first)
    stream->last->next = operation;
  else
    stream->first = operation;
  stream->last = operation;
  if (!stream->owner)
    return;
  if (!stream->is_tail)
    stream->owner->n_open++;
  pacc_queue_list(stream->queue, stream);
}

int pacc_stream_launch(struct pacc_stream *stream,
                       const struct pacc_cpu_work *work) {
  uint32_t size = work->kernel->params_size;
  struct pacc_queue *queue = stream->queue;
  struct pacc_operation *operation = make(PACC_OPERATION_GRID, size);
  if (!operation)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  operation->work = *work;
  operation->work.params = operation->data;
  if (size)
    memcpy(operation->data, work->params, size);
  pthread_mutex_lock(&queue->lock);
  int full = stream->owner && queue->n_pending >= queue->pending_limit;
  if (!full) {
    queue->n_pending += stream->owner != NULL;
    append(stream, operation);
  }
  pthread_mutex_unlock(&queue->lock);
  if (!full)
    return 0;
  free(operation);
  return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                       "more launches wait than the limit of %llu",
                       (unsigned long long)queue->pending_limit);
}

static int append_unlocked(struct pacc_stream *stream,
                           struct pacc_operation *operation) {
  pthread_mutex_lock(&stream->queue->lock);
  append(stream, operation);
  pthread_mutex_unlock(&stream->queue->lock);
  return 0;
}

int pacc_stream_call(struct pacc_stream *stream, void (*function)(void *data),
                     const void *data, size_t size) {
  struct pacc_operation *operation = make(PACC_OPERATION_CALL, size);
  if (!operation)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  operation->function = function;
  memcpy(operation->data, data, size);
  return append_unlocked(stream, operation);
}

int pacc_stream_mark(struct pacc_stream *stream, struct pacc_mark **result) {
  struct pacc_operation *operation = make(PACC_OPERATION_MARK, 0);
  struct pacc_mark *mark = operation ? calloc(1, sizeof(*mark)) : NULL;
  if (!mark) {
    free(operation);
    return no_memory("an event");
  }
  mark->queue = stream->queue;
  mark->users = 2; /* the operation's and the caller's */
  operation->mark = *result = mark;
  return append_unlocked(stream, operation);
}

int pacc_stream_wait(struct pacc_stream *stream, struct pacc_mark *mark) {
  struct pacc_operation *operation = make(PACC_OPERATION_WAIT, 0);
  if (!operation)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  operation->mark = mark;
  pthread_mutex_lock(&stream->queue->lock);
  mark->users++;
  append(stream, operation);
  pthread_mutex_unlock(&stream->queue->lock);
  return 0;
}
