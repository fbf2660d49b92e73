/* pool.c: memory for batches. */
#include "private.h"

#define TAG_BITS 24u

static uint64_t tag_of(uint64_t position, uint32_t units) {
  return position << TAG_BITS | units;
}

PACC_COLD struct pacc_batch *
pacc_batch_take(uint64_t records, struct pacc_room room, uint32_t most_blocks) {
  struct pacc_pool *pool = &__pacc_dev_pool;
  uint32_t start = PACC_BATCH_HEAD + room.common;
  uint64_t bytes = start + records * room.record;
  uint64_t units = (bytes + PACC_POOL_UNIT - 1) / PACC_POOL_UNIT;
  if (units > pool->mask + 1)
    return 0;
  if (pacc_load_u64(&pool->credit) < units)
    return 0;
  /* Credit goes below 0 for a moment when several ask for the last of it. */
  int64_t credit = (int64_t)pacc_add_u64(&pool->credit, -units);
  if (credit < (int64_t)units) {
    pacc_add_u64(&pool->credit, units);
    return 0;
  }
  uint64_t position = pacc_add_u64(&pool->head, units);
  pacc_fence();
  struct pacc_batch *batch =
      (struct pacc_batch *)(pool->data +
                            (position & pool->mask) * PACC_POOL_UNIT);
  batch->pool = pool;
  batch->data = pool->data;
  batch->mask = pool->mask;
  batch->position = position;
  batch->units = (uint32_t)units;
  batch->records = 0;
  batch->blocks = 0;
  batch->blocks_done = 0;
  batch->stride = room.record;
  batch->start = start;
  batch->most_blocks = most_blocks;
  return batch;
}

/* Whoever brings back the piece at the tail also passes the tail over the
 * pieces behind it. The full fence orders "my tag is written" before "I look
 * at the tail's tag": of two that come back at once, one sees both. */
PACC_COLD void pacc_batch_give(struct pacc_batch *batch) {
  struct pacc_pool *pool = batch->pool;
  uint64_t position = batch->position;
  uint64_t tag = tag_of(position, batch->units);
  pacc_fence();
  pacc_store_u64(&pool->tags[position & pool->mask], tag);
  for (;;) {
    __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, PACC_SCOPE);
    uint64_t tail = pacc_load_u64(&pool->tail);
    tag = pacc_load_u64(&pool->tags[tail & pool->mask]);
    uint32_t units = (uint32_t)tag & ((1u << TAG_BITS) - 1);
    if (units == 0 || tag != tag_of(tail, units))
      return;
    if (__scoped_atomic_compare_exchange_n(&pool->tail, &tail, tail + units, 0,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                           PACC_SCOPE)) {
      pacc_fence();
      pacc_add_u64(&pool->credit, units);
    }
  }
}
