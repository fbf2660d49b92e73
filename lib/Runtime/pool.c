/* pool.c: size classes and reuse of device and pinned memory. */
#include "pool_private.h"

#include <stdlib.h>

void pacc_pool_init(struct pacc_pool *pool,
                    const struct pacc_pool_source *source, void *context,
                    uint64_t limit, bool exact) {
  *pool = (struct pacc_pool){
      .source = source, .context = context, .limit = limit, .exact = exact};
  pthread_mutex_init(&pool->lock, NULL);
}

static unsigned log2_floor(uint64_t value) {
  return 63u - (unsigned)__builtin_clzll(value);
}

/* log2 of PACC_POOL_STEPS, and sizes up to which classes are multiples of the
 * grain. */
enum { LOG_STEPS = 5, SMALL = PACC_POOL_STEPS * PACC_POOL_GRAIN };

uint64_t pacc_pool_class_size(uint64_t size) {
  uint64_t step = PACC_POOL_GRAIN;
  if (size > SMALL)
    step = (uint64_t)1 << (log2_floor(size - 1) - LOG_STEPS);
  if (size > UINT64_MAX - step)
    return 0;
  return (size + step - 1) & ~(step - 1);
}

/* The index of a class by its size; larger classes have larger indices. */
static unsigned class_index(uint64_t class_size) {
  if (class_size < SMALL)
    return (unsigned)(class_size / PACC_POOL_GRAIN);
  unsigned log = log2_floor(class_size);
  unsigned step = (unsigned)(class_size >> (log - LOG_STEPS));
  return (log - log2_floor(SMALL)) * PACC_POOL_STEPS + step;
}

static void unlink_block(struct pacc_pool *pool, struct pacc_block *block) {
  if (block->class_previous)
    block->class_previous->class_next = block->class_next;
  else
    pool->classes[class_index(block->size)] = block->class_next;
  if (block->class_next)
    block->class_next->class_previous = block->class_previous;
  if (block->newer)
    block->newer->older = block->older;
  else
    pool->newest = block->older;
  if (block->older)
    block->older->newer = block->newer;
  else
    pool->oldest = block->newer;
  pool->cached -= block->size;
}

static void link_block(struct pacc_pool *pool, struct pacc_block *block) {
  struct pacc_block **head = &pool->classes[class_index(block->size)];
  block->class_previous = NULL;
  block->class_next = *head;
  if (*head)
    (*head)->class_previous = block;
  *head = block;
  block->newer = NULL;
  block->older = pool->newest;
  if (pool->newest)
    pool->newest->newer = block;
  else
    pool->oldest = block;
  pool->newest = block;
  pool->cached += block->size;
}

/* A free block of the class, or of the next four larger ones. */
static struct pacc_block *find_free(struct pacc_pool *pool,
                                    uint64_t class_size) {
  unsigned first = class_index(class_size);
  for (unsigned i = first; i < first + 5 && i < PACC_POOL_CLASSES; i++)
    if (pool->classes[i])
      return pool->classes[i];
  return NULL;
}

/* A new block of `size` bytes; where there is no room for that much, of the
 * `least` bytes that are needed. */
static int take_new(struct pacc_pool *pool, uint64_t size, uint64_t least,
                    struct pacc_block **block) {
  struct pacc_block *made = calloc(1, sizeof *made);
  if (!made)
    return PACC_POOL_NO_HOST_MEMORY;
  const struct pacc_pool_source *source = pool->source;
  made->size = size;
  made->keep = !pool->exact && size <= pool->limit;
  int status = source->alloc(pool->context, size, &made->address, &made->tag);
  if (status && pacc_pool_trim(pool, 0))
    status = source->alloc(pool->context, size, &made->address, &made->tag);
  if (status && least < size) {
    made->size = least;
    made->keep = false;
    status = source->alloc(pool->context, least, &made->address, &made->tag);
  }
  if (status) {
    free(made);
    return status;
  }
  pthread_mutex_lock(&pool->lock);
  pool->used += made->size;
  pthread_mutex_unlock(&pool->lock);
  *block = made;
  return 0;
}

int pacc_pool_take(struct pacc_pool *pool, uint64_t size,
                   struct pacc_block **block) {
  uint64_t class_size = pool->exact ? 0 : pacc_pool_class_size(size);
  if (!class_size)
    return take_new(pool, size, size, block);
  pthread_mutex_lock(&pool->lock);
  struct pacc_block *found = find_free(pool, class_size);
  if (found) {
    unlink_block(pool, found);
    pool->used += found->size;
  }
  pthread_mutex_unlock(&pool->lock);
  if (!found)
    return take_new(pool, class_size, size, block);
  *block = found;
  return 0;
}

static void return_to_source(struct pacc_pool *pool, struct pacc_block *block) {
  pool->source->free(pool->context, block->address, block->tag);
  free(block);
}

void pacc_pool_give(struct pacc_pool *pool, struct pacc_block *block) {
  bool keep = block->keep;
  pthread_mutex_lock(&pool->lock);
  pool->used -= block->size;
  if (keep)
    link_block(pool, block);
  pthread_mutex_unlock(&pool->lock);
  if (keep)
    pacc_pool_trim(pool, pool->limit);
  else
    return_to_source(pool, block);
}

void pacc_pool_abandon(struct pacc_pool *pool, struct pacc_block *block) {
  pthread_mutex_lock(&pool->lock);
  pool->used -= block->size;
  block->class_next = pool->abandoned;
  pool->abandoned = block;
  pthread_mutex_unlock(&pool->lock);
}

uint64_t pacc_pool_trim(struct pacc_pool *pool, uint64_t keep) {
  /* Freeing may wait for the device: not under the lock. */
  struct pacc_block *victims = NULL;
  uint64_t bytes = 0;
  pthread_mutex_lock(&pool->lock);
  while (pool->cached > keep) {
    struct pacc_block *block = pool->oldest;
    unlink_block(pool, block);
    block->class_next = victims;
    victims = block;
    bytes += block->size;
  }
  pthread_mutex_unlock(&pool->lock);
  while (victims) {
    struct pacc_block *block = victims;
    victims = block->class_next;
    return_to_source(pool, block);
  }
  return bytes;
}
