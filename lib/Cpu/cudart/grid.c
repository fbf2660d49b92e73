/* grid.c: the streams of a running grid, by block, thread, or handle. */
#include "queue_private.h"

#include "device_abi.h"
#include "random.h"

#include <stdlib.h>

uint32_t pacc_grid_depth(const struct pacc_grid *grid) { return grid->depth; }

struct pacc_queue *pacc_grid_queue(const struct pacc_grid *grid) {
  return grid->queue;
}

static struct pacc_stream *make_stream(struct pacc_grid *grid) {
  struct pacc_stream *stream = calloc(1, sizeof(*stream));
  if (stream) {
    stream->queue = grid->queue;
    stream->owner = grid;
    stream->kind = PACC_STREAM_INDEPENDENT;
  }
  return stream;
}

/* The place of a key in a table that is never full: its stream, or NULL. */
static struct pacc_stream **find_place(struct pacc_stream **table,
                                       size_t capacity, uint64_t key) {
  size_t i = pacc_mix(key) & (capacity - 1);
  while (table[i] && table[i]->key != key)
    i = (i + 1) & (capacity - 1);
  return &table[i];
}

static int grow(struct pacc_grid *grid) {
  size_t capacity = grid->capacity ? 2 * grid->capacity : 16;
  struct pacc_stream **table = calloc(capacity, sizeof(struct pacc_stream *));
  if (!table)
    return -1;
  for (size_t i = 0; i < grid->capacity; i++)
    if (grid->streams[i])
      *find_place(table, capacity, grid->streams[i]->key) = grid->streams[i];
  free(grid->streams);
  grid->streams = table;
  grid->capacity = capacity;
  return 0;
}

static struct pacc_stream *find_stream(struct pacc_grid *grid, uint64_t key) {
  struct pacc_stream *stream = NULL;
  pthread_mutex_lock(&grid->queue->lock);
  if (2 * grid->n_streams < grid->capacity || !grow(grid)) {
    struct pacc_stream **place = find_place(grid->streams, grid->capacity, key);
    if (!*place && (*place = make_stream(grid))) {
      (*place)->key = key;
      grid->n_streams++;
    }
    stream = *place;
  }
  pthread_mutex_unlock(&grid->queue->lock);
  return stream;
}

/* Keys: a block's own stream, then one for each of its threads. */
enum { STREAMS_OF_BLOCK = PACC_CPU_MAX_THREADS + 1 };

struct pacc_stream *pacc_grid_block_stream(struct pacc_grid *grid,
                                           uint64_t block) {
  return find_stream(grid, block * STREAMS_OF_BLOCK);
}

struct pacc_stream *pacc_grid_thread_stream(struct pacc_grid *grid,
                                            uint64_t block, uint32_t thread) {
  return find_stream(grid, block * STREAMS_OF_BLOCK + 1 + thread);
}

struct pacc_stream *pacc_grid_tail_stream(struct pacc_grid *grid) {
  pthread_mutex_lock(&grid->queue->lock);
  if (!grid->tail && (grid->tail = make_stream(grid)))
    grid->tail->is_tail = 1;
  struct pacc_stream *tail = grid->tail;
  pthread_mutex_unlock(&grid->queue->lock);
  return tail;
}

struct pacc_stream *pacc_grid_new_stream(struct pacc_grid *grid) {
  return make_stream(grid);
}

/* Its streams are empty. */
void pacc_grid_free(struct pacc_grid *grid) {
  for (size_t i = 0; i < grid->capacity; i++)
    free(grid->streams[i]);
  free(grid->streams);
  free(grid->tail);
  free(grid);
}
