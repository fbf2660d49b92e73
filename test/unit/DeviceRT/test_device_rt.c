/* test_device_rt.c: the device runtime on the emulated GPU. Programs of
 * random launches run at each granularity, with pools too small for them and
 * launches that fail. Every launch of the program has to run exactly once,
 * with its own grid, block, thread numbers and arguments; launches of one
 * thread into a NULL stream in their order; and the pool has to be whole
 * again at the end. */
#include "device.h"
#include "emulator.h"
#include "gpuintrin.h"
#include "private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define POOL_UNITS_MOST 4096u
#define SLOTS_MOST 3u
#define LAUNCHES_MOST 65536u

static _Alignas(256) unsigned char pool_data[POOL_UNITS_MOST * PACC_POOL_UNIT +
                                             PACC_POOL_SLACK];
static uint64_t pool_tags[POOL_UNITS_MOST];
struct pacc_pool __pacc_dev_pool;

enum level { PLAIN, WARP, BLOCK, GRID, ROUNDS };

/* What the program of a seed is. */
static struct {
  uint64_t seed;
  enum level level;
  uint64_t plain_stream;
  uint64_t merged_stream;
  uint32_t wait;
  uint32_t slots;
  uint32_t depth;
  uint32_t again;   /* rounds of a loop round the launches, after the first */
  uint32_t density; /* of 100 threads, so many launch at a slot */
  bool huge;        /* some launches are too large to be merged */
  bool meets;       /* blocks meet at the end of a kernel */
  uint64_t same;    /* SAME, or 0 */
  bool same_shape;
} program;

/* What a launch asked for, and what was seen of it. */
static struct launch {
  struct emu_dim3 grid;
  struct emu_dim3 block;
  uint64_t threads;
  uint64_t hash;
  uint64_t begin;
  uint64_t end;
  int64_t previous; /* the same thread's launch before, or -1 */
} launches[LAUNCHES_MOST];
static uint32_t launch_count;

/* 40 bytes, 7 of them padding: what a kernel's argument buffer may look like.
 * The depth is the same for all threads of a grid. */
struct arguments {
  uint32_t launch;
  uint64_t depth;
  uint64_t key;
  unsigned char tail[9];
};
#define ARGUMENT_BYTES 33u
#define SAME (UINT64_C(1) << 1)

