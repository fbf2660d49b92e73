/* queue.h: work in streams, and the order in which it runs.
 *
 * An operation is a grid, a function (a copy, say), a mark (an event) or a wait
 * for one. Operations of a stream run one after the other; a grid is over when
 * the grids that it launched are. Nothing runs before somebody waits (or the
 * host does nothing for long, progress.c): the
 * functions pacc_queue_finish_* take operations whose turn has come, in an
 * order that the seed picks, until what they wait for is done.
 *
 * Streams of the host: the legacy stream waits for all earlier work in blocking
 * streams, and their later work waits for it (CUDA Runtime API, stream
 * synchronization behavior). Streams of a grid (CUDA C++ Programming Guide,
 * dynamic parallelism): they begin when the grid has run, which is a schedule
 * that CUDA allows, or while one of its threads sleeps, or, with a seed,
 * between its blocks; what is in the tail stream runs when all others are
 * empty.
 *
 * All functions are safe to call from several threads, unless noted.
 */
#ifndef PACC_CUDART_QUEUE_H
#define PACC_CUDART_QUEUE_H

#include "exec.h"

#include <stddef.h>
#include <stdint.h>

struct pacc_queue;
struct pacc_stream;
struct pacc_mark;
struct pacc_grid;

enum pacc_stream_kind {
  PACC_STREAM_LEGACY,      /* there is one, made by pacc_queue_create */
  PACC_STREAM_BLOCKING,    /* in order with the legacy stream */
  PACC_STREAM_INDEPENDENT, /* cudaStreamNonBlocking */
};

/* NULL, with a detail, if memory is out. The executor must outlive it. */
struct pacc_queue *pacc_queue_create(struct pacc_cpu_executor *executor,
                                     uint64_t seed);

/* -- Streams -- */

struct pacc_stream *pacc_queue_legacy(struct pacc_queue *queue);
struct pacc_stream *pacc_stream_create(struct pacc_queue *queue,
                                       enum pacc_stream_kind kind);
/* What is in it still runs. */
void pacc_stream_destroy(struct pacc_stream *stream);
enum pacc_stream_kind pacc_stream_kind(const struct pacc_stream *stream);

/* Streams of a running grid, NULL if memory is out. `block` is the linear id of
 * the calling thread's block, `thread` its own. */
struct pacc_stream *pacc_grid_block_stream(struct pacc_grid *grid,
                                           uint64_t block);
struct pacc_stream *pacc_grid_thread_stream(struct pacc_grid *grid,
                                            uint64_t block, uint32_t thread);
struct pacc_stream *pacc_grid_tail_stream(struct pacc_grid *grid);
/* A stream of its own: destroyed at once after its only operation, it stands
 * for fire and forget. */
struct pacc_stream *pacc_grid_new_stream(struct pacc_grid *grid);
/* How many grids have launched each other down to this one, 0 for the host's;
 * tail launches do not count. */
uint32_t pacc_grid_depth(const struct pacc_grid *grid);
struct pacc_queue *pacc_grid_queue(const struct pacc_grid *grid);

/* -- Operations. All return a status of the CPU device. -- */

/* A grid; the parameters are copied, the owner is the queue's to set. Launches
 * of grids beyond the limit of those that wait return
 * PACC_CPU_ERROR_OUT_OF_MEMORY. */
int pacc_stream_launch(struct pacc_stream *stream,
                       const struct pacc_cpu_work *work);
/* A call of `function` with a copy of `size` bytes of `data`. */
int pacc_stream_call(struct pacc_stream *stream, void (*function)(void *data),
                     const void *data, size_t size);
/* A mark that is done when all that is in the stream is; *mark is to be given
 * back with pacc_mark_drop. */
int pacc_stream_mark(struct pacc_stream *stream, struct pacc_mark **mark);
/* What is put into the stream from now on waits for the mark. */
int pacc_stream_wait(struct pacc_stream *stream, struct pacc_mark *mark);

/* Whether a mark is done, and then when: seconds of the monotonic clock. */
int pacc_mark_is_done(const struct pacc_mark *mark, double *when);
void pacc_mark_drop(struct pacc_mark *mark);

/* -- Running -- */

/* Run until the stream, everything, or the mark is done. They return the
 * queue's status: that of the first grid that failed. From then on nothing
 * runs. Not to be called from device functions. */
int pacc_queue_finish_stream(struct pacc_queue *queue,
                             struct pacc_stream *stream);
int pacc_queue_finish(struct pacc_queue *queue);
int pacc_queue_finish_mark(struct pacc_queue *queue, struct pacc_mark *mark);

/* Runs one operation, so that programs that ask again and again get on.
 * pacc_stream_is_empty then says whether a stream is done. */
int pacc_queue_step(struct pacc_queue *queue);
int pacc_stream_is_empty(struct pacc_queue *queue, struct pacc_stream *stream);

/* Whether there is work, nothing runs, and nothing has changed since the call
 * that stored *seen. */
int pacc_queue_is_idle(struct pacc_queue *queue, uint64_t *seen);

/* Most launches by grids that wait to begin. */
void pacc_queue_set_pending(struct pacc_queue *queue, uint64_t limit);
uint64_t pacc_queue_pending(const struct pacc_queue *queue);

#endif
