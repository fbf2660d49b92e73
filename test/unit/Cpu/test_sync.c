/* test_sync.c: barriers and warp operations, what seeds change, and what is
 * said of threads that wait for ever. */
#include "support.h"

/* One device for each seed, since compiling takes most of the time. */
enum { SEEDS = 6 };
static struct gpu gpus[SEEDS];
static struct gpu by_seed(long seed) {
  assert_true(seed < SEEDS);
  if (!gpus[seed].device)
    gpus[seed] = gpu_open("sync", seed, 1, 1);
  return gpus[seed];
}

static int close_all(void **state) {
  (void)state;
  for (int i = 0; i < SEEDS; i++)
    if (gpus[i].device)
      gpu_close(&gpus[i]);
  return 0;
}

static void test_reduction(void **state) {
  (void)state;
  enum { BLOCKS = 5, N = 256 * BLOCKS };
  double in[N], got[BLOCKS], want[BLOCKS];
  for (int i = 0; i < N; i++)
    in[i] = i % 251;
  for (int b = 0; b < BLOCKS; b++) {
    want[b] = 0;
    for (int i = 0; i < 256; i++)
      want[b] += in[256 * b + i];
  }
  for (long seed = 0; seed < 4; seed++)
    for (long threads = 1; threads <= 2; threads++) {
      struct gpu gpu = gpu_open("sync", seed, threads, 1);
      uint64_t a = gpu_upload(&gpu, in, sizeof(in));
      uint64_t sums = gpu_alloc(&gpu, sizeof(got));
      RUN(&gpu, "reduction", dim(BLOCKS), dim(256), 0, PARAMS(P(a), P(sums)));
      gpu_download(&gpu, got, sums, sizeof(got));
      assert_memory_equal(got, want, sizeof(got));
      gpu_close(&gpu);
    }
}

/* A missing barrier shows as results that change with the seed. */
static void test_race(void **state) {
  (void)state;
  double in[256], got[4];
  for (int i = 0; i < 256; i++)
    in[i] = i + 1;
  for (long seed = 0; seed < 4; seed++) {
    struct gpu gpu = gpu_open("sync", seed, 1, 1);
    uint64_t a = gpu_upload(&gpu, in, sizeof(in));
    uint64_t sum = gpu_alloc(&gpu, sizeof(got[0]));
    RUN(&gpu, "racy_reduction", dim(1), dim(256), 0, PARAMS(P(a), P(sum)));
    gpu_download(&gpu, &got[seed], sum, sizeof(got[0]));
    gpu_close(&gpu);
  }
  for (int i = 0; i < 4; i++) /* bits: the values may be NaN */
    for (int k = 0; k < i; k++)
      assert_memory_not_equal(&got[i], &got[k], sizeof(got[0]));
}

/* Each seed has one order, of all threads; 0 is the natural one. */
static void test_order(void **state) {
  (void)state;
  enum { BLOCKS = 37, THREADS = 65, N = BLOCKS * THREADS };
  static uint32_t got[4][N];
  for (long run = 0; run < 4; run++) {
    struct gpu gpu = gpu_open("sync", run == 3 ? 2 : run, 1, 1);
    uint32_t zero = 0;
    uint64_t next = gpu_upload(&gpu, &zero, sizeof(zero));
    uint64_t out = gpu_alloc(&gpu, sizeof(got[0]));
    RUN(&gpu, "order", dim(BLOCKS), dim(THREADS), 0, PARAMS(P(next), P(out)));
    gpu_download(&gpu, got[run], out, sizeof(got[0]));
    gpu_close(&gpu);
  }
  for (uint32_t i = 0; i < N; i++)
    assert_int_equal(got[0][i], i);
  assert_memory_not_equal(got[1], got[2], sizeof(got[0]));
  assert_memory_equal(got[3], got[2], sizeof(got[0]));
  for (int run = 1; run < 3; run++) {
    static unsigned char seen[N];
    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < N; i++) {
      assert_true(got[run][i] < N);
      seen[got[run][i]]++;
      /* The threads of a block run in a row. */
      assert_int_equal(got[run][i] / THREADS,
                       got[run][i / THREADS * THREADS] / THREADS);
    }
    for (uint32_t i = 0; i < N; i++)
      assert_int_equal(seen[i], 1);
  }
}

