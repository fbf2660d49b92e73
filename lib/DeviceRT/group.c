/* group.c: records that wait until all threads of their group have finished.
 *
 * A group is one block (its state is in shared memory) or one grid (its state
 * is in a table, found by the hardware's grid number). The first record takes
 * memory for as many records as the group has threads, for every slot at
 * once: so a thread's launches are all merged or all go out at once, and
 * their order stays. With one slot there is no order, so less memory will do.
 * Nobody waits for threads that are not on their way; the thread that finishes
 * last launches.
 */
#include "private.h"

#define PACC_SLOTS 8u

/* filled: records << 40 | blocks. Both grow in one atomic, so that records
 * stand in the order of their first blocks. */
#define FILLED_BITS 40u

/* threads and shared are the largest of the records'. apart: some record is
 * too large to be merged. */
struct pacc_slot {
  uint64_t filled;
  struct pacc_batch *batch;
  uint32_t threads;
  uint32_t shared;
  uint32_t apart;
};

enum { GROUP_NEW = 0, GROUP_BUSY, GROUP_READY, GROUP_WITHOUT_MEMORY };

/* left: threads that have finished. key: 0 in free entries of the table.
 * capacity: records that every slot has room for. */
struct pacc_group {
  uint64_t key;
  uint64_t left;
  uint32_t state;
  uint32_t capacity;
  struct pacc_slot slots[PACC_SLOTS];
};

#define TABLE_BUCKETS 128u
#define BUCKET_SIZE 8u

/* A GPU runs at most 128 grids at once. */
static struct pacc_group grid_table[TABLE_BUCKETS][BUCKET_SIZE];
static uint32_t grid_table_lock;

static __gpu_local struct pacc_group block_group
    __attribute__((loader_uninitialized));

static struct pacc_group *block_group_of(void) {
  return (struct pacc_group *)&block_group;
}

static uint32_t block_threads(void) {
  return __gpu_num_threads_x() * __gpu_num_threads_y() * __gpu_num_threads_z();
}

static uint64_t grid_threads(void) {
  return (uint64_t)__gpu_num_blocks_x() * __gpu_num_blocks_y() *
         __gpu_num_blocks_z() * block_threads();
}

static void group_clear(struct pacc_group *group) {
  group->left = 0;
  group->state = GROUP_NEW;
  for (uint32_t i = 0; i < PACC_SLOTS; ++i) {
    struct pacc_slot *slot = &group->slots[i];
    slot->filled = 0;
    slot->batch = 0;
    slot->threads = 0;
    slot->shared = 0;
    slot->apart = 0;
  }
}

void __pacc_dev_block_begin(void) {
  if ((__gpu_thread_id_x() | __gpu_thread_id_y() | __gpu_thread_id_z()) == 0)
    group_clear(block_group_of());
  __gpu_sync_threads();
}

/* 0 never comes out. */
static uint64_t grid_key(void) { return pacc_grid_number() << 1 | 1; }

static struct pacc_group *grid_find(struct pacc_group *bucket, uint64_t key) {
  for (uint32_t i = 0; i < BUCKET_SIZE; ++i)
    if (pacc_load_u64(&bucket[i].key) == key)
      return &bucket[i];
  return 0;
}

static struct pacc_group *grid_insert(struct pacc_group *bucket, uint64_t key) {
  for (uint32_t i = 0; i < BUCKET_SIZE; ++i)
    if (pacc_load_u64(&bucket[i].key) == 0) {
      group_clear(&bucket[i]);
      pacc_fence();
      pacc_store_u64(&bucket[i].key, key);
      return &bucket[i];
    }
  return 0;
}

/* The entry of this grid, made by its first caller. Entries are made under a
 * lock, since a free place may lie before the one that another thread just
 * took for the same grid. */
static struct pacc_group *grid_group_of(void) {
  uint64_t key = grid_key();
  struct pacc_group *bucket = grid_table[(key >> 1) % TABLE_BUCKETS];
  struct pacc_group *group;
  while (!(group = grid_find(bucket, key))) {
    uint32_t expected = 0;
    if (!__scoped_atomic_compare_exchange_n(&grid_table_lock, &expected, 1, 0,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                            PACC_SCOPE)) {
      __gpu_thread_suspend();
      continue;
    }
    pacc_fence();
    group = grid_find(bucket, key);
    if (!group)
      group = grid_insert(bucket, key);
    pacc_fence();
    pacc_store_u32(&grid_table_lock, 0);
  }
  pacc_fence();
  return group;
}

