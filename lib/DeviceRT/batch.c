/* batch.c: launches in memory. */
#include "private.h"

/* The arguments that are the same for all launches of a batch. */
static char *common_arguments(const struct pacc_batch *batch) {
  return (char *)(uintptr_t)batch + PACC_BATCH_HEAD;
}

static struct pacc_shape shape_of(const struct pacc_launch *launch) {
  struct pacc_shape shape = {
      {launch->block[0], launch->block[1], launch->block[2]}, launch->shared};
  return shape;
}

void pacc_record_write(struct pacc_record *record,
                       const struct pacc_launch *launch, uint32_t first) {
  record->first = first;
  record->grid_x = launch->grid[0];
  record->grid_yz = launch->grid[1] | launch->grid[2] << 16;
  record->done = 0;
  struct pacc_record *end = record + 1;
  if (!launch->same_shape)
    *(struct pacc_shape *)end++ = shape_of(launch);
  const uint64_t *from = launch->args;
  uint64_t *to = (uint64_t *)end;
  for (uint32_t i = 0; i * 8 < launch->arg_bytes; ++i)
    if (pacc_word_varies(launch->same, i))
      *to++ = from[i];
}

struct pacc_launch pacc_record_read(const struct pacc_batch *batch,
                                    uint32_t index) {
  const struct pacc_record *record = pacc_batch_record(batch, index);
  const struct pacc_shape *shape = pacc_record_shape(batch, record);
  const void *args = pacc_record_arguments(batch, record);
  struct pacc_launch launch = {
      .kernel = batch->kernel,
      .aggregated = batch->aggregated,
      .args = batch->same ? common_arguments(batch) : args,
      .varying = batch->same ? args : 0,
      .same = batch->same,
      .stream = batch->stream,
      .agg_stream = batch->agg_stream,
      .arg_bytes = batch->arg_bytes,
      .shared = shape->shared,
      .wait = PACC_NOW,
      .grid = {record->grid_x, record->grid_yz & 0xffffu,
               record->grid_yz >> 16},
      .block = {shape->block[0], shape->block[1], shape->block[2]},
  };
  return launch;
}

void pacc_batch_describe(struct pacc_batch *batch,
                         const struct pacc_launch *launch, uint32_t threads,
                         uint32_t shared) {
  batch->kernel = launch->kernel;
  batch->aggregated = launch->aggregated;
  batch->stream = launch->stream;
  batch->agg_stream = launch->agg_stream;
  batch->arg_bytes = launch->arg_bytes;
  batch->threads = threads;
  batch->shared = shared;
  batch->apart = 0;
  batch->wait = launch->wait;
  batch->next = 0;
  batch->same_shape = launch->same_shape;
  batch->shape = shape_of(launch);
  batch->same = launch->same;
  if (launch->same)
    pacc_copy_arguments(common_arguments(batch), launch->args,
                        launch->arg_bytes);
}

static uint32_t can_be_one_grid(const struct pacc_batch *batch) {
  return batch->records > 1 && batch->blocks > 0 &&
         batch->blocks <= PACC_MAX_GRID;
}

/* Naps get longer up to about a millisecond. False without patience. */
static uint32_t nap(uint32_t number, uint32_t *patience) {
  uint32_t length = number < 14 ? 1u << number : 1u << 14;
  if (!patience || *patience < length)
    return 0;
  *patience -= length;
  for (uint32_t i = 0; i < length; ++i)
    __nvvm_nanosleep(PACC_PAUSE);
  return 1;
}

PACC_COLD uint32_t pacc_launch_patiently(const struct pacc_launch *launch,
                                         uint32_t *patience) {
  uint32_t failed = __pacc_dev_launch_plain(launch);
  for (uint32_t i = 0; failed == PACC_CUDA_NO_ROOM && nap(i, patience); ++i)
    failed = __pacc_dev_launch_plain(launch);
  return failed;
}

static uint32_t launch_batch(struct pacc_batch *batch, uint32_t *patience) {
  uint32_t failed = pacc_batch_launch(batch);
  for (uint32_t i = 0; failed == PACC_CUDA_NO_ROOM && nap(i, patience); ++i)
    failed = pacc_batch_launch(batch);
  return failed;
}

enum { APART = 1, MERGED = 2 };

/* One plain launch per record, for the records of the given kinds. */
static void launch_records(const struct pacc_batch *batch, uint32_t kinds,
                           uint32_t *patience) {
  for (uint32_t i = 0; i < batch->records; ++i) {
    struct pacc_launch launch = pacc_record_read(batch, i);
    if (!(kinds &
          (pacc_launch_blocks(&launch, batch->most_blocks) ? MERGED : APART)))
      continue;
    (void)pacc_launch_patiently(&launch, patience);
  }
}

PACC_COLD void pacc_batch_send(struct pacc_batch *batch, uint32_t *patience) {
  if (batch->apart)
    launch_records(batch, APART, patience);
  if (can_be_one_grid(batch) && launch_batch(batch, patience) == 0)
    return;
  launch_records(batch, MERGED, patience);
  pacc_batch_give(batch);
}

PACC_COLD uint32_t pacc_batch_try(struct pacc_batch *batch) {
  if (batch->records == 1) {
    struct pacc_launch launch = pacc_record_read(batch, 0);
    if (__pacc_dev_launch_plain(&launch) != 0)
      return 0;
    pacc_batch_give(batch);
    return 1;
  }
  return !batch->apart && can_be_one_grid(batch) &&
         pacc_batch_launch(batch) == 0;
}