static uint64_t mix(uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

static uint64_t hash_of(struct emu_dim3 block, struct emu_dim3 thread) {
  return mix(mix(block.x | (uint64_t)block.y << 24 | (uint64_t)block.z << 44) ^
             (thread.x | (uint64_t)thread.y << 24 | (uint64_t)thread.z << 44));
}

static struct emu_dim3 dim3(uint64_t x, uint64_t y, uint64_t z) {
  struct emu_dim3 result = {(uint32_t)x, (uint32_t)y, (uint32_t)z};
  return result;
}

static uint64_t product(struct emu_dim3 d) { return (uint64_t)d.x * d.y * d.z; }

static void child_plain(const void *parameters);
static void child_merged(const void *parameters);
static const struct pacc_room *rooms(void) {
  static struct pacc_room result[SLOTS_MOST];
  for (uint32_t i = 0; i < SLOTS_MOST; ++i) {
    result[i].record =
        pacc_record_bytes(ARGUMENT_BYTES, program.same, program.same_shape);
    result[i].common = pacc_common_bytes(ARGUMENT_BYTES, program.same);
  }
  return result;
}

static const struct emu_dim3 same_block = {5, 2, 1};

/* One `kernel<<<grid, block>>>(arguments)` of the source. */
static void launch_at(uint64_t key, uint32_t slot, uint32_t depth,
                      int64_t *previous, struct pacc_turn *turn) {
  uint64_t r = mix(key * SLOTS_MOST + slot + 1);
  struct emu_dim3 grid = dim3(1 + r % 2, 1 + (r >> 8) % 2, 1 + (r >> 16) % 2);
  struct emu_dim3 block =
      dim3(1 + (r >> 24) % 4, 1 + (r >> 32) % 3, 1 + (r >> 40) % 2);
  if (r >> 48 % 8 == 0)
    block = dim3(40, 1, 1);
  if (program.same_shape)
    block = same_block;
  bool by_block = program.level == BLOCK || program.level == ROUNDS;
  if (program.huge && r % 64 == 0)
    grid = by_block ? dim3(1, 41, 25) : dim3(1, 257, 256); /* one too many */
  uint32_t number = __atomic_fetch_add(&launch_count, 1, __ATOMIC_SEQ_CST);
  assert_true(number < LAUNCHES_MOST);
  launches[number].grid = grid;
  launches[number].block = block;
  launches[number].begin = UINT64_MAX;
  launches[number].previous = *previous;
  *previous = number;

  struct arguments arguments;
  memset(&arguments, 0, sizeof arguments);
  arguments.launch = number;
  arguments.depth = depth - 1;
  arguments.key = r;
  for (uint32_t i = 0; i < sizeof arguments.tail; ++i)
    arguments.tail[i] = (unsigned char)(r >> i);
  struct pacc_launch launch = {
      .kernel = (void *)(uintptr_t)child_plain,
      .aggregated = (void *)(uintptr_t)child_merged,
      .args = &arguments,
      .stream = (void *)program.plain_stream,
      .agg_stream = (void *)program.merged_stream,
      .same = program.same,
      .arg_bytes = ARGUMENT_BYTES,
      .shared = program.same_shape ? 100 : (uint32_t)(r >> 50),
      .wait = program.wait,
      .same_shape = program.same_shape,
      .grid = {grid.x, grid.y, grid.z},
      .block = {block.x, block.y, block.z},
  };
  switch (program.level) {
  case PLAIN:
    (void)__pacc_dev_launch_plain(&launch);
    break;
  case WARP:
    __pacc_dev_launch_warp(&launch);
    break;
  case BLOCK:
    __pacc_dev_block_record(&launch, slot, program.slots, rooms());
    break;
  case GRID:
    __pacc_dev_grid_record(&launch, slot, program.slots, rooms());
    break;
  case ROUNDS:
    __pacc_dev_rounds_record(&launch, slot, turn);
    break;
  }
}

/* Whether it launched. */
static bool parent_body(uint64_t key, uint32_t depth) {
  int64_t previous = -1;
  struct pacc_turn turn = {0, 0};
  if (depth == 0)
    return false;
  for (uint32_t i = 0; i < program.slots * (program.again + 1); ++i) {
    if (mix(key + i * 77) % 100 < program.density)
      launch_at(key + i / program.slots, i % program.slots, depth, &previous,
                &turn);
    if (program.density < 100 && mix(key + 5) % 7 == 0)
      break;
  }
  return previous >= 0;
}

/* What the compiler adds where threads begin and leave. */
static void parent_begin(void) {
  if (program.level == BLOCK)
    __pacc_dev_block_begin();
  if (program.level == ROUNDS)
    __pacc_dev_rounds_begin();
}

static void parent_end(uint32_t depth, bool pended) {
  struct arguments arguments = {.depth = depth - 1};
  struct pacc_launch launch = {
      .kernel = (void *)(uintptr_t)child_plain,
      .aggregated = (void *)(uintptr_t)child_merged,
      .args = &arguments,
      .stream = (void *)program.plain_stream,
      .agg_stream = (void *)program.merged_stream,
      .same = program.same,
      .arg_bytes = ARGUMENT_BYTES,
      .shared = program.same_shape ? 100 : 0,
      .wait = program.wait,
      .same_shape = program.same_shape,
      .block = {same_block.x, same_block.y, same_block.z},
  };
  bool in_grid = program.level == GRID, in_rounds = program.level == ROUNDS;
  bool in_block = program.level == BLOCK || in_rounds;
  bool by_block = in_block || program.meets;
  bool uses_grid = in_grid || program.wait;
  if (!in_block && !uses_grid)
    return;
  uint32_t last = 1;
  if (by_block)
    last = program.meets ? __pacc_dev_block_meet(pended)
                         : __pacc_dev_block_leave();
  if (last && in_rounds)
    __pacc_dev_rounds_flush();
  else
    for (uint32_t slot = 0; last && in_block && slot < program.slots; ++slot)
      __pacc_dev_block_flush(&launch, slot);
  if (!last || !uses_grid)
    return;
  if (by_block ? __pacc_dev_block_leaves_grid(last)
               : __pacc_dev_grid_leave(pended)) {
    for (uint32_t slot = 0; in_grid && slot < program.slots; ++slot)
      __pacc_dev_grid_flush(&launch, slot);
    __pacc_dev_grid_close();
  }
}

static bool child_body(const struct arguments *arguments, struct emu_dim3 grid,
                       struct emu_dim3 block, struct emu_dim3 block_id,
                       struct emu_dim3 thread) {
  struct launch *launch = &launches[arguments->launch];
  assert_memory_equal(&grid, &launch->grid, sizeof grid);
  assert_memory_equal(&block, &launch->block, sizeof block);
  for (uint32_t i = 0; i < sizeof arguments->tail; ++i)
    assert_int_equal(arguments->tail[i], (unsigned char)(arguments->key >> i));
  uint64_t now = emu_tick();
  if (now < launch->begin)
    launch->begin = now;
  if (now > launch->end)
    launch->end = now;
  ++launch->threads;
  launch->hash += hash_of(block_id, thread);
  uint64_t place = block_id.x + grid.x * (block_id.y + grid.y * block_id.z);
  place = place * 4096 + thread.x + block.x * (thread.y + block.y * thread.z);
  return parent_body(mix(arguments->key ^ place), (uint32_t)arguments->depth);
}

static void child_plain(const void *parameters) {
  parent_begin();
  bool pended = child_body(parameters, emu_grid_size(), emu_block_size(),
                           emu_block(), emu_thread());
  parent_end((uint32_t)((const struct arguments *)parameters)->depth, pended);
}

static void child_merged(const void *parameters) {
  struct pacc_batch *batch = *(struct pacc_batch *const *)parameters;
  struct pacc_ids ids;
  parent_begin();
  struct arguments arguments;
  const char *record = __pacc_dev_child_begin(batch, &ids);
  if (program.same) {
    memcpy(&arguments, record, 8);
    memcpy(&arguments.depth, (char *)batch + PACC_BATCH_HEAD + 8, 8);
    memcpy(&arguments.key, record + 8, 17);
  } else {
    memcpy(&arguments, record, ARGUMENT_BYTES);
  }
  bool pended = false;
  if (__pacc_dev_child_loaded(batch, &ids))
    pended = child_body(
        &arguments, dim3(ids.grid_size[0], ids.grid_size[1], ids.grid_size[2]),
        dim3(ids.block_size[0], ids.block_size[1], ids.block_size[2]),
        dim3(ids.block[0], ids.block[1], ids.block[2]),
        dim3(ids.thread[0], ids.thread[1], ids.thread[2]));
  parent_end((uint32_t)arguments.depth, pended);
}

static void root(const void *parameters) {
  (void)parameters;
  parent_begin();
  uint64_t place = emu_block().x * 1024 + emu_thread().x;
  bool pended = parent_body(mix(program.seed ^ place << 20), program.depth);
  parent_end(program.depth, pended);
}

static void pool_reset(uint32_t units) {
  memset(pool_tags, 0, sizeof pool_tags);
  memset(pool_data, 0xcd, sizeof pool_data);
  __pacc_dev_pool = (struct pacc_pool){
      .credit = units,
      .mask = units - 1,
      .data = pool_data,
      .tags = pool_tags,
  };
}

static struct emu_counts run(const struct emu_options *options,
                             uint32_t pool_units, struct emu_dim3 grid,
                             struct emu_dim3 block) {
  pool_reset(pool_units);
  memset(launches, 0, sizeof launches);
  launch_count = 0;
  struct emu_counts counts = emu_run(options, root, "", 1, grid, block);
  bool ordered = program.plain_stream == 0 && program.merged_stream == 0;
  for (uint32_t i = 0; i < launch_count; ++i) {
    const struct launch *launch = &launches[i];
    uint64_t hash = 0;
    for (uint32_t b = 0; b < product(launch->grid); ++b)
      for (uint32_t t = 0; t < product(launch->block); ++t) {
        struct emu_dim3 g = launch->grid, k = launch->block;
        hash += hash_of(dim3(b % g.x, b / g.x % g.y, b / g.x / g.y),
                        dim3(t % k.x, t / k.x % k.y, t / k.x / k.y));
      }
    assert_int_equal(launch->threads,
                     product(launch->grid) * product(launch->block));
    assert_int_equal(launch->hash, hash);
    if (ordered && launch->previous >= 0)
      assert_true(launches[launch->previous].end < launch->begin);
  }
  assert_int_equal(__pacc_dev_pool.credit, pool_units);
  assert_int_equal(__pacc_dev_pool.head, __pacc_dev_pool.tail);
  return counts;
}

static void test_every_launch_runs_once(void **state) {
  (void)state;
  static const uint32_t pools[] = {1, 4, 16, 4096};
  for (uint64_t seed = 1; seed <= 8; ++seed)
    for (enum level level = WARP; level <= ROUNDS; ++level)
      for (uint32_t p = 0; p < 4; ++p) {
        program.seed = seed;
        program.level = level;
        program.slots = seed % 3 == 1 ? 1 : SLOTS_MOST;
        program.density = seed % 3 == 0 ? 10 : 60;
        program.depth = 1 + seed % 2;
        program.plain_stream = seed % 4 == 0 ? 2 : 0;
        program.merged_stream = seed % 4 < 2 ? 4 : 0;
        /* Launches with an order are recorded in a loop only in rounds. */
        program.again = program.merged_stream == 4 ? seed % 3 : 0;
        if (level == ROUNDS)
          program.again = 2 * (uint32_t)(seed % 4);
        program.meets = seed / 4 % 2;
        program.same = seed / 2 % 2 ? SAME : 0;
        program.same_shape = seed % 5 < 2;
        struct emu_options options = {.seed = seed * 100 + p,
                                      .resident = 1 + (uint32_t)seed % 6,
                                      .failures = p == 3 ? 0 : 20,
                                      .fails = child_merged};
        uint32_t blocks = program.depth == 1 ? 3 : 1;
        uint32_t threads = program.depth == 1 ? 40 : 5;
        run(&options, pools[p], dim3(blocks, 1, 1), dim3(threads, 1, 1));
      }
  program.again = 0;
}

/* With memory for all and no failures there is one launch per slot and group.
 */
static void test_no_launch_is_lost_without_room(void **state) {
  (void)state;
  static const uint32_t pools[] = {1024, 4096};
  uint64_t no_room = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed)
    for (enum level level = WARP; level <= ROUNDS; ++level)
      for (uint32_t p = 0; p < 2; ++p) {
        program.seed = seed;
        program.level = level;
        program.slots = seed % 3 == 1 ? 1 : SLOTS_MOST;
        program.density = 40;
        /* In one stream the grids that wait may wait for the one that wants to
         * launch: nobody can help that. */
        program.depth = 2 - seed % 2;
        program.plain_stream = seed % 2 ? 0 : 4;
        program.merged_stream = seed % 2 ? 0 : 4;
        program.wait = seed % 2 ? PACC_LATER_ALL : PACC_LATER;
        program.meets = seed / 2 % 2;
        program.same = seed % 3 == 2 ? SAME : 0;
        program.same_shape = seed % 5 < 2;
        struct emu_options options = {
            .seed = seed * 100 + p, .resident = 12, .pending = 2};
        uint32_t threads = program.depth == 1 ? 40 : 5;
        struct emu_counts counts =
            run(&options, pools[p], dim3(2, 1, 1), dim3(threads, 1, 1));
        no_room += counts.no_room;
      }
  assert_true(no_room > 0);
  program.wait = PACC_NOW;
}

