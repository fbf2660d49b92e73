/* pool_private.h: blocks of device memory or of pinned host memory that are
 * kept for the next region, since allocating either costs milliseconds.
 */
#ifndef PACC_POOL_PRIVATE_H
#define PACC_POOL_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Where the pool's memory comes from. `tag` is the source's own note on a
 * block. alloc returns 0 or a status that pacc_pool_take passes on. */
struct pacc_pool_source {
  int (*alloc)(void *context, uint64_t size, uint64_t *address, int *tag);
  void (*free)(void *context, uint64_t address, int tag);
};

/* A block is in use, or in two lists of its pool: of its size class, and of
 * all free blocks by age.
 * address, size  bytes
 * keep           whether size is that of a class, and the block may be kept
 */
struct pacc_block {
  uint64_t address;
  uint64_t size;
  int tag;
  bool keep;
  struct pacc_block *class_next, *class_previous;
  struct pacc_block *newer, *older;
};

/* Size classes: PACC_POOL_STEPS for each power of two, so that at most that
 * part of a block is lost. The smallest is PACC_POOL_GRAIN bytes. */
enum {
  PACC_POOL_GRAIN = 256,
  PACC_POOL_STEPS = 32,
  PACC_POOL_CLASSES = 64 * PACC_POOL_STEPS
};

/* limit   bytes of free blocks that are kept
 * exact   no size classes and nothing is kept: the source sees the size asked
 *         for, and an access beyond it can be noticed
 * cached  bytes in free blocks; used: bytes in blocks that are in use
 * abandoned  blocks that are never touched again */
struct pacc_pool {
  const struct pacc_pool_source *source;
  void *context;
  uint64_t limit;
  bool exact;
  pthread_mutex_t lock;
  uint64_t cached, used;
  struct pacc_block *newest, *oldest, *abandoned;
  struct pacc_block *classes[PACC_POOL_CLASSES];
};

/* Status of take when the host has no memory for the block's description;
 * every other status is the source's. */
enum { PACC_POOL_NO_HOST_MEMORY = -1000 };

void pacc_pool_init(struct pacc_pool *pool,
                    const struct pacc_pool_source *source, void *context,
                    uint64_t limit, bool exact);

/* Gives a block of at least size > 0 bytes. If the source has none, all free
 * blocks are returned to it and it is asked again, at last for no more than
 * size bytes. */
int pacc_pool_take(struct pacc_pool *pool, uint64_t size,
                   struct pacc_block **block);

/* Takes a block back that nothing uses any more; the oldest free blocks
 * beyond the limit go back to the source. */
void pacc_pool_give(struct pacc_pool *pool, struct pacc_block *block);

/* Forgets a block that a lost device may still be writing to: its memory is
 * neither used again nor freed. */
void pacc_pool_abandon(struct pacc_pool *pool, struct pacc_block *block);

/* Returns the oldest free blocks to the source until at most `keep` bytes
 * remain; gives the number of bytes returned. */
uint64_t pacc_pool_trim(struct pacc_pool *pool, uint64_t keep);

/* The size of the class that holds blocks of `size` > 0 bytes; 0 if that
 * does not fit 64 bits. */
uint64_t pacc_pool_class_size(uint64_t size);

#endif
