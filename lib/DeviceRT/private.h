/* private.h: what the files of the device runtime share.
 *
 * Atomics say MEMORY_SCOPE_DEVICE; clang 22 has no scopes for NVPTX in C, so
 * the plugin sets the scope when it links this code (Runtime.cpp there).
 */
#ifndef PACC_DEVICE_PRIVATE_H
#define PACC_DEVICE_PRIVATE_H

#include "device.h"

#include <gpuintrin.h>
#include <stdbool.h>

#define PACC_INLINE static inline __attribute__((always_inline))

/* Code that runs once per grid, per launch to CUDA, or hardly ever: there is
 * one copy of it, and not one per launch of the source. */
#define PACC_COLD __attribute__((noinline))

/* A record is this header, block and shared memory if they differ from record
 * to record, and the argument words. first   blocks of the batch before this
 * record grid_yz grid sizes along y (low half) and z (high half) done    on the
 * first record of each span of PACC_SPAN: blocks of the span that have loaded
 * their arguments
 */
struct pacc_record {
  uint32_t first;
  uint32_t grid_x;
  uint32_t grid_yz;
  uint32_t done;
};

struct pacc_shape {
  uint32_t block[3];
  uint32_t shared;
};

/* Blocks count themselves per span of records and spans per batch, so that
 * 100,000 blocks do not queue at one address. */
#define PACC_SPAN 32u

/* A launch with more blocks than this is worth a grid of its own. The limit
 * keeps the sum over a warp, and the packed sum over 2^24 records, in range;
 * in a block, the packed sum over 2^11 records. */
#define PACC_MAX_BLOCKS 65536u
#define PACC_MAX_BLOCKS_IN_BLOCK 1024u

/* The most blocks of a grid, along x. */
#define PACC_MAX_GRID 0x7fffffffu

/* Made by the plugin, in the size that the user asked for. */
extern struct pacc_pool __pacc_dev_pool;

/* A batch: the head of a piece of the pool, the records behind it.
 * data, mask   copied from the pool
 * position     where the piece starts, in units
 * units        size of the piece
 * records      how many there are
 * blocks       of all records together
 * blocks_done  of the spans whose blocks have all loaded their arguments
 * stride       bytes from one record to the next
 * start        bytes from the batch to its first record
 * threads      largest block
 * shared       largest dynamic shared memory
 * most_blocks  records with more are too large to be merged
 * apart        some record is too large to be merged
 * wait         that of the launches
 * same_shape   all records have `shape`
 * next         in the list of batches that wait for the end of the grid
 * The others are those of struct pacc_launch.
 */
struct pacc_batch {
  struct pacc_pool *pool;
  unsigned char *data;
  uint64_t mask;
  uint64_t position;
  uint32_t units;
  uint32_t records;
  uint32_t blocks;
  uint32_t blocks_done;
  uint32_t stride;
  uint32_t threads;
  uint32_t shared;
  uint32_t apart;
  uint32_t wait;
  void *kernel;
  void *aggregated;
  void *stream;
  void *agg_stream;
  struct pacc_batch *next;
  uint64_t same;
  uint32_t arg_bytes;
  uint32_t start;
  struct pacc_shape shape;
  uint32_t same_shape;
  uint32_t most_blocks;
};

_Static_assert(sizeof(struct pacc_batch) <= PACC_BATCH_HEAD, "head too small");

_Static_assert(sizeof(struct pacc_record) == PACC_RECORD_HEAD &&
                   sizeof(struct pacc_shape) == PACC_RECORD_HEAD,
               "a record has another head");

/* Record number `index` of a batch; its bytes are in one piece. */
PACC_INLINE struct pacc_record *
pacc_batch_record(const struct pacc_batch *batch, uint64_t index) {
  uint64_t offset =
      batch->position * PACC_POOL_UNIT + batch->start + index * batch->stride;
  uint64_t bytes = (batch->mask + 1) * PACC_POOL_UNIT;
  return (struct pacc_record *)(batch->data + (offset & (bytes - 1)));
}

PACC_INLINE const struct pacc_shape *
pacc_record_shape(const struct pacc_batch *batch,
                  const struct pacc_record *record) {
  return batch->same_shape ? &batch->shape
                           : (const struct pacc_shape *)(record + 1);
}

