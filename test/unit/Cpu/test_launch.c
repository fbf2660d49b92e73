/* test_launch.c: ids, parameters, variables, shared memory and limits. */
#include "support.h"

static void check_ids(struct gpu *gpu, struct dims grid, struct dims block) {
  size_t n_threads = (size_t)block.x * block.y * block.z;
  size_t n = (size_t)grid.x * grid.y * grid.z * n_threads;
  size_t size = n * 12 * sizeof(uint32_t);
  uint32_t (*got)[12] = malloc(size);
  uint64_t out = gpu_alloc(gpu, size);
  RUN(gpu, "ids", grid, block, 0, PARAMS(P(out)));
  gpu_download(gpu, got, out, size);
  for (size_t i = 0; i < n; i++) {
    size_t t = i % n_threads, b = i / n_threads;
    uint32_t want[12] = {(uint32_t)(t % block.x),
                         (uint32_t)(t / block.x % block.y),
                         (uint32_t)(t / block.x / block.y),
                         (uint32_t)(b % grid.x),
                         (uint32_t)(b / grid.x % grid.y),
                         (uint32_t)(b / grid.x / grid.y),
                         block.x,
                         block.y,
                         block.z,
                         grid.x,
                         grid.y,
                         grid.z};
    assert_memory_equal(got[i], want, sizeof(want));
  }
  gpu->backend->free(gpu->device, out);
  free(got);
}

static void test_ids(void **state) {
  (void)state;
  for (long seed = 0; seed < 3; seed++)
    for (long threads = 1; threads < 4; threads += 2) {
      struct gpu gpu = gpu_open("launch", seed, threads, 1);
      check_ids(&gpu, dim(1), dim(1));
      check_ids(&gpu, dim(1), dim(1024));
      check_ids(&gpu, (struct dims){5, 3, 2}, (struct dims){4, 3, 2});
      check_ids(&gpu, (struct dims){1, 7, 1}, (struct dims){1, 1, 64});
      check_ids(&gpu, (struct dims){3, 1, 5}, (struct dims){7, 11, 13});
      gpu_close(&gpu);
    }
}

static void test_ids_in_function(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("launch", 3, 1, 1);
  uint32_t got[6 * 33];
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  RUN(&gpu, "ids_in_function", dim(6), dim(33), 0, PARAMS(P(out)));
  gpu_download(&gpu, got, out, sizeof(got));
  for (uint32_t i = 0; i < 6 * 33; i++)
    assert_int_equal(got[i], i + 1000 * (i % 33));
  gpu_close(&gpu);
}

static void test_params(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("launch", 0, 1, 1);
  struct {
    double d[8];
    int64_t i[8];
  } got;
  struct {
    char c;
    double d;
    short s[3];
    float f;
  } mixed = {-3, 0.25, {1, 2, -300}, 7.5f};
  uint64_t out = gpu_alloc(&gpu, sizeof(got)), l = 1ull << 60;
  char c = -7;
  _Bool yes = 1, no = 0;
  double d = 1e300;
  short s = -30000;
  float f = 0.1f;
  RUN(&gpu, "params", dim(1), dim(1), 0,
      PARAMS(P(c), P(out), P(yes), P(d), P(s), P(f), P(mixed), P(l), P(no)));
  gpu_download(&gpu, &got, out, sizeof(got));
  assert_int_equal(got.i[0], -7);
  assert_int_equal(got.i[1], 1);
  assert_int_equal(got.i[2], -30000);
  assert_int_equal(got.i[3], -3);
  assert_int_equal(got.i[4], -300);
  assert_int_equal(got.i[5], 1ll << 60);
  assert_int_equal(got.i[6], 0);
  assert_true(got.d[0] == 1e300 && got.d[1] == (double)0.1f);
  assert_true(got.d[2] == 0.25 && got.d[3] == 7.5);
  gpu_close(&gpu);
}

/* Threads change their copies of a parameter and not one another's. */
static void test_changed_param(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("launch", 1, 1, 1);
  struct {
    int value[16];
  } numbers;
  int got[48];
  for (int i = 0; i < 16; i++)
    numbers.value[i] = 100 * i;
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  RUN(&gpu, "changed_param", dim(3), dim(16), 0, PARAMS(P(out), P(numbers)));
  gpu_download(&gpu, got, out, sizeof(got));
  for (int i = 0; i < 48; i++)
    assert_int_equal(got[i], (16 - i % 16) % 16);
  gpu_close(&gpu);
}

static void test_variables(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("launch", 0, 1, 1);
  struct gpu other = gpu_open("launch", 0, 1, 1);
  double got[3];
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  for (int i = 0; i < 3; i++) {
    RUN(&gpu, "variables", dim(1), dim(64), 0, PARAMS(P(out)));
    gpu_download(&gpu, got, out, sizeof(got));
    assert_true(got[0] == 8 + i && got[1] == 1.5 && got[2] == 1);
  }
  /* Each module has its own. */
  RUN(&other, "variables", dim(1), dim(64), 0, PARAMS(P(out)));
  gpu_download(&other, got, out, sizeof(got));
  assert_true(got[0] == 8);
  gpu_close(&other);
  gpu_close(&gpu);
}

