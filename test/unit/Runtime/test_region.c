/* test_region.c: what a region does: values, copies, grids, reuse. Each test
 * runs in a child of its own.
 */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void start(void) {
  setenv("PACC_DEVICE", "cuda", 1);
  init_image(&test_image);
}

static struct pacc_rt_counters counters(void) {
  struct pacc_rt_counters now;
  pacc_rt_count(&now, sizeof now);
  return now;
}

/* A test whose work is done by a function of the same name with `child_`. */
#define CHILD_TEST(name)                                                       \
  static void name(void **state) {                                             \
    (void)state;                                                               \
    assert_string_equal(expect_success(child_##name, NULL), "");               \
  }

static void child_results_and_counters(void *argument) {
  (void)argument;
  start();
  for (unsigned i = 0; i < 3; i++)
    CHECK(run_region(&test_region, i) == 1);
  struct pacc_rt_counters now = counters();
  CHECK(now.regions == 3 && now.fallbacks == 0 && now.launches == 9);
  CHECK(now.copies_in == 6 && now.bytes_in == 6 * N * sizeof(double));
  CHECK(now.copies_out == 6);
  CHECK(now.bytes_out == 3 * sizeof(double) * (N + ROWS * WIDTH));
  CHECK(now.modules == 1);
  CHECK(pacc_rt_last_error()[0] == 0);
  CHECK(fake_cuda_current() == NULL);
}
CHILD_TEST(results_and_counters)

/* Another program's structure may end after the first counter. */
static void child_shorter_structures(void *argument) {
  (void)argument;
  start();
  CHECK(run_region(&test_region, 1) == 1);
  uint64_t memory[4] = {7, 7, 7, 7};
  pacc_rt_count((struct pacc_rt_counters *)memory, 2 * sizeof *memory);
  CHECK(memory[0] == 1 && memory[1] == 0 && memory[2] == 7);
  CHECK(strcmp(pacc_rt_version(), PACC_VERSION) == 0);
  CHECK(pacc_rt_abi_version() == PACC_ABI_VERSION);
}
CHILD_TEST(shorter_structures)

static void child_callers_context_stays(void *argument) {
  (void)argument;
  int context;
  start();
  fake_cuda_push(&context);
  CHECK(run_region(&test_region, 1) == 1);
  CHECK(fake_cuda_current() == &context);
  pacc_rt_release();
  CHECK(fake_cuda_current() == &context);
}
CHILD_TEST(callers_context_stays)

static void child_memory_is_reused(void *argument) {
  (void)argument;
  start();
  CHECK(run_region(&test_region, 1) == 1);
  unsigned allocations = fake_cuda_calls("cuMemAlloc_v2");
  unsigned pinned = fake_cuda_calls("cuMemHostRegister_v2");
  unsigned frees = fake_cuda_calls("cuMemFree_v2");
  for (unsigned i = 0; i < 10; i++)
    CHECK(run_region(&test_region, i) == 1);
  CHECK(fake_cuda_calls("cuMemAlloc_v2") == allocations);
  CHECK(fake_cuda_calls("cuMemHostRegister_v2") == pinned);
  CHECK(fake_cuda_calls("cuMemFree_v2") == frees);
  CHECK(fake_cuda_calls("cuStreamCreate") == 1);
  CHECK(fake_cuda_calls("cuModuleLoadDataEx") == 1);
}
CHILD_TEST(memory_is_reused)

static void child_release_returns_everything(void *argument) {
  (void)argument;
  struct fake_cuda_live live;
  start();
  CHECK(run_region(&test_region, 1) == 1);
  CHECK(counters().device_memory > 0 && counters().host_memory > 0);
  pacc_rt_release();
  fake_cuda_live(&live);
  CHECK(live.allocations == 0 && live.host_allocations == 0);
  CHECK(live.modules == 0 && live.streams == 0 && live.events == 0);
  CHECK(counters().device_memory == 0 && counters().host_memory == 0);
  CHECK(run_region(&test_region, 2) == 1);
  CHECK(counters().modules == 2);
}
CHILD_TEST(release_returns_everything)

static void check_launch(void *run, int64_t nx, int64_t ny, int64_t nz,
                         unsigned x, unsigned y, unsigned z) {
  uint64_t address = 0;
  int64_t rows = 0;
  double value = 0;
  int width = 0;
  unsigned grid[3], block[3];
  __pacc_rt_launch(run, FILL, nx, ny, nz,
                   (void *[]){&address, &value, &rows, &width});
  fake_cuda_last_launch(grid, block);
  CHECK(grid[0] == x && grid[1] == y && grid[2] == z);
  CHECK(block[0] == 8 && block[1] == 4 && block[2] == 1);
}

/* FILL's block for nx x ny threads is bx x by. */
static void check_block(void *run, int64_t nx, int64_t ny, unsigned bx,
                        unsigned by) {
  uint64_t address = 0;
  int64_t rows = 0;
  double value = 0;
  int width = 0;
  unsigned grid[3], block[3];
  __pacc_rt_launch(run, FILL, nx, ny, 1,
                   (void *[]){&address, &value, &rows, &width});
  fake_cuda_last_launch(grid, block);
  CHECK(block[0] == bx && block[1] == by && block[2] == 1);
  CHECK(grid[0] == (nx + bx - 1) / bx && grid[1] == (ny + by - 1) / by);
}

/* The device has 4 multiprocessors. */
static void child_blocks_by_size(void *argument) {
  (void)argument;
  static const struct pacc_sized_block smaller[] = {{8, {8, 1, 1}},
                                                    {100, {4, 4, 1}}};
  start();
  static struct pacc_kernel kernels[N_KERNELS];
  memcpy(kernels, test_image.kernels, sizeof kernels);
  kernels[FILL].max_threads = 32;
  kernels[FILL].n_smaller = 2;
  kernels[FILL].smaller = smaller;
  test_image.kernels = kernels;
  void *run = __pacc_rt_begin(&test_region);
  CHECK(run);
  check_block(run, 1, 1, 8, 1);
  check_block(run, 8, 4, 8, 1);
  check_block(run, 33, 1, 4, 4);
  check_block(run, 20, 20, 4, 4);
  check_block(run, 401, 1, 8, 4);
  CHECK(__pacc_rt_end(run) == 1);
}
CHILD_TEST(blocks_by_size)

static void child_grids(void *argument) {
  (void)argument;
  start();
  void *run = __pacc_rt_begin(&test_region);
  CHECK(run);
  check_launch(run, 1, 1, 1, 1, 1, 1);
  check_launch(run, 8, 4, 1, 1, 1, 1);
  check_launch(run, 9, 5, 2, 2, 2, 2);
  check_launch(run, 8 * (int64_t)INT32_MAX, 1, 1, INT32_MAX, 1, 1);
  /* y and z are cut off, the kernel loops over the rest. */
  check_launch(run, 1, 4 * 65535, 65535, 1, 65535, 65535);
  check_launch(run, 1, 4 * 65535 + 1, 65536, 1, 65535, 65535);
  check_launch(run, 1, INT64_MAX, INT64_MAX, 1, 65535, 65535);
  /* Nothing to do: nothing is launched. */
  unsigned launches = fake_cuda_calls("cuLaunchKernel");
  static const int64_t empty[][3] = {{0, 1, 1},  {1, 0, 1},  {1, 1, 0},
                                     {-1, 1, 1}, {1, -5, 1}, {1, 1, INT64_MIN}};
  for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
    __pacc_rt_launch(run, FILL, empty[i][0], empty[i][1], empty[i][2], NULL);
  CHECK(fake_cuda_calls("cuLaunchKernel") == launches);
  CHECK(__pacc_rt_end(run) == 1);
}
CHILD_TEST(grids)

static void child_too_many_blocks(void *argument) {
  (void)argument;
  start();
  void *run = __pacc_rt_begin(&test_region);
  __pacc_rt_launch(run, FILL, 8 * (int64_t)INT32_MAX + 1, 1, 1, NULL);
  CHECK(__pacc_rt_end(run) == 0);
  CHECK(strstr(pacc_rt_last_error(), "2147483648 blocks along x"));
  run = __pacc_rt_begin(&test_region);
  __pacc_rt_launch(run, FILL, INT64_MAX, 1, 1, NULL);
  CHECK(__pacc_rt_end(run) == 0);
  run = __pacc_rt_begin(&test_region);
  __pacc_rt_launch(run, N_KERNELS, 1, 1, 1, NULL);
  CHECK(__pacc_rt_end(run) == 0);
  CHECK(strstr(pacc_rt_last_error(), "there is no kernel 3"));
  CHECK(fake_cuda_calls("cuLaunchKernel") == 0);
  CHECK(counters().fallbacks == 3);
}

static void too_many_blocks(void **state) {
  (void)state;
  const char *text = expect_success(child_too_many_blocks, NULL);
  /* The second is the same failure of the same region. */
  assert_int_equal(count_text(text, "blocks along x"), 1);
  assert_int_equal(count_text(text, "pacc: test_scop0 (test.c:9): "), 2);
  assert_int_equal(count_text(text, "\n"), 2);
}

static void child_addresses(void *argument) {
  (void)argument;
  start();
  static double host[64];
  void *run = __pacc_rt_begin(&test_region);
  /* What stands for the array's begin is aligned, wherever the bytes are. */
  static const int64_t bounds[][2] = {
      {0, 8}, {8, 16}, {-8, 8}, {264, 272}, {-1024, -8}};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    uint64_t address =
        __pacc_rt_array(run, "a", host, bounds[i][0], bounds[i][1]);
    CHECK(address && address % 256 == 0);
  }
  /* Empty arrays take no memory, but a number. */
  unsigned allocations = fake_cuda_calls("cuMemAlloc_v2");
  CHECK(__pacc_rt_array(run, "empty", host, 8, 8));
  CHECK(__pacc_rt_array(run, "empty", host, INT64_MAX, INT64_MIN));
  CHECK(fake_cuda_calls("cuMemAlloc_v2") == allocations);
  __pacc_rt_copy(run, 5, PACC_COPY_IN, 8, 0, 1, 0);
  __pacc_rt_copy(run, 6, PACC_COPY_OUT, 8, 8, 0, 8);
  CHECK(__pacc_rt_end(run) == 1);
  CHECK(counters().copies_in == 0 && counters().copies_out == 0);
}
CHILD_TEST(addresses)

/* Copies of `rows` bytes each, from an array of 64 bytes at lo = -16. */
struct copy {
  int64_t offset, width, count, pitch;
  bool good;
  unsigned calls_1d, calls_2d; /* of the driver, to the device */
};

static void child_bounds(void *argument) {
  (void)argument;
  static const struct copy copies[] = {
      {-16, 64, 1, 0, true, 1, 0},
      {-16, 8, 8, 8, true, 1, 0},  /* rows that touch are one */
      {-16, 16, 4, 8, true, 1, 0}, /* rows that overlap too */
      {-16, 8, 4, 16, true, 0, 1},
      {40, 8, 4, -16, true, 0, 1},        /* backwards */
      {-16, 8, 1, INT64_MAX, true, 1, 0}, /* one row: no pitch */
      {-17, 8, 1, 0, false, 0, 0},
      {-16, 65, 1, 0, false, 0, 0},
      {48, 1, 1, 0, false, 0, 0},
      {-16, 8, 5, 16, false, 0, 0},
      {0, 8, 3, -16, false, 0, 0},
      {-16, INT64_MAX, 1, 0, false, 0, 0},
      {INT64_MAX, 8, 1, 0, false, 0, 0},
      {INT64_MIN, 8, 1, 0, false, 0, 0},
      {0, 8, INT64_MAX, INT64_MAX, false, 0, 0},
      {0, 8, INT64_MAX, INT64_MIN, false, 0, 0},
      {0, 8, 2, INT64_MIN, false, 0, 0},
      {0, 1, INT64_MAX, 1, false, 0, 0},
  };
  start();
  char memory[128];
  for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
    const struct copy *copy = &copies[i];
    void *run = __pacc_rt_begin(&test_region);
    CHECK(__pacc_rt_array(run, "m", memory + 16, -16, 48));
    unsigned calls_1d = fake_cuda_calls("cuMemcpyHtoDAsync_v2");
    unsigned calls_2d = fake_cuda_calls("cuMemcpy2DAsync_v2");
    __pacc_rt_copy(run, 0, PACC_COPY_IN, copy->offset, copy->width, copy->count,
                   copy->pitch);
    calls_1d = fake_cuda_calls("cuMemcpyHtoDAsync_v2") - calls_1d;
    calls_2d = fake_cuda_calls("cuMemcpy2DAsync_v2") - calls_2d;
    int done = __pacc_rt_end(run);
    if (done != copy->good || calls_1d != copy->calls_1d ||
        calls_2d != copy->calls_2d) {
      fprintf(stderr, "copy %zu: %d, %u and %u calls\n", i, done, calls_1d,
              calls_2d);
      _exit(1);
    }
  }
  void *run = __pacc_rt_begin(&test_region);
  __pacc_rt_copy(run, 0, PACC_COPY_IN, 0, 8, 1, 0);
  CHECK(__pacc_rt_end(run) == 0);
  CHECK(strstr(pacc_rt_last_error(), "there is no array 0"));
}

