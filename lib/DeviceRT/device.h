/* device.h: the device runtime, as generated code sees it.
 *
 * Compiled to NVPTX bitcode, embedded into the plugin and linked into every
 * module that has an aggregated launch; offloaded loops of launches get the
 * barrier. There is no host side.
 *
 * Words:
 *   launch  what one thread asks for: kernel, grid, block, arguments
 *   record  a launch that was captured in memory, with its argument bytes
 *   batch   records of one kernel that go out as one grid. Its blocks are the
 *           records' blocks in a row; every record knows how many stand
 *           before it
 *   group   the threads whose records share batches until they have all
 *           finished: one block, or one grid
 *
 * The plugin includes this file, and checks that what it emits has the layout
 * of these structures (lib/Plugin/Aggregate/Runtime.cpp).
 */
#ifndef PACC_DEVICE_H
#define PACC_DEVICE_H

#include <stdint.h>

/* What may happen to a launch that CUDA has no room for (the limit of launches
 * that wait).
 * PACC_NOW         it is lost, as it is in CUDA
 * PACC_LATER       the last thread of the grid launches it
 * PACC_LATER_ALL   it and all later launches of the grid wait until the grid
 *                  and its children are complete, so that their order stays.
 *                  Not in grids that make tail launches
 */
enum { PACC_NOW = 0, PACC_LATER, PACC_LATER_ALL };

/* One launch.
 * kernel      the kernel of the source
 * aggregated  its aggregated version, which takes one batch
 * args        the argument buffer, laid out as the kernel's parameters
 * stream      where a plain launch goes
 * agg_stream  where an aggregated launch goes
 * varying     null, or the words of the arguments that are not `same`, one
 *             after the other: they stand in for those in `args`
 * same        bit i: word i of the arguments (8 bytes) is the same in all
 *             launches that may be merged with this one
 * arg_bytes   bytes of the argument buffer; all arguments here have room for
 *             whole words
 * shared      bytes of dynamic shared memory
 * wait        PACC_NOW, PACC_LATER, PACC_LATER_ALL
 * same_shape  `block` and `shared` are the same in all launches that may be
 *             merged with this one
 */
struct pacc_launch {
  void *kernel;
  void *aggregated;
  const void *args;
  void *stream;
  void *agg_stream;
  const void *varying;
  uint64_t same;
  uint32_t arg_bytes;
  uint32_t shared;
  uint32_t wait;
  uint32_t same_shape;
  uint32_t grid[3];
  uint32_t block[3];
};

/* What the threads of an aggregated grid see in place of the registers, and
 * the number of the record that they belong to. */
struct pacc_ids {
  uint32_t thread[3];
  uint32_t block_size[3];
  uint32_t block[3];
  uint32_t grid_size[3];
  uint32_t record;
};

#define PACC_POOL_UNIT 256u
#define PACC_POOL_SLACK 8192u

/* Memory for records: a ring. Pieces are taken at the head and come back in
 * any order; the tail passes over those that are back. All in units of
 * PACC_POOL_UNIT bytes; head and tail only grow.
 * credit  units that may be taken now
 * mask    units of the ring - 1; their number is a power of two
 * data    the units, and PACC_POOL_SLACK bytes for a record that starts in
 *         the last one
 * tags    per unit: position << 24 | units of the piece that started there
 *         and is back; other values are leftovers
 */
struct pacc_pool {
  uint64_t head;
  uint64_t tail;
  uint64_t credit;
  uint64_t mask;
  unsigned char *data;
  uint64_t *tags;
};

/* A batch: so many bytes, the arguments of a launch if some of them are the
 * same for all, and the records. */
#define PACC_BATCH_HEAD 160u

static inline uint32_t pacc_common_bytes(uint32_t arg_bytes, uint64_t same) {
  return same ? (arg_bytes + 31u) & ~31u : 0;
}

/* A record: so many bytes, as many again for block and shared memory, and the
 * launch's arguments. What is the same for all launches is left out. */
#define PACC_RECORD_HEAD 16u

static inline uint32_t pacc_record_bytes(uint32_t arg_bytes, uint64_t same,
                                         uint32_t same_shape) {
  uint32_t words = (arg_bytes + 7u) / 8u - (uint32_t)__builtin_popcountll(same);
  uint32_t head = same_shape ? PACC_RECORD_HEAD : 2 * PACC_RECORD_HEAD;
  return (head + words * 8u + 31u) & ~31u;
}

/* What a slot's batch needs: pacc_record_bytes() and pacc_common_bytes(). */
struct pacc_room {
  uint32_t record;
  uint32_t common;
};

