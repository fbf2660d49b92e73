/* group.c: records that wait until all threads of their group have finished.
 *
 * A group is one block (its state is in shared memory) or one grid (its state
 * is in a table, found by the hardware's grid number). The first record takes
 * memory for as many records as the group has threads, for every slot at
 * once: so a thread's launches are all merged or all go out at once, and
 * their order stays. With one slot there is no order, so less memory will do.
 * Launches that have no order may come more than once, in a loop.
 * Nobody waits for threads that are not on their way; the thread that finishes
 * last launches.
 */
#include "group_private.h"

static __gpu_local struct pacc_group block_group
    __attribute__((loader_uninitialized));

static struct pacc_group *block_group_of(void) {
  return (struct pacc_group *)&block_group;
}

void pacc_group_clear(struct pacc_group *group) {
  group->left = 0;
  group->state = PACC_GROUP_NEW;
  group->first = 0;
  group->last = 0;
  group->lock = 0;
  group->deferring = 0;
  for (uint32_t i = 0; i < PACC_SLOTS; ++i)
    pacc_slot_clear(&group->slots[i]);
}

void __pacc_dev_block_begin(void) {
  if ((__gpu_thread_id_x() | __gpu_thread_id_y() | __gpu_thread_id_z()) == 0)
    pacc_group_clear(block_group_of());
  __gpu_sync_threads();
}

/* Memory for `capacity` records in every slot, or nothing. */
static uint32_t group_take(struct pacc_group *group, uint64_t capacity,
                           enum pacc_slot_owner owner, uint32_t slots,
                           const struct pacc_room *rooms) {
  for (uint32_t done = 0; done < slots; ++done) {
    struct pacc_batch *batch =
        pacc_batch_take(capacity, rooms[done], pacc_most_blocks(owner));
    if (!batch) {
      while (done-- > 0)
        pacc_batch_give(group->slots[done].batch);
      return PACC_GROUP_WITHOUT_MEMORY;
    }
    group->slots[done].batch = batch;
  }
  group->capacity = (uint32_t)capacity;
  return PACC_GROUP_READY;
}

/* A group of one slot leaves half of the pool to others. */
static uint64_t group_wish(uint64_t threads, uint32_t slots,
                           const struct pacc_room *rooms) {
  uint32_t half = (uint32_t)((__pacc_dev_pool.mask + 1) * (PACC_POOL_UNIT / 2));
  uint32_t record = rooms[0].record;
  return slots == 1 && threads * record > half ? half / record : threads;
}

PACC_COLD static uint32_t group_prepare(struct pacc_group *group,
                                        uint64_t threads,
                                        enum pacc_slot_owner owner,
                                        uint32_t slots,
                                        const struct pacc_room *rooms) {
  uint32_t expected = PACC_GROUP_NEW;
  uint32_t state = pacc_load_u32(&group->state);
  if (state == PACC_GROUP_NEW &&
      __scoped_atomic_compare_exchange_n(&group->state, &expected,
                                         PACC_GROUP_BUSY, 0, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED, PACC_SCOPE)) {
    uint64_t wish = group_wish(threads, slots, rooms);
    state = PACC_GROUP_WITHOUT_MEMORY;
    if (wish <= PACC_MOST_RECORDS)
      state = group_take(group, wish, owner, slots, rooms);
    while (state != PACC_GROUP_READY && slots == 1 && wish > 32) {
      wish /= 2;
      state = group_take(group, wish, owner, slots, rooms);
    }
    pacc_fence();
    pacc_store_u32(&group->state, state);
  }
  while (state < PACC_GROUP_READY)
    state = pacc_load_u32(&group->state);
  pacc_fence();
  return state;
}

void pacc_slot_record(struct pacc_slot *slot, uint32_t capacity,
                      enum pacc_slot_owner owner,
                      const struct pacc_launch *launch, uint32_t mask) {
  struct pacc_extent own = {0, 0, 0};
  own.blocks = pacc_launch_blocks(launch, pacc_most_blocks(owner));
  if (own.blocks) {
    own.threads = pacc_launch_threads(launch);
    own.shared = launch->shared;
  } else {
    pacc_store_u32(&slot->apart, 1);
  }
  struct pacc_place place = pacc_slot_place(slot, capacity, owner, mask, own);
  if (place.index < capacity)
    pacc_record_write(pacc_batch_record(slot->batch, place.index), launch,
                      place.first);
  else
    __pacc_dev_launch_warp(launch);
}

static void group_record(struct pacc_group *group, uint64_t threads,
                         enum pacc_slot_owner owner,
                         const struct pacc_launch *launch, uint32_t slot,
                         uint32_t slots, const struct pacc_room *rooms,
                         uint32_t mask) {
  uint32_t leader = pacc_lane_first(mask);
  uint32_t state = 0;
  if (__gpu_lane_id() == leader)
    state = group_prepare(group, threads, owner, slots, rooms);
  state = pacc_lane_u32(mask, state, leader);
  uint32_t same = pacc_lanes_alike(mask, slot);
  uint32_t valid = pacc_launch_is_valid(launch);
  uint32_t takers = pacc_lanes_where(same, valid);
  if (state != PACC_GROUP_READY)
    __pacc_dev_launch_warp(launch);
  else if (valid)
    pacc_slot_record(&group->slots[slot], group->capacity, owner, launch,
                     takers);
}

void __pacc_dev_block_record(const struct pacc_launch *launch, uint32_t slot,
                             uint32_t slots, const struct pacc_room *rooms) {
  group_record(block_group_of(), pacc_block_threads(), PACC_OF_BLOCK, launch,
               slot, slots, rooms, pacc_lanes());
}

