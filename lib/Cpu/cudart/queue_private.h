/* queue_private.h: what queue.c (which operation runs), operation.c (putting
 * them into streams) and grid.c (streams of grids) share. */
#ifndef PACC_CUDART_QUEUE_PRIVATE_H
#define PACC_CUDART_QUEUE_PRIVATE_H

#include "queue.h"

#include <pthread.h>
#include <stdalign.h>

enum pacc_operation_kind {
  PACC_OPERATION_GRID,
  PACC_OPERATION_CALL,
  PACC_OPERATION_MARK,
  PACC_OPERATION_WAIT,
};

/* number   counts up over the queue
 * function of a call; its data lie in `data`, as do the parameters of a grid */
struct pacc_operation {
  struct pacc_operation *next;
  struct pacc_stream *stream;
  uint64_t number;
  enum pacc_operation_kind kind;
  struct pacc_mark *mark;
  void (*function)(void *data);
  struct pacc_cpu_work work;
  alignas(16) unsigned char data[];
};

/* owner      the grid whose stream it is, NULL for the host's
 * first      the oldest operation; it stays while it runs
 * busy       the oldest runs, or the grids that it launched do
 * listed     a grid's stream: it stands in the queue's list
 * destroyed  to be freed when it is empty
 * key        in the owner's table */
struct pacc_stream {
  struct pacc_queue *queue;
  struct pacc_grid *owner;
  struct pacc_operation *first, *last;
  enum pacc_stream_kind kind;
  int busy, listed, destroyed, is_tail;
  uint64_t key;
  struct pacc_stream
      *next; /* of the host's, or of those that wait for a mark */
};

struct pacc_mark {
  struct pacc_queue *queue;
  int users, done;
  double when;
  struct pacc_stream *waiting; /* streams of grids */
};

/* A grid that runs or whose children do.
 * n_open   operations in its streams, without the tail's
 * streams  table of streams by key, open addressing */
struct pacc_grid {
  struct pacc_queue *queue;
  struct pacc_operation *operation;
  uint32_t depth;
  int has_run, tail_begun;
  uint64_t n_open;
  struct pacc_stream *tail;
  struct pacc_stream **streams;
  size_t n_streams, capacity;
};

/* `ready` lists the streams of grids whose oldest operation may run: elements
 * [begin, end). `lock` protects all; `turn` is held by the host thread that
 * runs operations, one at a time. */
struct pacc_queue {
  struct pacc_cpu_executor *executor;
  uint64_t seed, random;
  pthread_mutex_t lock, turn;
  pthread_t runner;
  int runs;
  unsigned n_inside; /* grids that run within others */
  uint64_t next_number;
  uint64_t n_changes; /* operations that were queued or run */
  struct pacc_stream *legacy;
  struct pacc_stream *host_streams;
  struct pacc_stream **ready;
  size_t begin, end, capacity;
  uint64_t n_pending, pending_limit;
  int status;
  char detail[1024];
};

/* All with the lock held. */

/* Lists a grid's stream if its oldest operation may run. */
void pacc_queue_list(struct pacc_queue *queue, struct pacc_stream *stream);
/* Frees a stream that nobody can use any more. */
void pacc_stream_release(struct pacc_stream *stream);
void pacc_mark_release(struct pacc_mark *mark);

/* grid.c */
void pacc_grid_free(struct pacc_grid *grid);

#endif