/* The argument words of a record, aligned to 16. */
PACC_INLINE const void *
pacc_record_arguments(const struct pacc_batch *batch,
                      const struct pacc_record *record) {
  return record + (batch->same_shape ? 1 : 2);
}

/* pool.c */

/* A batch with room for `records` records, or NULL. The counts are 0. */
struct pacc_batch *pacc_batch_take(uint64_t records, struct pacc_room room,
                                   uint32_t most_blocks);
void pacc_batch_give(struct pacc_batch *batch);

/* launch.c: all return CUDA's error codes */

#define PACC_CUDA_NO_ROOM 69u /* cudaErrorLaunchPendingCountExceeded */

/* False if CUDA would refuse the grid or the block. Then nothing is launched:
 * what CUDA refuses keeps its argument buffer. */
uint32_t pacc_launch_is_valid(const struct pacc_launch *launch);

/* Blocks of a valid launch, 0 if it has more than `most`, too many to be
 * merged. */
uint32_t pacc_launch_blocks(const struct pacc_launch *launch, uint32_t most);

/* batch.c */

void pacc_record_write(struct pacc_record *record,
                       const struct pacc_launch *launch, uint32_t first);
struct pacc_launch pacc_record_read(const struct pacc_batch *batch,
                                    uint32_t index);

/* What is the same for all launches of a batch. */
void pacc_batch_describe(struct pacc_batch *batch,
                         const struct pacc_launch *launch, uint32_t threads,
                         uint32_t shared);

/* The batch as one grid. If that fails, the batch is still the caller's; else
 * it is the grid's. */
uint32_t pacc_batch_launch(struct pacc_batch *batch);

/* Patience of a thread that waits for CUDA to have room, in suspensions: some
 * seconds, in which the children that fill the queue run. It is for all
 * launches of the thread together; without any (NULL, or 0 left) nobody waits.
 * Only the last thread of a grid may have patience, since others would keep the
 * children from running. */
#define PACC_PATIENCE (1u << 27)

/* Nanoseconds of a suspension. */
#define PACC_PAUSE 64u

/* As __pacc_dev_launch_plain(). */
uint32_t pacc_launch_patiently(const struct pacc_launch *launch,
                               uint32_t *patience);

/* Launches all of a batch, record by record where it can't be one grid, and
 * gives it back. */
void pacc_batch_send(struct pacc_batch *batch, uint32_t *patience);

/* Launches a batch all at once or not at all; then it returns 0. */
uint32_t pacc_batch_try(struct pacc_batch *batch);

/* grid.c */

struct pacc_group;

/* The state of this grid, made by its first caller. Without a fence, only its
 * count may be used. */
struct pacc_group *pacc_grid_entry(void);
struct pacc_group *pacc_grid_group(void);

/* Leaves a batch to the last thread of the grid. */
void pacc_grid_defer(struct pacc_batch *batch);

/* True once a batch of this grid was left to its end whose order counts. */
uint32_t pacc_grid_is_deferring(void);

PACC_INLINE uint32_t pacc_launch_threads(const struct pacc_launch *launch) {
  return launch->block[0] * launch->block[1] * launch->block[2];
}

/* The number of the running grid; no two grids that run at once share it. */
PACC_INLINE uint64_t pacc_grid_number(void) {
#ifdef __NVPTX__
  uint64_t number;
  __asm__ volatile("mov.u64 %0, %%gridid;" : "=l"(number));
  return number;
#else
  return __gpu_grid_number(); /* Given by the tests' emulation of a GPU. */
#endif
}

/* The barrier that the lanes of a warp may come to one by one, and whether
 * `value` is true in any thread; no builtin of clang's. */
bool pacc_barrier_any(int32_t number, bool value)
#ifdef __NVPTX__
    __asm__("llvm.nvvm.barrier.cta.red.or.all")
#endif
        ;

/* Lanes of a warp. `mask` is a set of lanes that all call with that mask. */
PACC_INLINE uint32_t pacc_lanes(void) { return (uint32_t)__gpu_lane_mask(); }

PACC_INLINE uint32_t pacc_lane_first(uint32_t mask) {
  return (uint32_t)__builtin_ctz(mask);
}

PACC_INLINE uint32_t pacc_lanes_below(uint32_t mask) {
  return mask & ((1u << __gpu_lane_id()) - 1u);
}