static void bounds(void **state) {
  (void)state;
  const char *text = expect_success(child_bounds, NULL);
  assert_int_equal(count_text(text, "copy of array m leaves the array's"), 1);
}

/* Copies rows both ways, and adds a mark on the device in between. Rows
 * farther apart than the driver's 2-D copies allow (1 MiB here) go one by
 * one. */
static void round_trip(size_t size, int64_t offset, int64_t width,
                       int64_t count, int64_t pitch) {
  unsigned char *host = calloc(size, 1), *expected = calloc(size, 1);
  for (size_t i = 0; i < size; i++)
    host[i] = expected[i] = (unsigned char)(i * 7 + i / 256);
  void *run = __pacc_rt_begin(&test_region);
  uint64_t m = __pacc_rt_array(run, "m", host, 0, (int64_t)size);
  __pacc_rt_copy(run, 0, PACC_COPY_IN | PACC_COPY_OUT, offset, width, count,
                 pitch);
  struct mark mark = {offset, width, count, pitch};
  uint64_t marks = (uintptr_t)&mark;
  __pacc_rt_launch(run, MARK, 1, 1, 1, (void *[]){&m, &marks});
  CHECK(__pacc_rt_end(run) == 1);
  for (int64_t row = 0; row < count; row++)
    for (int64_t i = 0; i < width; i++)
      expected[offset + row * pitch + i] ^= 0xff;
  CHECK(memcmp(host, expected, size) == 0);
  free(host);
  free(expected);
}