/* The most launches of a kernel that wait for the end of a block or grid. */
#define PACC_SLOTS 8u

/* Waits for all blocks of the grid if `wanted`, which is the same in all of its
 * threads. The grid has one dimension, its blocks are all resident, and `word`
 * is 0 before the first kernel that uses it. */
void __pacc_dev_grid_barrier(uint32_t *word, uint32_t wanted);

/* The most registers of functions that are not inlined: with as many for each
 * thread, a multiprocessor has all the threads that it can have (CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability"). */
#define PACC_MAX_REGISTERS 32u

struct pacc_batch;

/* The launch as the source has it. Returns CUDA's error code. */
uint32_t __pacc_dev_launch_plain(const struct pacc_launch *launch);

/* Launches that the active lanes of a warp ask for together, at once. Falls
 * back to one plain launch per lane. If launch->wait is not PACC_NOW, the
 * grid's threads are counted at its end. */
void __pacc_dev_launch_warp(const struct pacc_launch *launch);

/* Block groups: every thread of a block calls begin first. */
void __pacc_dev_block_begin(void);

/* Captures a launch for slot `slot` of the group's `slots` launches. The
 * thread may call it once for each slot, and more often if the launch has no
 * order with others of the thread. rooms[s] is what slot s needs. If the group
 * has no memory, it acts as __pacc_dev_launch_warp. */
void __pacc_dev_block_record(const struct pacc_launch *launch, uint32_t slot,
                             uint32_t slots, const struct pacc_room *rooms);
void __pacc_dev_grid_record(const struct pacc_launch *launch, uint32_t slot,
                            uint32_t slots, const struct pacc_room *rooms);

/* Where a thread is among the launches of its block: 0 at its start. */
struct pacc_turn {
  uint32_t epoch;
  uint32_t line;
};

/* Launches of a block that have an order in each thread and may come more than
 * once: each thread calls rounds_begin in place of block_begin. Launches with
 * one `kind` are of one kernel and into the same streams. The launches of a
 * thread stay in order; what finds no memory goes out at once, behind what was
 * recorded before. */
void __pacc_dev_rounds_begin(void);
void __pacc_dev_rounds_record(const struct pacc_launch *launch, uint32_t kind,
                              struct pacc_turn *turn);

/* The end of a kernel, where every thread of it leaves.
 *
 * One thread of each block learns that all of the block are there:
 *   block_meet   not 0 in one thread, after all have come. Threads wait here,
 *                so it is for kernels whose threads wait for each other nowhere
 *                else, or only where each of them comes by once
 *   block_leave  not 0 in the last thread to come; nobody waits. For kernels
 *                that called block_begin
 * That thread calls block_flush for each slot in order, if there are block
 * groups, or rounds_flush after rounds_begin, and then block_leaves_grid, with
 * the result that it got.
 *
 *   block_leaves_grid  true if its block was the grid's last
 *   grid_leave         the same of a single thread, where neither block_meet
 *                      nor block_leave will do
 * The thread that gets true calls grid_flush for each slot in order, if there
 * are grid groups, and then grid_close. Kernels without grid groups and without
 * launches that may wait do not need these.
 *
 * `pended` is 0 if this thread asked for no launch: what it wrote need not be
 * visible to children then.
 *
 * Of `launch`, only what is the same for all launches of the slot is read. */
uint32_t __pacc_dev_block_meet(uint32_t pended);
uint32_t __pacc_dev_block_leave(void);
void __pacc_dev_block_flush(const struct pacc_launch *launch, uint32_t slot);
void __pacc_dev_rounds_flush(void);
uint32_t __pacc_dev_block_leaves_grid(uint32_t left);
uint32_t __pacc_dev_grid_leave(uint32_t pended);
void __pacc_dev_grid_flush(const struct pacc_launch *launch, uint32_t slot);
void __pacc_dev_grid_close(void);

/* Start of an aggregated kernel: finds the record of this block, fills `ids`,
 * returns the record's arguments, aligned to 16. Those that are the same for
 * all are behind the batch's head. */
const void *__pacc_dev_child_begin(struct pacc_batch *batch,
                                   struct pacc_ids *ids);

/* After the arguments were loaded: lets the batch's memory go when all blocks
 * are here. False in threads that the block of the source does not have. All
 * threads of the block call it. */
uint32_t __pacc_dev_child_loaded(struct pacc_batch *batch,
                                 const struct pacc_ids *ids);

/* All of an aggregated kernel that has no body: launches its kernel once per
 * record, plainly. */
void __pacc_dev_child_forward(struct pacc_batch *batch);

#endif