static void run_words(struct gpu *gpu, const char *kernel, uint32_t blocks,
                      uint32_t threads, uint32_t *got, size_t size) {
  uint64_t out = gpu_alloc(gpu, size);
  RUN(gpu, kernel, dim(blocks), dim(threads), 0, PARAMS(P(out)));
  gpu_download(gpu, got, out, size);
}

static void test_rotate(void **state) {
  (void)state;
  for (long seed = 0; seed < 3; seed++) {
    struct gpu gpu = by_seed(seed);
    static const uint32_t sizes[] = {1, 32, 100, 1024};
    for (int i = 0; i < 4; i++) {
      uint32_t n = sizes[i], steps = 10, got[2 * 1024];
      uint64_t out = gpu_alloc(&gpu, sizeof(got));
      RUN(&gpu, "rotate", dim(2), dim(n), 0, PARAMS(P(out), P(steps)));
      gpu_download(&gpu, got, out, sizeof(got));
      for (uint32_t t = 0; t < 2 * n; t++)
        assert_int_equal(got[t], (t + steps) % n);
    }
  }
}

static void test_leave_early(void **state) {
  (void)state;
  struct gpu gpu = by_seed(1);
  uint32_t got[40];
  run_words(&gpu, "leave_early", 1, 100, got, sizeof(got));
  for (uint32_t i = 0; i < 40; i++)
    assert_int_equal(got[i], 39 - i);
}

static void test_named_barriers(void **state) {
  (void)state;
  for (long seed = 0; seed < 3; seed++) {
    struct gpu gpu = by_seed(seed);
    uint32_t got[128];
    run_words(&gpu, "named_barriers", 1, 128, got, sizeof(got));
    for (uint32_t i = 0; i < 128; i++)
      assert_int_equal(got[i], i / 64 * 64 + 63 - i % 64);
  }
}

static void test_barrier_reductions(void **state) {
  (void)state;
  struct gpu gpu = by_seed(2);
  uint32_t got[70 * 3];
  run_words(&gpu, "barrier_reductions", 1, 70, got, sizeof(got));
  for (int i = 0; i < 70; i++) {
    assert_int_equal(got[3 * i], 24);
    assert_int_not_equal(got[3 * i + 1], 0);
    assert_int_not_equal(got[3 * i + 2], 0);
  }
}

static uint32_t lane_value(uint32_t t, int lane) {
  return 100 + t / 32 * 32 + (uint32_t)lane;
}

static void test_shuffles(void **state) {
  (void)state;
  for (long seed = 0; seed < 3; seed++) {
    struct gpu gpu = by_seed(seed);
    static uint32_t got[64][8];
    run_words(&gpu, "shuffles", 1, 64, &got[0][0], sizeof(got));
    for (uint32_t t = 0; t < 64; t++) {
      int lane = (int)t % 32, in_eight = lane % 8, eight = lane - in_eight;
      uint32_t want[8] = {
          lane_value(t, 5),
          lane_value(t, lane >= 3 ? lane - 3 : lane),
          lane_value(t, lane + 3 < 32 ? lane + 3 : lane),
          lane_value(t, lane ^ 1),
          lane_value(t, eight + 2),
          lane_value(t, in_eight >= 3 ? lane - 3 : lane),
          lane_value(t, in_eight + 3 < 8 ? lane + 3 : lane),
          t / 32 * 32 + 9,
      };
      assert_memory_equal(got[t], want, sizeof(want));
    }
  }
}

static void test_votes(void **state) {
  (void)state;
  struct gpu gpu = by_seed(1);
  static uint32_t got[64][8];
  run_words(&gpu, "votes", 1, 64, &got[0][0], sizeof(got));
  for (uint32_t t = 0; t < 64; t++) {
    uint32_t ballot = 0, match = 0;
    for (uint32_t i = 0; i < 32; i++) {
      ballot |= (uint32_t)(i % 5 == 0) << i;
      match |= (uint32_t)(i % 3 == t % 32 % 3) << i;
    }
    uint32_t want[8] = {ballot, 1, 1, 0, match, UINT32_MAX, 1, 0};
    assert_memory_equal(got[t], want, sizeof(want));
  }
}

static void test_warp_reductions(void **state) {
  (void)state;
  struct gpu gpu = by_seed(1);
  static uint32_t got[64][8];
  uint32_t squares = 0;
  for (uint32_t i = 0; i < 32; i++)
    squares ^= i * i;
  run_words(&gpu, "reductions", 1, 64, &got[0][0], sizeof(got));
  for (uint32_t t = 0; t < 64; t++) {
    uint32_t want[8] = {496, (uint32_t)-5, 26, 0, UINT32_MAX, 64, 31, squares};
    assert_memory_equal(got[t], want, sizeof(want));
  }
}