static void child_shapes(void *argument) {
  (void)argument;
  start();
  round_trip(1000, 0, 1000, 1, 0);
  round_trip(1000, 3, 17, 20, 31);
  round_trip(1000, 900, 17, 20, -31);
  /* Large enough for several threads to write back. */
  round_trip(9000003, 1, 9000001, 1, 0);
  round_trip(12u << 20, 17, 40000, 230, 50000);
  round_trip(12u << 20, 17, 4200001, 2, 5000000);
  round_trip((3u << 20) + 100, 5, 30, 3, (1 << 20) + 24);
}
CHILD_TEST(shapes)

/* More than 2 GiB and more than 4 GiB: on the fake device's side the size is
 * only noted, since there is less memory. */
static void child_large_arrays(void *argument) {
  (void)argument;
  static char host;
  start();
  for (int64_t size = 3ll << 30; size <= 6ll << 30; size += 3ll << 30) {
    void *run = __pacc_rt_begin(&test_region);
    CHECK(__pacc_rt_array(run, "big", &host, 0, size) == 0);
    CHECK(fake_cuda_last_size() == (uint64_t)size);
    CHECK(__pacc_rt_end(run) == 0);
  }
  void *run = __pacc_rt_begin(&test_region);
  CHECK(__pacc_rt_array(run, "big", &host, INT64_MIN, INT64_MAX) == 0);
  CHECK(__pacc_rt_end(run) == 0);
  CHECK(strstr(pacc_rt_last_error(), "impossible size"));
  CHECK(run_region(&test_region, 1) == 1);
}