static void test_shared(void **state) {
  (void)state;
  for (long seed = 0; seed < 3; seed++) {
    struct gpu gpu = gpu_open("launch", seed, 1, 1);
    double got[32];
    uint64_t out = gpu_alloc(&gpu, sizeof(got));
    RUN(&gpu, "shared_first", dim(1), dim(32), 0, PARAMS(P(out)));
    gpu_download(&gpu, got, out, sizeof(got));
    for (int i = 0; i < 32; i++)
      assert_true(got[i] == 31 - i + 3);
    RUN(&gpu, "shared_second", dim(1), dim(32), 0, PARAMS(P(out)));
    gpu_download(&gpu, got, out, sizeof(got));
    for (int i = 0; i < 32; i++)
      assert_true(got[i] == 31 - i + 5);
    RUN(&gpu, "shared_dynamic", dim(4), dim(32), 32 * sizeof(double),
        PARAMS(P(out)));
    gpu_download(&gpu, got, out, sizeof(got));
    for (int i = 0; i < 32; i++)
      assert_true(got[i] == 31 - i + 100);
    gpu_close(&gpu);
  }
}

/* One double of dynamic shared memory too few. */
static void test_shared_overrun(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("launch", 0, 1, 1);
  uint64_t out = gpu_alloc(&gpu, 32 * sizeof(double));
  int status = gpu_launch(&gpu, "shared_dynamic", dim(1), dim(32),
                          31 * sizeof(double), PARAMS(P(out)));
  assert_error(&gpu, status, "OUT_OF_BOUNDS", "kernel 'shared_dynamic'",
               "thread (31,0,0)", "a write of 8 bytes",
               "0 bytes past the end of the block's shared memory", NULL);
  gpu_close(&gpu);
}

static void test_shared_garbage(void **state) {
  (void)state;
  uint64_t got[3][32];
  for (long seed = 0; seed < 3; seed++) {
    struct gpu gpu = gpu_open("launch", seed, 1, 1);
    uint64_t out = gpu_alloc(&gpu, sizeof(got[0]));
    RUN(&gpu, "shared_garbage", dim(1), dim(32), 0, PARAMS(P(out)));
    gpu_download(&gpu, got[seed], out, sizeof(got[0]));
    gpu_close(&gpu);
  }
  assert_memory_not_equal(got[0], got[1], sizeof(got[0]));
  assert_memory_not_equal(got[1], got[2], sizeof(got[0]));
}

static void test_limits(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("launch", 0, 1, 1);
  static const struct {
    struct dims grid, block;
    uint32_t shared;
    const char *text;
  } bad[] = {
      {{0, 1, 1}, {1, 1, 1}, 0, "grid x is 0"},
      {{1, 1, 1}, {1, 0, 1}, 0, "block y is 0"},
      {{1, 65536, 1}, {1, 1, 1}, 0, "grid y is 65536, the limit is 65535"},
      {{1, 1, 65536}, {1, 1, 1}, 0, "grid z is 65536, the limit is 65535"},
      {{1u << 31, 1, 1}, {1, 1, 1}, 0, "grid x is 2147483648"},
      {{1, 1, 1}, {1025, 1, 1}, 0, "block x is 1025, the limit is 1024"},
      {{1, 1, 1}, {1, 1, 65}, 0, "block z is 65, the limit is 64"},
      {{1, 1, 1}, {32, 33, 1}, 0, "threads of a block is 1056"},
      {{1, 1, 1}, {1, 1, 1}, 227 * 1024 + 1, "bytes of shared memory"},
  };
  uint64_t out = gpu_alloc(&gpu, 4096);
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    int status = gpu_launch(&gpu, "ids_in_function", bad[i].grid, bad[i].block,
                            bad[i].shared, PARAMS(P(out)));
    assert_error(&gpu, status, "LAUNCH_LIMITS", "kernel 'ids_in_function'",
                 bad[i].text, NULL);
  }
  RUN(&gpu, "ids_in_function", dim(1), dim(1), 227 * 1024, PARAMS(P(out)));
  gpu_close(&gpu);
}

static void test_compiled_limits(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("special", 0, 1, 1);
  uint64_t out = gpu_alloc(&gpu, 64);
  RUN(&gpu, "fixed_block", dim(1), (struct dims){32, 2, 1}, 0, PARAMS(P(out)));
  int status =
      gpu_launch(&gpu, "fixed_block", dim(1), dim(64), 0, PARAMS(P(out)));
  assert_error(&gpu, status, "LAUNCH_LIMITS",
               "block x is 64, but the kernel was compiled for 32", NULL);
  RUN(&gpu, "small_block", dim(1), (struct dims){4, 32, 1}, 0, PARAMS(P(out)));
  status = gpu_launch(&gpu, "small_block", dim(1), dim(129), 0, PARAMS(P(out)));
  assert_error(&gpu, status, "LAUNCH_LIMITS",
               "threads of a block is 129, the limit is 128", NULL);
  gpu_close(&gpu);
}

static void test_wrong_params(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("launch", 0, 1, 1);
  uint64_t out = gpu_alloc(&gpu, 64);
  uint32_t small = 0;
  int status = gpu_launch(&gpu, "ids", dim(1), dim(1), 0, NULL);
  assert_error(&gpu, status, "INVALID_VALUE", "takes 1 parameters, 0 are given",
               NULL);
  status = gpu_launch(&gpu, "add", dim(1), dim(1), 0,
                      PARAMS(P(out), P(small), P(small)));
  assert_error(&gpu, status, "INVALID_VALUE",
               "parameter 1 of kernel 'add' has 8 bytes, 4 are given", NULL);
  gpu_close(&gpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ids),
      cmocka_unit_test(test_ids_in_function),
      cmocka_unit_test(test_params),
      cmocka_unit_test(test_changed_param),
      cmocka_unit_test(test_variables),
      cmocka_unit_test(test_shared),
      cmocka_unit_test(test_shared_overrun),
      cmocka_unit_test(test_shared_garbage),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_compiled_limits),
      cmocka_unit_test(test_wrong_params),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