static struct pacc_group *grid_group_by(uint32_t mask) {
  uint32_t leader = pacc_lane_first(mask);
  struct pacc_group *group = 0;
  if (__gpu_lane_id() == leader)
    group = pacc_grid_group();
  return pacc_lane_ptr(mask, group, leader);
}

void __pacc_dev_grid_record(const struct pacc_launch *launch, uint32_t slot,
                            uint32_t slots, const struct pacc_room *rooms) {
  uint32_t mask = pacc_lanes();
  group_record(grid_group_by(mask), pacc_grid_threads(), PACC_OF_GRID, launch,
               slot, slots, rooms, mask);
}

/* True if these are the last of the group's threads. Those that asked for
 * launches have fenced; from here on what they wrote is visible, to children
 * too. */
static uint32_t group_count(struct pacc_group *group, uint64_t count,
                            uint64_t threads) {
  uint64_t left = pacc_add_u64(&group->left, count) + count;
  if ((left & ((UINT64_C(1) << PACC_LEFT_BITS) - 1)) != threads)
    return 0;
  pacc_fence();
  return 1;
}

/* One lane counts those that are here. After calls, threads of a warp come here
 * in several parts, though the assembler takes the warp to be whole at the end
 * of a kernel: so nothing stands between asking who is here and counting, and
 * no lane does anything for another. */
static uint32_t group_leave(struct pacc_group *group, uint64_t threads) {
  uint32_t mask = pacc_lanes();
  if (__gpu_lane_id() != pacc_lane_first(mask))
    return 0;
  return group_count(group, pacc_lanes_count(mask), threads);
}

enum { NOT_LAST = 0, LAST_PENDED_NOTHING, LAST };

uint32_t __pacc_dev_block_meet(uint32_t pended) {
  uint32_t result = pacc_barrier_any(0, pended) ? LAST : LAST_PENDED_NOTHING;
  uint32_t thread =
      __gpu_thread_id_x() | __gpu_thread_id_y() | __gpu_thread_id_z();
  return thread == 0 ? result : NOT_LAST;
}

uint32_t __pacc_dev_block_leave(void) {
  __nvvm_membar_cta();
  return group_leave(block_group_of(), pacc_block_threads()) ? LAST : NOT_LAST;
}

/* The fence publishes what the block's other threads wrote, too: they came
 * before this one. */
uint32_t __pacc_dev_block_leaves_grid(uint32_t left) {
  struct pacc_group *group = pacc_grid_entry();
  if (left != LAST_PENDED_NOTHING)
    pacc_fence();
  return group_count(group, pacc_block_threads(), pacc_grid_threads());
}

uint32_t __pacc_dev_grid_leave(uint32_t pended) {
  struct pacc_group *group = pacc_grid_entry();
  if (pended)
    pacc_fence();
  return group_leave(group, pacc_grid_threads());
}

void pacc_slot_close(struct pacc_slot *slot, uint32_t capacity,
                     enum pacc_slot_owner owner) {
  struct pacc_batch *batch = slot->batch;
  batch->threads = pacc_load_u32(&slot->threads);
  batch->shared = pacc_load_u32(&slot->shared);
  batch->apart = pacc_load_u32(&slot->apart);
  uint32_t bits = pacc_filled_bits(owner);
  uint64_t filled = pacc_slot_filled(slot, owner);
  uint64_t blocks = filled & ((UINT64_C(1) << bits) - 1);
  uint64_t records = filled >> bits;
  if (records > capacity) {
    records = capacity;
    uint32_t last = capacity - 1;
    struct pacc_launch launch_of_last = pacc_record_read(batch, last);
    /* A record has only the low half of a sum that is too large anyway. */
    if (blocks <= UINT32_MAX)
      blocks =
          pacc_batch_record(batch, last)->first +
          (uint64_t)pacc_launch_blocks(&launch_of_last, batch->most_blocks);
  }
  batch->records = (uint32_t)records;
  batch->blocks = blocks > PACC_MAX_GRID ? UINT32_MAX : (uint32_t)blocks;
}

/* The records of a slot as a batch. */
static struct pacc_batch *slot_batch(const struct pacc_group *group,
                                     struct pacc_slot *slot,
                                     enum pacc_slot_owner owner,
                                     const struct pacc_launch *launch) {
  pacc_batch_describe(slot->batch, launch, 0, 0);
  pacc_slot_close(slot, group->capacity, owner);
  return slot->batch;
}

void pacc_batch_send_or_defer(struct pacc_batch *batch) {
  uint32_t later = batch->wait == PACC_LATER_ALL && pacc_grid_is_deferring();
  if (batch->wait == PACC_NOW || batch->records == 0)
    pacc_batch_send(batch, 0);
  else if (later || !pacc_batch_try(batch))
    pacc_grid_defer(batch);
}

PACC_COLD void __pacc_dev_block_flush(const struct pacc_launch *launch,
                                      uint32_t slot) {
  struct pacc_group *group = block_group_of();
  if (pacc_load_u32(&group->state) == PACC_GROUP_READY)
    pacc_batch_send_or_defer(
        slot_batch(group, &group->slots[slot], PACC_OF_BLOCK, launch));
}

PACC_COLD void __pacc_dev_grid_flush(const struct pacc_launch *launch,
                                     uint32_t slot) {
  struct pacc_group *group = pacc_grid_group();
  uint32_t patience = PACC_PATIENCE;
  if (pacc_load_u32(&group->state) == PACC_GROUP_READY)
    pacc_batch_send(
        slot_batch(group, &group->slots[slot], PACC_OF_GRID, launch),
        &patience);
}