static void large_arrays(void **state) {
  (void)state;
  const char *text = expect_success(child_large_arrays, NULL);
  assert_non_null(strstr(text, "no device memory for array big (3.0 GiB): "
                               "CUDA_ERROR_OUT_OF_MEMORY (cuMemAlloc_v2); the "
                               "original loops run instead"));
}

/* Memory that is only kept is given up when another size is needed. */
static void child_kept_memory_makes_room(void *argument) {
  (void)argument;
  static char host[600 << 10];
  start();
  fake_cuda_configure(1, 80, 1 << 20, "");
  void *run = __pacc_rt_begin(&test_region);
  CHECK(__pacc_rt_array(run, "a", host, 0, 410000));
  CHECK(__pacc_rt_end(run) == 1);
  CHECK(counters().device_memory >= 410000);
  run = __pacc_rt_begin(&test_region);
  CHECK(__pacc_rt_array(run, "b", host, 0, 600 << 10));
  CHECK(__pacc_rt_array(run, "a", host, 0, 410000));
  CHECK(__pacc_rt_end(run) == 1);
  /* And no more than half of the device is kept. */
  CHECK(counters().device_memory <= 512 << 10);
}
CHILD_TEST(kept_memory_makes_room)

static void child_unpinned_staging(void *argument) {
  (void)argument;
  start();
  fake_cuda_fail("cuMemHostRegister_v2", 1, UINT32_MAX, 2);
  CHECK(run_region(&test_region, 1) == 1);
  CHECK(run_region(&test_region, 2) == 1);
}
CHILD_TEST(unpinned_staging)