/* With memory for all and no failures there is one launch per slot and group.
 */
static void test_launches_are_few(void **state) {
  (void)state;
  struct emu_options options = {.seed = 5, .resident = 8};
  program.seed = 99;
  program.slots = SLOTS_MOST;
  program.depth = 1;
  program.density = 100;
  program.plain_stream = program.merged_stream = 0;
  program.level = GRID;
  struct emu_counts counts = run(&options, 4096, dim3(8, 1, 1), dim3(40, 1, 1));
  assert_int_equal(counts.launches, SLOTS_MOST);
  program.level = BLOCK;
  counts = run(&options, 4096, dim3(8, 1, 1), dim3(40, 1, 1));
  assert_int_equal(counts.launches, 8 * SLOTS_MOST);
  /* In rounds, one for each line. */
  program.level = ROUNDS;
  program.again = 1;
  counts = run(&options, 4096, dim3(8, 1, 1), dim3(32, 1, 1));
  assert_int_equal(counts.launches, 8 * 2 * SLOTS_MOST);
  program.again = 0;
  program.level = PLAIN;
  counts = run(&options, 4096, dim3(8, 1, 1), dim3(40, 1, 1));
  assert_int_equal(counts.launches, 8 * 40 * SLOTS_MOST);
}

static void test_huge_launches_go_alone(void **state) {
  (void)state;
  struct emu_options options = {.seed = 6, .resident = 4};
  program.huge = true;
  program.slots = SLOTS_MOST;
  program.depth = 1;
  program.density = 100;
  program.plain_stream = program.merged_stream = 0;
  for (enum level level = WARP; level <= ROUNDS; ++level) {
    program.seed = 7;
    program.level = level;
    struct emu_counts counts =
        run(&options, 4096, dim3(2, 1, 1), dim3(20, 1, 1));
    assert_in_range(counts.launches, SLOTS_MOST, 39);
  }
  program.huge = false;
}

