/* rounds.c: launches in loops, merged over a block in the order of each thread.
 *
 * Records stand in lines, each of one kernel. A thread's next record goes into
 * a line behind that of its last one: the first of the same kernel that there
 * is, or a new one. Lines go out in order, into streams of the block, when the
 * block has finished, or when a record needs a line and there is none left or
 * no memory for it: then the thread that needs it sends all lines, and a new
 * epoch starts with none. So nothing depends on how many launches there are.
 */
#include "group_private.h"

#define LINES 8u

/* kind     of the launches
 * slot     their records
 */
struct line {
  uint32_t kind;
  struct pacc_slot slot;
};

/* lock     for what follows
 * epoch    how often lines were sent
 * used     lines of this epoch
 * writers  parts of warps that have places in lines and are writing records
 */
struct rounds {
  uint32_t lock;
  uint32_t epoch;
  uint32_t used;
  uint32_t writers;
  struct line lines[LINES];
};

static __gpu_local struct rounds block_rounds
    __attribute__((loader_uninitialized));

static struct rounds *rounds_of_block(void) {
  return (struct rounds *)&block_rounds;
}

void __pacc_dev_rounds_begin(void) {
  struct rounds *rounds = rounds_of_block();
  if ((__gpu_thread_id_x() | __gpu_thread_id_y() | __gpu_thread_id_z()) == 0) {
    rounds->lock = 0;
    rounds->epoch = 0;
    rounds->used = 0;
    rounds->writers = 0;
  }
  __pacc_dev_block_begin();
}

/* By one thread, which holds the lock or is the block's last. */
static void send_lines(struct rounds *rounds) {
  while (pacc_load_u32(&rounds->writers) != 0)
    __nvvm_nanosleep(PACC_PAUSE);
  pacc_fence();
  for (uint32_t i = 0; i < rounds->used; ++i) {
    struct pacc_slot *slot = &rounds->lines[i].slot;
    pacc_slot_close(slot, pacc_block_threads(), PACC_OF_BLOCK);
    pacc_batch_send_or_defer(slot->batch);
  }
  rounds->used = 0;
  ++rounds->epoch;
}

/* A new line; false if there is no place or no memory for it. */
static uint32_t add_line(struct rounds *rounds,
                         const struct pacc_launch *launch, uint32_t kind) {
  if (rounds->used == LINES)
    return 0;
  struct pacc_batch *batch = pacc_batch_take(
      pacc_block_threads(), pacc_room_of(launch), PACC_MAX_BLOCKS_IN_BLOCK);
  if (!batch)
    return 0;
  pacc_batch_describe(batch, launch, 0, 0);
  struct line *line = &rounds->lines[rounds->used++];
  line->kind = kind;
  pacc_slot_clear(&line->slot);
  line->slot.batch = batch;
  return 1;
}

/* The line for launches that come behind `first` lines, or NULL. The lock is
 * held, and with a line there is one writer more. */
static struct line *find_line(struct rounds *rounds,
                              const struct pacc_launch *launch, uint32_t kind,
                              struct pacc_turn after) {
  uint32_t at = after.epoch == rounds->epoch ? after.line : 0;
  while (at < rounds->used && rounds->lines[at].kind != kind)
    ++at;
  if (at >= rounds->used && !add_line(rounds, launch, kind)) {
    send_lines(rounds);
    if (!add_line(rounds, launch, kind))
      return 0;
  }
  at = at < rounds->used ? at : rounds->used - 1;
  pacc_add_u32(&rounds->writers, 1);
  return &rounds->lines[at];
}

/* By the lanes of `mask`, all of one kind and with the same turn. */
static void record(const struct pacc_launch *launch, uint32_t kind,
                   struct pacc_turn *turn, uint32_t mask) {
  struct rounds *rounds = rounds_of_block();
  uint32_t leader = pacc_lane_first(mask);
  uint32_t leads = __gpu_lane_id() == leader;
  struct pacc_turn after = *turn;
  struct line *line = 0;
  if (leads) {
    while (!pacc_try_lock(&rounds->lock))
      __nvvm_nanosleep(PACC_PAUSE);
    line = find_line(rounds, launch, kind, after);
    after.epoch = rounds->epoch;
    after.line = line ? (uint32_t)(line - rounds->lines) + 1 : 0;
    pacc_unlock(&rounds->lock);
  }
  turn->epoch = pacc_lane_u32(mask, after.epoch, leader);
  turn->line = pacc_lane_u32(mask, after.line, leader);
  if (turn->line == 0) {
    __pacc_dev_launch_warp(launch);
    return;
  }
  pacc_slot_record(&rounds->lines[turn->line - 1].slot, pacc_block_threads(),
                   PACC_OF_BLOCK, launch, mask);
  pacc_fence();
  __gpu_sync_lane(mask);
  if (leads)
    pacc_add_u32(&rounds->writers, UINT32_MAX);
}

PACC_COLD void __pacc_dev_rounds_record(const struct pacc_launch *launch,
                                        uint32_t kind, struct pacc_turn *turn) {
  uint64_t key = (uint64_t)turn->epoch << 32 | turn->line << 16 | kind;
  uint32_t same = pacc_lanes_alike(pacc_lanes(), key);
  uint32_t valid = pacc_launch_is_valid(launch);
  uint32_t takers = pacc_lanes_where(same, valid);
  if (valid)
    record(launch, kind, turn, takers);
}

PACC_COLD void __pacc_dev_rounds_flush(void) { send_lines(rounds_of_block()); }
