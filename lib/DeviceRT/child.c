/* child.c: the start of an aggregated kernel. */
#include "private.h"

/* The record that block number `block` of the batch belongs to: the last one
 * whose first block is not behind it. The lanes look at evenly spaced records
 * of what is left, so that the search takes log(records) / log(lanes) steps. */
static uint32_t find_record(const struct pacc_batch *batch, uint32_t block) {
  uint32_t mask = pacc_lanes();
  uint32_t lanes = pacc_lanes_count(mask);
  uint32_t rank = pacc_lanes_count(pacc_lanes_below(mask));
  uint32_t low = 0;
  uint32_t count = batch->records;
  while (count > 1) {
    uint32_t width = (count + lanes - 1) / lanes;
    if (lanes == 1)
      width = (count + 1) / 2;
    uint32_t offset = (lanes == 1 ? 1 : rank) * width;
    uint32_t behind = offset < count &&
                      pacc_batch_record(batch, low + offset)->first <= block;
    uint32_t hits = pacc_lanes_count(pacc_lanes_where(mask, behind));
    uint32_t skip = (lanes == 1 ? hits : hits - 1) * width;
    low += skip;
    count = count - skip < width ? count - skip : width;
  }
  return low;
}

/* Blocks in front of record `index`, which may be one past the end. */
static uint32_t blocks_before(const struct pacc_batch *batch, uint32_t index) {
  return index < batch->records ? pacc_batch_record(batch, index)->first
                                : batch->blocks;
}

/* position = x + size_x * (y + size_y * z); only x if there is no more. */
static void split(uint32_t position, const uint32_t size[3],
                  uint32_t result[3]) {
  result[0] = position;
  result[1] = 0;
  result[2] = 0;
  if (size[1] * size[2] > 1) {
    uint32_t rest = position / size[0];
    result[0] = position % size[0];
    result[1] = rest % size[1];
    result[2] = rest / size[1];
  }
}

const void *__pacc_dev_child_begin(struct pacc_batch *batch,
                                   struct pacc_ids *ids) {
  uint32_t block = __gpu_block_id_x();
  uint32_t index = find_record(batch, block);
  const struct pacc_record *record = pacc_batch_record(batch, index);
  ids->record = index;
  ids->grid_size[0] = record->grid_x;
  ids->grid_size[1] = record->grid_yz & 0xffffu;
  ids->grid_size[2] = record->grid_yz >> 16;
  const struct pacc_shape *shape = pacc_record_shape(batch, record);
  for (uint32_t d = 0; d < 3; ++d)
    ids->block_size[d] = shape->block[d];
  split(block - record->first, ids->grid_size, ids->block);
  split(__gpu_thread_id_x(), ids->block_size, ids->thread);
  return __builtin_assume_aligned(pacc_record_arguments(batch, record), 16);
}

/* Counts this block; the last of its span counts the span; the last span
 * gives the batch back. */
static void block_loaded(struct pacc_batch *batch, uint32_t record) {
  uint32_t start = record / PACC_SPAN * PACC_SPAN;
  uint32_t blocks =
      blocks_before(batch, start + PACC_SPAN) - blocks_before(batch, start);
  uint32_t *done = &pacc_batch_record(batch, start)->done;
  pacc_fence();
  if (pacc_add_u32(done, 1) + 1 != blocks)
    return;
  pacc_fence();
  if (pacc_add_u32(&batch->blocks_done, blocks) + blocks != batch->blocks)
    return;
  pacc_fence();
  pacc_batch_give(batch);
}

uint32_t __pacc_dev_child_loaded(struct pacc_batch *batch,
                                 const struct pacc_ids *ids) {
  __gpu_sync_threads();
  if (__gpu_thread_id_x() == 0)
    block_loaded(batch, ids->record);
  return __gpu_thread_id_x() <
         ids->block_size[0] * ids->block_size[1] * ids->block_size[2];
}

/* The first block of a record launches; this grid is complete when those that
 * it launched are. */
void __pacc_dev_child_forward(struct pacc_batch *batch) {
  struct pacc_ids ids;
  (void)__pacc_dev_child_begin(batch, &ids);
  uint32_t is_first = (ids.block[0] | ids.block[1] | ids.block[2]) == 0;
  if (__gpu_thread_id_x() == 0 && is_first) {
    struct pacc_launch launch = pacc_record_read(batch, ids.record);
    launch.stream = (void *)2; /* cudaStreamPerThread */
    uint32_t patience = PACC_PATIENCE;
    (void)pacc_launch_patiently(&launch, &patience);
  }
  (void)__pacc_dev_child_loaded(batch, &ids);
}
