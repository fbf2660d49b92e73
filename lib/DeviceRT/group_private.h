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

PACC_INLINE void pacc_atomic_max(uint32_t *at, uint32_t value) {
  __scoped_atomic_fetch_max(at, value, __ATOMIC_RELAXED, PACC_SCOPE);
}

/* Number of a record in its slot, and the blocks of those before it. */
struct pacc_place {
  uint64_t index;
  uint32_t first;
};

/* Places for one record of each lane of `mask`, which has so many blocks: a
 * scan over all threads of the group, in the order in which warps come. The
 * slot keeps sums, and maxima of `threads` and `shared`. A slot with `capacity`
 * records gives no places that count. */
PACC_INLINE struct pacc_place pacc_slot_place(struct pacc_slot *slot,
                                              uint32_t capacity, uint32_t mask,
                                              uint32_t blocks, uint32_t threads,
                                              uint32_t shared) {
  uint32_t leader = pacc_lane_first(mask);
  uint32_t end = pacc_lanes_scan(mask, blocks);
  uint32_t total = pacc_lane_u32(mask, end, pacc_lane_last(mask));
  threads = pacc_lanes_max(mask, threads);
  shared = pacc_lanes_max(mask, shared);
  uint64_t filled = 0;
  if (__gpu_lane_id() == leader) {
    uint64_t count = pacc_lanes_count(mask);
    /* All at once, so that they wait for memory only once. */
    filled = pacc_load_u64(&slot->filled);
    uint32_t most_threads = pacc_load_u32(&slot->threads);
    uint32_t most_shared = pacc_load_u32(&slot->shared);
    if (filled >> PACC_FILLED_BITS < capacity)
      filled = pacc_add_u64(&slot->filled, count << PACC_FILLED_BITS | total);
    if (most_threads < threads)
      pacc_atomic_max(&slot->threads, threads);
    if (most_shared < shared)
      pacc_atomic_max(&slot->shared, shared);
  }
  filled = pacc_lane_u64(mask, filled, leader);
  struct pacc_place place = {(filled >> PACC_FILLED_BITS) +
                                 pacc_lanes_count(pacc_lanes_below(mask)),
                             (uint32_t)filled + end - blocks};
  return place;
}

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

PACC_INLINE void pacc_slot_clear(struct pacc_slot *slot) {
  slot->filled = 0;
  slot->batch = 0;
  slot->threads = 0;
  slot->shared = 0;
  slot->apart = 0;
}

/* All lanes of `mask` have valid launches, and the slot has memory. Records
 * beyond its capacity go out at once; then all later ones do. */
void pacc_slot_record(struct pacc_slot *slot, uint32_t capacity,
                      const struct pacc_launch *launch, uint32_t mask);

/* Completes the batch of a slot: what its records add up to. */
void pacc_slot_close(struct pacc_slot *slot, uint32_t capacity);

/* Sends a batch of a block, or leaves it to the end of the grid if CUDA has no
 * room for it and it may wait. */
void pacc_batch_send_or_defer(struct pacc_batch *batch);

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