static void test_divergent_warp(void **state) {
  (void)state;
  for (long seed = 0; seed < 3; seed++) {
    struct gpu gpu = by_seed(seed);
    uint32_t got[32];
    run_words(&gpu, "divergent_warp", 1, 32, got, sizeof(got));
    for (uint32_t t = 0; t < 32; t++)
      assert_int_equal(got[t], t % 2 ? 0xaaaaa800u : 4);
  }
}

static void test_active(void **state) {
  (void)state;
  for (long seed = 0; seed < 3; seed++) {
    struct gpu gpu = by_seed(seed);
    uint32_t got[40];
    run_words(&gpu, "active", 1, 40, got, sizeof(got));
    for (uint32_t t = 0; t < 40; t++)
      assert_int_equal(got[t], t % 4 ? 0 : t < 32 ? 0x11111111u : 0x11u);
  }
}

static void test_registers(void **state) {
  (void)state;
  struct gpu gpu = by_seed(5);
  static uint32_t got[96][8];
  run_words(&gpu, "registers", 1, 96, &got[0][0], sizeof(got));
  for (uint32_t t = 0; t < 96; t++) {
    uint32_t bit = 1u << t % 32;
    uint32_t want[8] = {
        t % 32,     t / 32, bit, bit - 1, bit | (bit - 1), ~(bit | (bit - 1)),
        ~(bit - 1), 32};
    assert_memory_equal(got[t], want, sizeof(want));
  }
}

static void test_deadlocks(void **state) {
  (void)state;
  for (long seed = 0; seed < 3; seed++) {
    struct gpu gpu = by_seed(seed);
    uint64_t out = gpu_alloc(&gpu, 64 * sizeof(uint32_t));
    int status = gpu_launch(&gpu, "deadlock", dim(3), dim(64), 0, NULL);
    assert_error(&gpu, status, "DEADLOCK", "kernel 'deadlock', block (",
                 "64 of 64 threads wait for others", "32 at barrier 1",
                 "32 at barrier 2", NULL);
    status =
        gpu_launch(&gpu, "warp_deadlock", dim(1), dim(32), 0, PARAMS(P(out)));
    assert_error(&gpu, status, "DEADLOCK", "32 of 32 threads wait",
                 "for the lanes 0xffffffff of a warp operation", NULL);
    /* The device is as good as before. */
    RUN(&gpu, "leave_early", dim(1), dim(64), 0, PARAMS(P(out)));
  }
}

static void test_misuse(void **state) {
  (void)state;
  struct gpu gpu = by_seed(0);
  uint64_t out = gpu_alloc(&gpu, 64 * sizeof(uint32_t));
  int status =
      gpu_launch(&gpu, "divergent_barrier", dim(1), dim(64), 0, PARAMS(P(out)));
  assert_error(&gpu, status, "BARRIER_DIVERGENCE", "thread (1,0,0)",
               "lanes of one warp are at barrier 0 in different places", NULL);
  status = gpu_launch(&gpu, "not_in_mask", dim(1), dim(32), 0, PARAMS(P(out)));
  assert_error(&gpu, status, "INVALID_SYNC", "thread (0,0,0)",
               "the mask 0xffff0000, which lacks the lane itself", NULL);
  status = gpu_launch(&gpu, "odd_count", dim(1), dim(64), 0, NULL);
  assert_error(&gpu, status, "INVALID_SYNC", "a barrier for 33 threads", NULL);
  int number = 16;
  status = gpu_launch(&gpu, "no_such_barrier", dim(1), dim(32), 0,
                      PARAMS(P(number)));
  assert_error(&gpu, status, "INVALID_SYNC", "barrier 16, but there are only",
               NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reduction),
      cmocka_unit_test(test_race),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_rotate),
      cmocka_unit_test(test_leave_early),
      cmocka_unit_test(test_named_barriers),
      cmocka_unit_test(test_barrier_reductions),
      cmocka_unit_test(test_shuffles),
      cmocka_unit_test(test_votes),
      cmocka_unit_test(test_warp_reductions),
      cmocka_unit_test(test_divergent_warp),
      cmocka_unit_test(test_active),
      cmocka_unit_test(test_registers),
      cmocka_unit_test(test_deadlocks),
      cmocka_unit_test(test_misuse),
  };
  return cmocka_run_group_tests(tests, NULL, close_all);
}
