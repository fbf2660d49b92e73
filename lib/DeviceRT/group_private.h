/* group_private.h: the state of a group, for group.c and grid.c. */
#ifndef PACC_DEVICE_GROUP_PRIVATE_H
#define PACC_DEVICE_GROUP_PRIVATE_H

#include "private.h"

/* Launches of one place in the source.
 * filled   of a grid: records << 40 | blocks. Both grow in one atomic, so that
 *          records stand in the order of their first blocks
 * packed   of a block: records << 21 | blocks, since atomics of 64 bits are
 *          loops of compare-and-swap in shared memory
 * threads, shared   the largest of the records'
 * apart    some record is too large to be merged
 */
struct pacc_slot {
  union {
    uint64_t filled;
    uint32_t packed;
  };
  struct pacc_batch *batch;
  uint32_t threads;
  uint32_t shared;
  uint32_t apart;
};

enum pacc_slot_owner { PACC_OF_BLOCK, PACC_OF_GRID };

/* The low bits of the counts. */
PACC_INLINE uint32_t pacc_filled_bits(enum pacc_slot_owner owner) {
  return owner == PACC_OF_BLOCK ? 21 : 40;
}

/* No slot has room for more records. The count of those that ask for a place
 * goes beyond it by what runs at once, and stays in its bits: in a block that
 * is fewer than 2048 in all, and so the blocks stay in theirs. */
#define PACC_MOST_RECORDS (1u << 23)
_Static_assert(2047 * PACC_MAX_BLOCKS_IN_BLOCK < 1u << 21, "counts overlap");

PACC_INLINE uint64_t pacc_slot_filled(const struct pacc_slot *slot,
                                      enum pacc_slot_owner owner) {
  return owner == PACC_OF_BLOCK ? pacc_load_u32(&slot->packed)
                                : pacc_load_u64(&slot->filled);
}

/* Returns the counts before. */
PACC_INLINE uint64_t pacc_slot_fill(struct pacc_slot *slot,
                                    enum pacc_slot_owner owner,
                                    uint32_t records, uint32_t blocks) {
  uint64_t more = (uint64_t)records << pacc_filled_bits(owner) | blocks;
  return owner == PACC_OF_BLOCK ? pacc_add_u32(&slot->packed, (uint32_t)more)
                                : pacc_add_u64(&slot->filled, more);
}

PACC_INLINE void pacc_atomic_max(uint32_t *at, uint32_t value) {
  __scoped_atomic_fetch_max(at, value, __ATOMIC_RELAXED, PACC_SCOPE);
}

/* Number of a record in its slot, and the blocks of those before it. */
struct pacc_place {
  uint64_t index;
  uint32_t first;
};

/* Places for one record of each lane of `mask`: a scan over all threads of the
 * group that record, in the order in which warps come and not in that of
 * threads. The slot keeps sums and maxima. A slot with `capacity` records gives
 * no places that count. */
PACC_INLINE struct pacc_place pacc_slot_place(struct pacc_slot *slot,
                                              uint32_t capacity,
                                              enum pacc_slot_owner owner,
                                              uint32_t mask,
                                              struct pacc_extent own) {
  /* Memory answers while the lanes add up. Nobody has more than one launch on
   * its way, so what is read too early matters as little as what is read just
   * before others add. */
  uint64_t filled = pacc_slot_filled(slot, owner);
  uint32_t most_threads = pacc_load_u32(&slot->threads);
  uint32_t most_shared = pacc_load_u32(&slot->shared);
  uint32_t leader = pacc_lane_last(mask);
  uint32_t bits = pacc_filled_bits(owner);
  struct pacc_extent end = pacc_lanes_extent(mask, own);
  if (__gpu_lane_id() == leader) {
    if (filled >> bits < capacity)
      filled = pacc_slot_fill(slot, owner, pacc_lanes_count(mask), end.blocks);
    if (most_threads < end.threads)
      pacc_atomic_max(&slot->threads, end.threads);
    if (most_shared < end.shared)
      pacc_atomic_max(&slot->shared, end.shared);
  }
  filled = owner == PACC_OF_BLOCK
               ? pacc_lane_u32(mask, (uint32_t)filled, leader)
               : pacc_lane_u64(mask, filled, leader);
  uint32_t before = (uint32_t)(filled & ((UINT64_C(1) << bits) - 1));
  struct pacc_place place = {(filled >> bits) +
                                 pacc_lanes_count(pacc_lanes_below(mask)),
                             before + end.blocks - own.blocks};
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
                      enum pacc_slot_owner owner,
                      const struct pacc_launch *launch, uint32_t mask);

/* Completes the batch of a slot: what its records add up to. */
void pacc_slot_close(struct pacc_slot *slot, uint32_t capacity,
                     enum pacc_slot_owner owner);

PACC_INLINE uint32_t pacc_most_blocks(enum pacc_slot_owner owner) {
  return owner == PACC_OF_BLOCK ? PACC_MAX_BLOCKS_IN_BLOCK : PACC_MAX_BLOCKS;
}

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
