/* group_private.h: the state of a group, for group.c and grid.c. */
#ifndef PACC_DEVICE_GROUP_PRIVATE_H
#define PACC_DEVICE_GROUP_PRIVATE_H

#include "private.h"

/* Launches of one place in the source.
 * filled   records << PACC_FILLED_BITS | blocks. Both grow in one atomic, so
 *          that records stand in the order of their first blocks
 * threads, shared   the largest of the records'
 * apart    some record is too large to be merged
 */
struct pacc_slot {
  uint64_t filled;
  struct pacc_batch *batch;
  uint32_t threads;
  uint32_t shared;
  uint32_t apart;
};

#define PACC_FILLED_BITS 40u

/* No slot has room for more records. The count of those that ask for a place
 * goes beyond it by what runs at once, and stays in its bits. */
#define PACC_MOST_RECORDS (1u << 23)

enum {
  PACC_GROUP_NEW = 0,
  PACC_GROUP_BUSY,
  PACC_GROUP_READY,
  PACC_GROUP_WITHOUT_MEMORY
};

#define PACC_LEFT_BITS 48u

/* key        0 in free entries of the grid table
 * left       threads that have finished, in the low PACC_LEFT_BITS, and the
 *            grid's number above them
 * state      of the slots' memory
 * capacity   records that every slot has room for
 * lock       of the list of batches left to the end of the grid
 * deferring  PACC_LATER or PACC_LATER_ALL: the most that one of them asked for
 */
struct pacc_group {
  uint64_t key;
  uint64_t left;
  uint32_t state;
  uint32_t capacity;
  struct pacc_batch *first;
  struct pacc_batch *last;
  uint32_t lock;
  uint32_t deferring;
  struct pacc_slot slots[PACC_SLOTS];
};

void pacc_group_clear(struct pacc_group *group);

PACC_INLINE uint32_t pacc_block_threads(void) {
  return __gpu_num_threads_x() * __gpu_num_threads_y() * __gpu_num_threads_z();
}

/* Real threads, of an aggregated grid too. */
PACC_INLINE uint64_t pacc_grid_threads(void) {
  return (uint64_t)__gpu_num_blocks_x() * __gpu_num_blocks_y() *
         __gpu_num_blocks_z() * pacc_block_threads();
}

PACC_INLINE uint32_t pacc_try_lock(uint32_t *lock) {
  uint32_t expected = 0;
  uint32_t mine = __scoped_atomic_compare_exchange_n(
      lock, &expected, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, PACC_SCOPE);
  pacc_fence();
  return mine;
}

PACC_INLINE void pacc_unlock(uint32_t *lock) {
  pacc_fence();
  pacc_store_u32(lock, 0);
}

#endif