static void child_two_regions_at_once(void *argument) {
  (void)argument;
  static double x[4] = {1, 2, 3, 4};
  start();
  void *outer = __pacc_rt_begin(&test_region);
  uint64_t a = __pacc_rt_array(outer, "x", x, 0, sizeof x);
  __pacc_rt_copy(outer, 0, PACC_COPY_IN | PACC_COPY_OUT, 0, sizeof x, 1, 0);
  CHECK(run_region(&test_region, 5) == 1);
  int64_t n = 4;
  __pacc_rt_launch(outer, AXPY, n, 1, 1, (void *[]){&a, &a, &n});
  CHECK(__pacc_rt_end(outer) == 1);
  CHECK(x[0] == 3 && x[1] == 6 && x[2] == 9 && x[3] == 12);
  CHECK(fake_cuda_current() == NULL);
}
CHILD_TEST(two_regions_at_once)

/* Copies of an array for iterations of loops: the host has the last one. */
static void child_copies_of_arrays(void *argument) {
  (void)argument;
  static double x[4] = {1, 2, 3, 4};
  const int64_t size = sizeof x, counts[] = {3, 2};
  start();
  void *run = __pacc_rt_begin(&test_region);
  uint64_t last = __pacc_rt_array_copies(run, "x", x, 8, size, counts, 2);
  uint64_t first = last - 5 * (uint64_t)(size - 8);
  __pacc_rt_copy(run, 0, PACC_COPY_IN | PACC_COPY_OUT, 8, size - 8, 1, 0);
  uint64_t from = last + 8, to = first + 8;
  int64_t n = 3;
  __pacc_rt_launch(run, AXPY, n, 1, 1, (void *[]){&from, &to, &n});
  __pacc_rt_launch(run, AXPY, n, 1, 1, (void *[]){&from, &from, &n});
  CHECK(__pacc_rt_end(run) == 1);
  CHECK(x[0] == 1 && x[1] == 6 && x[2] == 9 && x[3] == 12);
  /* Without any iteration there is nothing to hold. */
  run = __pacc_rt_begin(&test_region);
  CHECK(__pacc_rt_array_copies(run, "x", x, 8, 8, (int64_t[]){0}, 1));
  CHECK(__pacc_rt_end(run) == 1);
}
CHILD_TEST(copies_of_arrays)

static int with_copies(int64_t others, int64_t size, const int64_t *counts,
                       uint32_t n) {
  static char host;
  void *run = __pacc_rt_begin(&test_region);
  CHECK(__pacc_rt_array(run, "other", &host, 0, others));
  __pacc_rt_array_copies(run, "x", &host, 0, size, counts, n);
  return __pacc_rt_end(run);
}

/* As much as the other arrays have, times PACC_EXPANSION_FACTOR. */
/* Arrays of the device alone: nothing of them is copied, and their memory is
 * used again. */
