/* launch.c: plain launches, and launches merged over the lanes of a warp. */
#include "private.h"

struct dim3 {
  uint32_t x, y, z;
};

/* CUDA's device runtime, which the program links anyway. Clang's own launches
 * use the first version of this interface; that one refuses the tail and the
 * fire-and-forget stream, and what it refuses keeps its place in the queue for
 * as long as the program runs. */
extern void *__cudaCDP2GetParameterBufferV2(void *kernel, struct dim3 grid,
                                            struct dim3 block, uint32_t shared);
extern uint32_t __cudaCDP2LaunchDeviceV2(void *buffer, void *stream);

static struct dim3 dim3_of(const uint32_t size[3]) {
  struct dim3 result = {size[0], size[1], size[2]};
  return result;
}

static void copy_varying(char *to, const struct pacc_launch *launch) {
  const uint64_t *from = launch->varying;
  for (uint32_t at = 0; at < launch->arg_bytes; at += 8)
    if (pacc_word_varies(launch->same, at / 8)) {
      uint32_t rest = launch->arg_bytes - at;
      pacc_copy_arguments(to + at, from++, rest < 8 ? rest : 8);
    }
}

PACC_COLD uint32_t __pacc_dev_launch_plain(const struct pacc_launch *launch) {
  void *buffer =
      __cudaCDP2GetParameterBufferV2(launch->kernel, dim3_of(launch->grid),
                                     dim3_of(launch->block), launch->shared);
  if (!buffer)
    return PACC_CUDA_NO_ROOM;
  pacc_copy_arguments(buffer, launch->args, launch->arg_bytes);
  if (launch->varying)
    copy_varying(buffer, launch);
  return __cudaCDP2LaunchDeviceV2(buffer, launch->stream);
}

uint32_t pacc_launch_is_valid(const struct pacc_launch *launch) {
  const uint32_t *grid = launch->grid;
  const uint32_t *block = launch->block;
  if (grid[0] - 1u >= PACC_MAX_GRID || grid[1] - 1u >= 65535u ||
      grid[2] - 1u >= 65535u)
    return 0;
  if (block[0] - 1u >= 1024u || block[1] - 1u >= 1024u || block[2] - 1u >= 64u)
    return 0;
  return pacc_launch_threads(launch) <= 1024u;
}

uint32_t pacc_launch_blocks(const struct pacc_launch *launch, uint32_t most) {
  uint64_t plane = (uint64_t)launch->grid[1] * launch->grid[2];
  if (launch->grid[0] > most || plane > most)
    return 0;
  uint64_t blocks = plane * launch->grid[0];
  return blocks > most ? 0 : (uint32_t)blocks;
}

PACC_COLD uint32_t pacc_batch_launch(struct pacc_batch *batch) {
  struct pacc_launch launch = {
      .kernel = batch->aggregated,
      .args = &batch,
      .stream = batch->agg_stream,
      .arg_bytes = sizeof batch,
      .shared = batch->shared,
      .grid = {batch->blocks, 1, 1},
      .block = {batch->threads, 1, 1},
  };
  pacc_fence();
  return __pacc_dev_launch_plain(&launch);
}

/* Merges the launches of the lanes in `mask`. With `later`, or if CUDA has no
 * room and they may wait, they are left to the end of the grid. False if they
 * have to go out one by one. */
static uint32_t launch_together(const struct pacc_launch *launch,
                                uint32_t blocks, uint32_t mask,
                                uint32_t later) {
  uint32_t leader = pacc_lane_last(mask);
  uint32_t leads = __gpu_lane_id() == leader;
  uint32_t count = pacc_lanes_count(mask);
  struct pacc_extent own = {blocks, pacc_launch_threads(launch),
                            launch->shared};
  struct pacc_extent end = pacc_lanes_extent(mask, own);

  struct pacc_batch *batch = 0;
  if (leads) {
    batch = pacc_batch_take(count, pacc_room_of(launch), PACC_MAX_BLOCKS);
    if (batch) {
      pacc_batch_describe(batch, launch, end.threads, end.shared);
      batch->records = count;
      batch->blocks = end.blocks;
    }
  }
  batch = pacc_lane_ptr(mask, batch, leader);
  if (!batch)
    return 0;
  __gpu_sync_lane(mask);
  uint32_t index = pacc_lanes_count(pacc_lanes_below(mask));
  pacc_record_write(pacc_batch_record(batch, index), launch,
                    end.blocks - blocks);
  pacc_fence();
  __gpu_sync_lane(mask);

  uint32_t failed = 0;
  if (leads) {
    failed = later ? PACC_CUDA_NO_ROOM : pacc_batch_launch(batch);
    if (failed == PACC_CUDA_NO_ROOM && launch->wait != PACC_NOW) {
      pacc_grid_defer(batch);
      failed = 0;
    } else if (failed) {
      pacc_batch_give(batch);
    }
  }
  return pacc_lane_u32(mask, failed, leader) == 0;
}

/* Leaves one launch to the end of the grid; false if there is no memory. */
static uint32_t launch_later(const struct pacc_launch *launch,
                             uint32_t blocks) {
  struct pacc_batch *batch =
      pacc_batch_take(1, pacc_room_of(launch), PACC_MAX_BLOCKS);
  if (!batch)
    return 0;
  pacc_batch_describe(batch, launch, pacc_launch_threads(launch),
                      launch->shared);
  batch->records = 1;
  batch->blocks = blocks;
  batch->apart = blocks == 0;
  pacc_record_write(pacc_batch_record(batch, 0), launch, 0);
  pacc_grid_defer(batch);
  return 1;
}

PACC_COLD static void launch_alone(const struct pacc_launch *launch,
                                   uint32_t blocks, uint32_t later) {
  if (later && launch_later(launch, blocks))
    return;
  uint32_t failed = __pacc_dev_launch_plain(launch);
  if (failed == PACC_CUDA_NO_ROOM && launch->wait != PACC_NOW)
    (void)launch_later(launch, blocks);
}

/* Launches of one kernel into one stream, which may wait alike, can be merged.
 * Lanes that are here at the same time mostly come from one launch of the
 * source; but the compiler may have joined two, and lanes of any two meet where
 * a function launches that others call. */
static uint64_t launch_key(const struct pacc_launch *launch) {
  return (uint64_t)launch->aggregated | (uint64_t)launch->wait << 56 |
         (uint64_t)launch->agg_stream << 60;
}

PACC_COLD void __pacc_dev_launch_warp(const struct pacc_launch *launch) {
  uint32_t mask = pacc_lanes();
  uint32_t same = pacc_lanes_alike(mask, launch_key(launch));
  uint32_t later = 0;
  if (launch->wait == PACC_LATER_ALL) {
    uint32_t leader = pacc_lane_first(same);
    if (__gpu_lane_id() == leader)
      later = pacc_grid_is_deferring();
    later = pacc_lane_u32(same, later, leader);
  }
  uint32_t valid = pacc_launch_is_valid(launch);
  uint32_t blocks = valid ? pacc_launch_blocks(launch, PACC_MAX_BLOCKS) : 0;
  uint32_t takers = pacc_lanes_where(same, blocks != 0);
  uint32_t merged = 0;
  if (blocks != 0 && pacc_lanes_count(takers) > 1)
    merged = launch_together(launch, blocks, takers, later);
  if (valid && !merged)
    launch_alone(launch, blocks, later);
  /* A later operation of another lane in the block's stream must find this
   * one there. */
  __gpu_sync_lane(mask);
}