PACC_INLINE uint32_t pacc_lanes_count(uint32_t mask) {
  return (uint32_t)__builtin_popcount(mask);
}

PACC_INLINE uint32_t pacc_lanes_where(uint32_t mask, uint32_t condition) {
  return mask & (uint32_t)__gpu_ballot(mask, condition != 0);
}

PACC_INLINE uint32_t pacc_lane_u32(uint32_t mask, uint32_t value,
                                   uint32_t lane) {
  return (uint32_t)__nvvm_shfl_sync_idx_i32(mask, (int)value, (int)lane, 31);
}

PACC_INLINE uint64_t pacc_lane_u64(uint32_t mask, uint64_t value,
                                   uint32_t lane) {
  uint64_t low = pacc_lane_u32(mask, (uint32_t)value, lane);
  uint64_t high = pacc_lane_u32(mask, (uint32_t)(value >> 32), lane);
  return high << 32 | low;
}

PACC_INLINE void *pacc_lane_ptr(uint32_t mask, void *value, uint32_t lane) {
  return (void *)pacc_lane_u64(mask, (uint64_t)value, lane);
}

PACC_INLINE uint32_t pacc_lane_last(uint32_t mask) {
  return 31u - (uint32_t)__builtin_clz(mask);
}

typedef uint32_t pacc_join(uint32_t a, uint32_t b);

PACC_INLINE uint32_t pacc_join_sum(uint32_t a, uint32_t b) { return a + b; }