/* Memory for `capacity` records in every slot, or nothing. */
static uint32_t group_take(struct pacc_group *group, uint64_t capacity,
                           uint32_t slots, const uint32_t *strides) {
  for (uint32_t done = 0; done < slots; ++done) {
    struct pacc_batch *batch = pacc_batch_take(capacity, strides[done]);
    if (!batch) {
      while (done-- > 0)
        pacc_batch_give(group->slots[done].batch);
      return GROUP_WITHOUT_MEMORY;
    }
    group->slots[done].batch = batch;
  }
  group->capacity = (uint32_t)capacity;
  return GROUP_READY;
}

/* A group of one slot leaves half of the pool to others. */
static uint64_t group_wish(uint64_t threads, uint32_t slots,
                           const uint32_t *strides) {
  uint64_t half = (__pacc_dev_pool.mask + 1) * (PACC_POOL_UNIT / 2);
  return slots == 1 && threads * strides[0] > half ? half / strides[0]
                                                   : threads;
}

static uint32_t group_prepare(struct pacc_group *group, uint64_t threads,
                              uint32_t slots, const uint32_t *strides) {
  uint32_t expected = GROUP_NEW;
  uint32_t state = pacc_load_u32(&group->state);
  if (state == GROUP_NEW &&
      __scoped_atomic_compare_exchange_n(&group->state, &expected, GROUP_BUSY,
                                         0, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         PACC_SCOPE)) {
    uint64_t wish = group_wish(threads, slots, strides);
    state = GROUP_WITHOUT_MEMORY;
    if (wish < 1u << (64u - FILLED_BITS))
      state = group_take(group, wish, slots, strides);
    while (state != GROUP_READY && slots == 1 && wish > 32) {
      wish /= 2;
      state = group_take(group, wish, slots, strides);
    }
    pacc_fence();
    pacc_store_u32(&group->state, state);
  }
  while (state < GROUP_READY)
    state = pacc_load_u32(&group->state);
  pacc_fence();
  return state;
}

static void atomic_max(uint32_t *at, uint32_t value) {
  if (pacc_load_u32(at) < value)
    __scoped_atomic_fetch_max(at, value, __ATOMIC_RELAXED, PACC_SCOPE);
}

/* All lanes of `mask` have valid launches, and the group has memory. Records
 * beyond its capacity go out at once; then all later ones do. */
static void slot_record(struct pacc_slot *slot, uint32_t capacity,
                        const struct pacc_launch *launch, uint32_t mask) {
  uint32_t leader = pacc_lane_first(mask);
  uint32_t blocks = pacc_launch_blocks(launch);
  uint32_t end = pacc_lanes_scan(mask, blocks);
  uint32_t total =
      pacc_lane_u32(mask, end, 31u - (uint32_t)__builtin_clz(mask));
  uint32_t merged = blocks != 0;
  uint32_t threads =
      pacc_lanes_max(mask, merged ? pacc_launch_threads(launch) : 0);
  uint32_t shared = pacc_lanes_max(mask, merged ? launch->shared : 0);
  uint64_t filled = 0;
  if (__gpu_lane_id() == leader) {
    uint64_t count = pacc_lanes_count(mask);
    filled = pacc_add_u64(&slot->filled, count << FILLED_BITS | total);
    atomic_max(&slot->threads, threads);
    atomic_max(&slot->shared, shared);
  }
  if (!merged)
    pacc_store_u32(&slot->apart, 1);
  filled = pacc_lane_u64(mask, filled, leader);
  uint64_t index =
      (filled >> FILLED_BITS) + pacc_lanes_count(pacc_lanes_below(mask));
  if (index < capacity)
    pacc_record_write(pacc_batch_record(slot->batch, index), launch,
                      (uint32_t)filled + end - blocks);
  else
    __pacc_dev_launch_warp(launch);
}

static void group_record(struct pacc_group *group, uint64_t threads,
                         const struct pacc_launch *launch, uint32_t slot,
                         uint32_t slots, const uint32_t *strides,
                         uint32_t mask) {
  uint32_t leader = pacc_lane_first(mask);
  uint32_t state = 0;
  if (__gpu_lane_id() == leader)
    state = group_prepare(group, threads, slots, strides);
  state = pacc_lane_u32(mask, state, leader);
  uint32_t same = pacc_lanes_alike(mask, slot);
  uint32_t valid = pacc_launch_is_valid(launch);
  uint32_t takers = pacc_lanes_where(same, valid);
  if (state != GROUP_READY)
    __pacc_dev_launch_warp(launch);
  else if (valid)
    slot_record(&group->slots[slot], group->capacity, launch, takers);
  else
    (void)pacc_launch_plain(launch); /* CUDA says what is wrong with it. */
}