static void child_scratch(void *argument) {
  (void)argument;
  double x[3] = {1, 2, 3};
  start();
  CHECK(run_with_scratch(__pacc_rt_begin(&test_region), x, 10) == 1);
  CHECK(x[0] == 21 && x[1] == 22 && x[2] == 23);
  struct pacc_rt_counters now = counters();
  CHECK(now.bytes_in == sizeof x && now.bytes_out == sizeof x);
  unsigned allocations = fake_cuda_calls("cuMemAlloc_v2");
  CHECK(run_with_scratch(__pacc_rt_begin(&test_region), x, 1) == 1);
  CHECK(x[0] == 23 && x[1] == 24 && x[2] == 25);
  CHECK(fake_cuda_calls("cuMemAlloc_v2") == allocations);
  /* No device has as much: the original loops run. */
  void *run = __pacc_rt_begin(&test_region);
  CHECK(!__pacc_rt_scratch(run, "huge", INT64_MIN, INT64_MAX));
  CHECK(__pacc_rt_end(run) == 0);
}

static void scratch(void **state) {
  (void)state;
  const char *text = expect_success(child_scratch, NULL);
  assert_non_null(strstr(text, "array huge has an impossible size"));
}

static void child_too_many_copies(void *argument) {
  (void)argument;
  const int64_t most = INT32_MAX, huge[] = {most, most, most};
  const int64_t mib = 1 << 20;
  start();
  CHECK(with_copies(1, mib, (int64_t[]){64}, 1) == 1);
  CHECK(with_copies(mib, mib, (int64_t[]){65}, 1) == 0);
  CHECK(with_copies(20 * mib, mib, (int64_t[]){10, 8}, 2) == 1);
  CHECK(with_copies(20 * mib, mib, (int64_t[]){10, 9}, 2) == 0);
  CHECK(with_copies(20 * mib, 8, huge, 3) == 0);
  CHECK(counters().fallbacks == 3);
}

static void too_many_copies(void **state) {
  (void)state;
  const char *text = expect_success(child_too_many_copies, NULL);
  assert_non_null(
      strstr(text, "the copies of array x would take too much memory"));
}

static void child_log_lines(void *argument) {
  (void)argument;
  setenv("PACC_LOG", "launch", 1);
  start();
  CHECK(run_region(&test_region, 1) == 1);
}

static void log_lines(void **state) {
  (void)state;
  const char *text = expect_success(child_log_lines, NULL);
  assert_non_null(strstr(text, "pacc: using Fake GPU 0 (cuda:0, compute "
                               "capability 8.0, 4 multiprocessors, 1.0 GiB, "
                               "driver 12.4)\n"));
  assert_non_null(strstr(text, "pacc: test_scop0: copy in a, 7.8 KiB\n"));
  assert_non_null(strstr(text, "pacc: test_scop0: copy out c, 1.1 KiB\n"));
  assert_non_null(strstr(text, "pacc: test_scop0: launch fill, grid 1x5x1, "
                               "block 8x4x1, 1024 bytes of shared memory\n"));
  assert_non_null(strstr(text, "pacc: test_scop0 (test.c:9): 3 launches, "
                               "15.6 KiB in, 8.9 KiB out, "));
  assert_int_equal(count_text(text, "pacc: "), count_text(text, "\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_and_counters),
      cmocka_unit_test(shorter_structures),
      cmocka_unit_test(callers_context_stays),
      cmocka_unit_test(memory_is_reused),
      cmocka_unit_test(release_returns_everything),
      cmocka_unit_test(grids),
      cmocka_unit_test(blocks_by_size),
      cmocka_unit_test(too_many_blocks),
      cmocka_unit_test(addresses),
      cmocka_unit_test(bounds),
      cmocka_unit_test(shapes),
      cmocka_unit_test(large_arrays),
      cmocka_unit_test(kept_memory_makes_room),
      cmocka_unit_test(unpinned_staging),
      cmocka_unit_test(two_regions_at_once),
      cmocka_unit_test(copies_of_arrays),
      cmocka_unit_test(too_many_copies),
      cmocka_unit_test(scratch),
      cmocka_unit_test(log_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