PACC_INLINE uint32_t pacc_join_max(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* join() over the lanes of `mask` up to and with this one. Each lane follows
 * links to the lane before it; the links double in every step. */
PACC_INLINE uint32_t pacc_lanes_prefix(uint32_t mask, uint32_t value,
                                       pacc_join *join) {
  uint32_t self = __gpu_lane_id();
  uint32_t below = pacc_lanes_below(mask);
  uint32_t link = below ? pacc_lane_last(below) : self;
  for (uint32_t step = 0; step < 5; ++step) {
    uint32_t other = pacc_lane_u32(mask, value, link);
    uint32_t next = pacc_lane_u32(mask, link, link);
    if (link != self) {
      value = join(value, other);
      link = next == link ? self : next;
    }
  }
  return value;
}

#define PACC_FULL_WARP 0xffffffffu

/* Without gaps from lane 0 on, as all warps of a block are. */
PACC_INLINE bool pacc_lanes_are_dense(uint32_t mask) {
  return (mask & (mask + 1)) == 0;
}

/* The value of the lane `step` below, or the lane's own if there is none. */
PACC_INLINE uint32_t pacc_dense_below(uint32_t mask, uint32_t value,
                                      uint32_t step) {
  return (uint32_t)__nvvm_shfl_sync_up_i32(mask, (int)value, (int)step, 0);
}

/* The value plus that of the lane `step` below, if there is one: the shuffle
 * itself tells, which no builtin of clang gives. The form is the one of CUB,
 * which the CPU device knows. */
PACC_INLINE uint32_t pacc_dense_add_below(uint32_t mask, uint32_t value,
                                          uint32_t step) {
  uint32_t sum;
#ifdef __NVPTX__
  __asm__("{ .reg .u32 other; .reg .pred p;\n\t"
          "shfl.sync.up.b32 other|p, %1, %2, %3, %4;\n\t"
          "mov.u32 %0, %1;\n\t"
          "@p add.u32 %0, other, %1; }"
          : "=&r"(sum)
          : "r"(value), "n"(step), "n"(0), "r"(mask));
#else
  sum = pacc_dense_below(mask, value, step);
  sum = __gpu_lane_id() < step ? value : value + sum;
#endif
  return sum;
}

/* Sums and maxima over the lanes of a dense `mask` up to and with this one. */
PACC_INLINE uint32_t pacc_dense_sum(uint32_t mask, uint32_t value) {
  value = pacc_dense_add_below(mask, value, 1);
  value = pacc_dense_add_below(mask, value, 2);
  value = pacc_dense_add_below(mask, value, 4);
  value = pacc_dense_add_below(mask, value, 8);
  return pacc_dense_add_below(mask, value, 16);
}

PACC_INLINE uint32_t pacc_dense_max(uint32_t mask, uint32_t value) {
  for (uint32_t step = 1; step < 32; step *= 2)
    value = pacc_join_max(value, pacc_dense_below(mask, value, step));
  return value;
}

/* What the launches of lanes up to and with one come to: the sum of their
 * blocks, the most threads of a block, the most shared memory. */
struct pacc_extent {
  uint32_t blocks;
  uint32_t threads;
  uint32_t shared;
};

PACC_INLINE struct pacc_extent pacc_dense_extent(uint32_t mask,
                                                 struct pacc_extent own) {
  struct pacc_extent result = {pacc_dense_sum(mask, own.blocks),
                               pacc_dense_max(mask, own.threads),
                               pacc_dense_max(mask, own.shared)};
  return result;
}

/* Of a full warp the mask is constant, which tells the assembler that nobody
 * has to be waited for. The last lane has all. */
PACC_INLINE struct pacc_extent pacc_lanes_extent(uint32_t mask,
                                                 struct pacc_extent own) {
  if (mask == PACC_FULL_WARP)
    return pacc_dense_extent(PACC_FULL_WARP, own);
  if (pacc_lanes_are_dense(mask))
    return pacc_dense_extent(mask, own);
  struct pacc_extent result = {
      pacc_lanes_prefix(mask, own.blocks, pacc_join_sum),
      pacc_lanes_prefix(mask, own.threads, pacc_join_max),
      pacc_lanes_prefix(mask, own.shared, pacc_join_max)};
  return result;
}

/* The lanes of `mask` that have this lane's key. */
PACC_INLINE uint32_t pacc_lanes_alike(uint32_t mask, uint64_t key) {
  for (uint32_t rest = mask;;) {
    uint64_t first = pacc_lane_u64(rest, key, pacc_lane_first(rest));
    uint32_t alike = pacc_lanes_where(rest, key == first);
    if (key == first)
      return alike;
    rest &= ~alike;
  }
}

PACC_INLINE struct pacc_room pacc_room_of(const struct pacc_launch *launch) {
  struct pacc_room room = {
      pacc_record_bytes(launch->arg_bytes, launch->same, launch->same_shape),
      pacc_common_bytes(launch->arg_bytes, launch->same)};
  return room;
}

/* Whether word `i` of arguments is kept in the records. */
PACC_INLINE uint32_t pacc_word_varies(uint64_t same, uint32_t i) {
  return i >= 64 || !(same >> i & 1);
}

/* Copies an argument buffer; both are aligned to 16. The compiler's own copy
 * of a size that it does not know would go byte by byte. */
PACC_INLINE void pacc_copy_arguments(void *to, const void *from,
                                     uint32_t bytes) {
  uint32_t at = 0;
  for (; at + 8 <= bytes; at += 8)
    *(uint64_t *)((char *)to + at) =
        *(const uint64_t *)((const char *)from + at);
  for (; at < bytes; ++at)
    ((char *)to)[at] = ((const char *)from)[at];
}

/* Memory order. */
#define PACC_SCOPE __MEMORY_SCOPE_DEVICE

PACC_INLINE void pacc_fence(void) {
  __scoped_atomic_thread_fence(__ATOMIC_ACQ_REL, PACC_SCOPE);
}

PACC_INLINE uint32_t pacc_add_u32(uint32_t *at, uint32_t value) {
  return __scoped_atomic_fetch_add(at, value, __ATOMIC_RELAXED, PACC_SCOPE);
}

PACC_INLINE uint64_t pacc_add_u64(uint64_t *at, uint64_t value) {
  return __scoped_atomic_fetch_add(at, value, __ATOMIC_RELAXED, PACC_SCOPE);
}

PACC_INLINE uint32_t pacc_load_u32(const uint32_t *at) {
  return __scoped_atomic_load_n(at, __ATOMIC_RELAXED, PACC_SCOPE);
}

PACC_INLINE uint64_t pacc_load_u64(const uint64_t *at) {
  return __scoped_atomic_load_n(at, __ATOMIC_RELAXED, PACC_SCOPE);
}

PACC_INLINE void pacc_store_u32(uint32_t *at, uint32_t value) {
  __scoped_atomic_store_n(at, value, __ATOMIC_RELAXED, PACC_SCOPE);
}

PACC_INLINE void pacc_store_u64(uint64_t *at, uint64_t value) {
  __scoped_atomic_store_n(at, value, __ATOMIC_RELAXED, PACC_SCOPE);
}

#endif