/* CUDA would refuse them, and is not asked; the others are merged all the
 * same. */
static void bad_parent(const void *parameters) {
  (void)parameters;
  struct arguments arguments = {.launch = 0};
  bool bad = emu_thread().x % 4 == 0;
  launches[0].grid = dim3(2, 1, 1);
  launches[0].block = dim3(5, 1, 1);
  struct pacc_launch launch = {
      .kernel = (void *)(uintptr_t)child_plain,
      .aggregated = (void *)(uintptr_t)child_merged,
      .args = &arguments,
      .agg_stream = (void *)4,
      .arg_bytes = ARGUMENT_BYTES,
      .grid = {bad ? 0 : 2, 1, 1},
      .block = {emu_thread().x == 1 ? 1025 : 5, 1, 1},
  };
  __pacc_dev_launch_warp(&launch);
}

static void test_bad_launches_are_left_out(void **state) {
  (void)state;
  program.level = WARP;
  pool_reset(64);
  memset(launches, 0, sizeof launches);
  struct emu_options options = {.seed = 8, .resident = 4};
  struct emu_counts counts =
      emu_run(&options, bad_parent, "", 1, dim3(1, 1, 1), dim3(32, 1, 1));
  assert_int_equal(counts.refused, 0);
  assert_int_equal(launches[0].threads, 23 * 10);
  assert_int_equal(__pacc_dev_pool.credit, 64);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_launch_runs_once),
      cmocka_unit_test(test_no_launch_is_lost_without_room),
      cmocka_unit_test(test_launches_are_few),
      cmocka_unit_test(test_huge_launches_go_alone),
      cmocka_unit_test(test_bad_launches_are_left_out),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
