/* grid.c: the state of running grids, and the batches that wait for a grid's
 * end because CUDA had no room for them. */
#include "group_private.h"

#define TABLE_BUCKETS 128u
#define BUCKET_SIZE 8u

/* A GPU runs at most 128 grids at once. */
static struct pacc_group grid_table[TABLE_BUCKETS][BUCKET_SIZE];
static uint32_t grid_table_locks[TABLE_BUCKETS];

/* 0 never comes out. */
static uint64_t grid_key(void) { return pacc_grid_number() << 1 | 1; }

static uint64_t bucket_number(uint64_t key) {
  return (key >> 1) % TABLE_BUCKETS;
}

static struct pacc_group *bucket_of(uint64_t key) {
  return grid_table[bucket_number(key)];
}

/* The start of an entry's count. */
static uint64_t count_start(uint64_t key) { return key << PACC_LEFT_BITS; }

/* Who has seen the grid's number in the word that counts may count without a
 * fence: accesses of one word have one order for all. */
static uint32_t is_entry_of(const struct pacc_group *group, uint64_t key) {
  uint64_t left = pacc_load_u64(&group->left) ^ count_start(key);
  return pacc_load_u64(&group->key) == key && left >> PACC_LEFT_BITS == 0;
}

static struct pacc_group *grid_find(struct pacc_group *bucket, uint64_t key) {
  for (uint32_t i = 0; i < BUCKET_SIZE; ++i)
    if (is_entry_of(&bucket[i], key))
      return &bucket[i];
  return 0;
}

static struct pacc_group *grid_insert(struct pacc_group *bucket, uint64_t key) {
  for (uint32_t i = 0; i < BUCKET_SIZE; ++i)
    if (pacc_load_u64(&bucket[i].key) == 0) {
      pacc_group_clear(&bucket[i]);
      pacc_store_u64(&bucket[i].left, count_start(key));
      pacc_fence();
      pacc_store_u64(&bucket[i].key, key);
      return &bucket[i];
    }
  return 0;
}

/* One lane of those that are here, and only if the lock looks free: thousands
 * of threads come at once to a grid that has no entry yet. */
static uint32_t try_lock_table(uint32_t *lock) {
  uint32_t leads = __gpu_lane_id() == pacc_lane_first(pacc_lanes());
  return leads && pacc_load_u32(lock) == 0 && pacc_try_lock(lock);
}

/* Entries are made under a lock, since a free place may lie before the one
 * that another thread just took for the same grid. */
PACC_COLD struct pacc_group *pacc_grid_entry(void) {
  uint64_t key = grid_key();
  struct pacc_group *bucket = bucket_of(key);
  uint32_t *lock = &grid_table_locks[bucket_number(key)];
  struct pacc_group *group;
  while (!(group = grid_find(bucket, key))) {
    if (!try_lock_table(lock)) {
      __nvvm_nanosleep(PACC_PAUSE);
      continue;
    }
    group = grid_find(bucket, key);
    if (!group)
      group = grid_insert(bucket, key);
    pacc_unlock(lock);
  }
  return group;
}

struct pacc_group *pacc_grid_group(void) {
  struct pacc_group *group = pacc_grid_entry();
  pacc_fence();
  return group;
}

PACC_COLD void pacc_grid_defer(struct pacc_batch *batch) {
  struct pacc_group *group = pacc_grid_group();
  while (!pacc_try_lock(&group->lock))
    __nvvm_nanosleep(PACC_PAUSE);
  batch->next = 0;
  if (group->last)
    group->last->next = batch;
  else
    group->first = batch;
  group->last = batch;
  if (group->deferring < batch->wait)
    pacc_store_u32(&group->deferring, batch->wait);
  pacc_unlock(&group->lock);
}

uint32_t pacc_grid_is_deferring(void) {
  uint64_t key = grid_key();
  struct pacc_group *group = grid_find(bucket_of(key), key);
  return group && pacc_load_u32(&group->deferring) == PACC_LATER_ALL;
}

static void send_all(struct pacc_batch *batch) {
  uint32_t patience = PACC_PATIENCE;
  while (batch) {
    struct pacc_batch *next = batch->next;
    pacc_batch_send(batch, &patience);
    batch = next;
  }
}

/* A kernel of one thread that launches a list of batches. */
#ifdef __NVPTX__
__attribute__((nvptx_kernel)) void __pacc_dev_drain(struct pacc_batch *first);
__attribute__((nvptx_kernel)) void __pacc_dev_drain(struct pacc_batch *first) {
  send_all(first);
}
#else
void __pacc_dev_drain(const void *parameters);
void __pacc_dev_drain(const void *parameters) {
  send_all(*(struct pacc_batch *const *)parameters);
}
#endif

/* Launches made before these went into the streams of other blocks. A tail
 * launch runs when those are complete; from there the rest goes out in order.
 */
static uint32_t drain_in_tail(struct pacc_batch *first) {
  struct pacc_launch launch = {
      .kernel = (void *)(uintptr_t)__pacc_dev_drain,
      .args = &first,
      .stream = (void *)3, /* cudaStreamTailLaunch */
      .arg_bytes = sizeof first,
      .grid = {1, 1, 1},
      .block = {1, 1, 1},
  };
  pacc_fence();
  uint32_t patience = PACC_PATIENCE;
  return pacc_launch_patiently(&launch, &patience) == 0;
}

PACC_COLD void __pacc_dev_grid_close(void) {
  struct pacc_group *group = pacc_grid_group();
  uint32_t in_order = group->deferring == PACC_LATER_ALL;
  if (!in_order || !drain_in_tail(group->first))
    send_all(group->first);
  pacc_fence();
  pacc_store_u64(&group->key, 0);
}