void __pacc_dev_block_record(const struct pacc_launch *launch, uint32_t slot,
                             uint32_t slots, const uint32_t *strides) {
  group_record(block_group_of(), block_threads(), launch, slot, slots, strides,
               pacc_lanes());
}

static struct pacc_group *grid_group_by(uint32_t mask) {
  uint32_t leader = pacc_lane_first(mask);
  struct pacc_group *group = 0;
  if (__gpu_lane_id() == leader)
    group = grid_group_of();
  return pacc_lane_ptr(mask, group, leader);
}

void __pacc_dev_grid_record(const struct pacc_launch *launch, uint32_t slot,
                            uint32_t slots, const uint32_t *strides) {
  uint32_t mask = pacc_lanes();
  group_record(grid_group_by(mask), grid_threads(), launch, slot, slots,
               strides, mask);
}

/* The fences make what all threads wrote visible to the children. */
static uint32_t group_leave(struct pacc_group *group, uint64_t threads,
                            uint32_t mask) {
  uint32_t last = 0;
  pacc_fence();
  __gpu_sync_lane(mask);
  if (__gpu_lane_id() == pacc_lane_first(mask)) {
    uint64_t count = pacc_lanes_count(mask);
    last = pacc_add_u64(&group->left, count) + count == threads;
    pacc_fence();
  }
  return last;
}

uint32_t __pacc_dev_block_leave(void) {
  return group_leave(block_group_of(), block_threads(), pacc_lanes());
}

uint32_t __pacc_dev_grid_leave(void) {
  uint32_t mask = pacc_lanes();
  return group_leave(grid_group_by(mask), grid_threads(), mask);
}

enum { PACC_APART = 1, PACC_MERGED = 2 };

static struct pacc_launch record_read(const struct pacc_record *record,
                                      const struct pacc_launch *like) {
  struct pacc_launch launch = *like;
  launch.args = record + 1;
  launch.shared = record->shared;
  launch.grid[0] = record->grid_x;
  launch.grid[1] = record->grid_yz & 0xffffu;
  launch.grid[2] = record->grid_yz >> 16;
  for (uint32_t d = 0; d < 3; ++d)
    launch.block[d] = record->block[d];
  return launch;
}

/* One plain launch per record, for the records of the given kinds. */
static void launch_records(const struct pacc_batch *batch,
                           const struct pacc_launch *like, uint32_t kinds) {
  for (uint32_t i = 0; i < batch->records; ++i) {
    struct pacc_launch launch = record_read(pacc_batch_record(batch, i), like);
    if (kinds & (pacc_launch_blocks(&launch) ? PACC_MERGED : PACC_APART))
      (void)pacc_launch_plain(&launch);
  }
}

static void group_flush(struct pacc_group *group,
                        const struct pacc_launch *launch, uint32_t slot_index) {
  if (pacc_load_u32(&group->state) != GROUP_READY)
    return;
  struct pacc_slot *slot = &group->slots[slot_index];
  struct pacc_batch *batch = slot->batch;
  uint64_t filled = pacc_load_u64(&slot->filled);
  uint64_t blocks = filled & ((1ull << FILLED_BITS) - 1);
  uint64_t records = filled >> FILLED_BITS;
  if (records > group->capacity) {
    records = group->capacity;
    const struct pacc_record *last = pacc_batch_record(batch, records - 1);
    struct pacc_launch launch_of_last = record_read(last, launch);
    /* A record has only the low half of a sum that is too large anyway. */
    if (blocks <= UINT32_MAX)
      blocks = last->first + (uint64_t)pacc_launch_blocks(&launch_of_last);
  }
  batch->records = (uint32_t)records;
  batch->blocks = (uint32_t)blocks;
  if (pacc_load_u32(&slot->apart))
    launch_records(batch, launch, PACC_APART);
  if (batch->records > 1 && blocks > 0 && blocks <= PACC_MAX_GRID) {
    uint32_t threads = pacc_load_u32(&slot->threads);
    uint32_t shared = pacc_load_u32(&slot->shared);
    if (pacc_batch_launch(batch, launch, threads, shared) == 0)
      return;
  }
  launch_records(batch, launch, PACC_MERGED);
  pacc_batch_give(batch);
}

void __pacc_dev_block_flush(const struct pacc_launch *launch, uint32_t slot) {
  group_flush(block_group_of(), launch, slot);
}

void __pacc_dev_grid_flush(const struct pacc_launch *launch, uint32_t slot) {
  group_flush(grid_group_of(), launch, slot);
}

void __pacc_dev_grid_close(void) {
  struct pacc_group *group = grid_group_of();
  pacc_fence();
  pacc_store_u64(&group->key, 0);
}
