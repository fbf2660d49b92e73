/* test_fault.c: what goes wrong in a kernel is an error that says where. */
#include "support.h"

#include <pthread.h>
#include <signal.h>

static int read_at(struct gpu *gpu, uint64_t a, int64_t i) {
  uint64_t out = gpu_alloc(gpu, sizeof(double));
  int status =
      gpu_launch(gpu, "read_at", dim(1), dim(1), 0, PARAMS(P(a), P(i), P(out)));
  gpu->backend->free(gpu->device, out);
  return status;
}

static int write_at(struct gpu *gpu, uint64_t a, int64_t i) {
  return gpu_launch(gpu, "write_at", dim(1), dim(1), 0, PARAMS(P(a), P(i)));
}

/* With and without checks: the guard pages see these alone. */
static void test_overrun(void **state) {
  (void)state;
  for (long check = 0; check <= 1; check++) {
    struct gpu gpu = gpu_open("fault", 0, 1, check);
    static const int64_t sizes[] = {16, 4096, 4112, 1 << 20};
    for (int i = 0; i < 4; i++) {
      char text[64];
      int64_t n = sizes[i] / 8;
      uint64_t a = gpu_alloc(&gpu, (uint64_t)sizes[i]);
      assert_ok(&gpu, write_at(&gpu, a, n - 1));
      assert_ok(&gpu, read_at(&gpu, a, n - 1));
      snprintf(text, sizeof(text), "0 bytes past the end of a %d-byte alloc",
               (int)sizes[i]);
      assert_error(&gpu, write_at(&gpu, a, n), "OUT_OF_BOUNDS",
                   "kernel 'write_at', block (0,0,0), thread (0,0,0): a write",
                   text, NULL);
      assert_error(&gpu, read_at(&gpu, a, n + 2), "OUT_OF_BOUNDS",
                   "kernel 'read_at'", ": a read", "16 bytes past the end of",
                   NULL);
      gpu.backend->free(gpu.device, a);
    }
    gpu_close(&gpu);
  }
}

/* Where no guard page is near: bytes next to an allocation that shares its
 * pages with nobody. */
static void test_near(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  uint64_t a = gpu_alloc(&gpu, 24), out = gpu_alloc(&gpu, 4);
  assert_error(&gpu, write_at(&gpu, a, -1), "OUT_OF_BOUNDS",
               "a write of 8 bytes", "8 bytes before the start of a 24-byte",
               NULL);
  assert_error(&gpu, read_at(&gpu, a, 3), "OUT_OF_BOUNDS", "a read of 8 bytes",
               "0 bytes past the end of a 24-byte", NULL);
  int64_t i = 24;
  int status = gpu_launch(&gpu, "read_byte", dim(1), dim(1), 0,
                          PARAMS(P(a), P(i), P(out)));
  assert_error(&gpu, status, "OUT_OF_BOUNDS", "a read of 1 bytes", NULL);
  i = 23;
  RUN(&gpu, "read_byte", dim(1), dim(1), 0, PARAMS(P(a), P(i), P(out)));
  i = -1;
  status = gpu_launch(&gpu, "read_byte", dim(1), dim(1), 0,
                      PARAMS(P(a), P(i), P(out)));
  assert_error(&gpu, status, "OUT_OF_BOUNDS", "1 bytes before the start", NULL);
  status = gpu_launch(&gpu, "add_at", dim(1), dim(1), 0, PARAMS(P(out), P(i)));
  assert_error(&gpu, status, "OUT_OF_BOUNDS", "a write of 4 bytes",
               "4 bytes before the start of a 4-byte", NULL);
  gpu_close(&gpu);
}

/* A wrong index misses the neighbours, however large. */
static void test_far(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  uint64_t a = gpu_alloc(&gpu, 4096), b = gpu_alloc(&gpu, 4096);
  for (int64_t i = 512; i < 512 * 2048; i = i * 3 / 2) {
    assert_error(&gpu, write_at(&gpu, a, i), "OUT_OF_BOUNDS", NULL);
    assert_error(&gpu, write_at(&gpu, b, -i), "OUT_OF_BOUNDS", NULL);
  }
  gpu_close(&gpu);
}

static void test_block_operations(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  uint64_t a = gpu_alloc(&gpu, 100);
  int64_t i = 50, n = 50;
  RUN(&gpu, "copy_at", dim(1), dim(1), 0, PARAMS(P(a), P(i), P(n)));
  RUN(&gpu, "fill_at", dim(1), dim(1), 0, PARAMS(P(a), P(i), P(n)));
  i = -10;
  int status =
      gpu_launch(&gpu, "copy_at", dim(1), dim(1), 0, PARAMS(P(a), P(i), P(n)));
  assert_error(&gpu, status, "OUT_OF_BOUNDS", "10 bytes before the start",
               NULL);
  status =
      gpu_launch(&gpu, "fill_at", dim(1), dim(1), 0, PARAMS(P(a), P(i), P(n)));
  assert_error(&gpu, status, "OUT_OF_BOUNDS", "a write of 50 bytes", NULL);
  n = 0; /* touches nothing, wherever it is */
  RUN(&gpu, "fill_at", dim(1), dim(1), 0, PARAMS(P(a), P(i), P(n)));
  n = 1 << 20;
  i = 0;
  status =
      gpu_launch(&gpu, "fill_at", dim(1), dim(1), 0, PARAMS(P(a), P(i), P(n)));
  assert_error(&gpu, status, "OUT_OF_BOUNDS", "past the end", NULL);
  gpu_close(&gpu);
}

static void test_use_after_free(void **state) {
  (void)state;
  for (long check = 0; check <= 1; check++) {
    struct gpu gpu = gpu_open("fault", 0, 1, check);
    uint64_t a = gpu_alloc(&gpu, 4096);
    gpu.backend->free(gpu.device, a);
    for (int i = 0; i < 100; i++) /* the address is not given out again */
      assert_int_not_equal(gpu_alloc(&gpu, 4096), a);
    assert_error(&gpu, read_at(&gpu, a, 1), "OUT_OF_BOUNDS",
                 "byte 8 of a 4096-byte allocation, which was freed", NULL);
    gpu_close(&gpu);
  }
}

static void test_host_pointers(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  double here = 0, *there = malloc(4096);
  assert_error(&gpu, write_at(&gpu, (uintptr_t)&here, 0), "OUT_OF_BOUNDS",
               "a host address, no device memory", NULL);
  assert_error(&gpu, read_at(&gpu, (uintptr_t)there, 5), "OUT_OF_BOUNDS",
               "a host address", NULL);
  assert_error(&gpu, read_at(&gpu, 0, 2), "OUT_OF_BOUNDS", "a null pointer",
               NULL);
  assert_true(here == 0);
  free(there);
  gpu_close(&gpu);
}

/* Memory that was never written holds no usable pointer. */
static void test_garbage_pointer(void **state) {
  (void)state;
  for (long check = 0; check <= 1; check++) {
    struct gpu gpu = gpu_open("fault", 7, 1, check);
    uint64_t a = gpu_alloc(&gpu, 64);
    int status = gpu_launch(&gpu, "follow", dim(1), dim(1), 0, PARAMS(P(a)));
    assert_error(&gpu, status, "OUT_OF_BOUNDS", NULL);
    gpu_close(&gpu);
  }
}

static void test_misaligned(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  uint64_t a = gpu_alloc(&gpu, 64) + 4;
  assert_error(&gpu, read_at(&gpu, a, 2), "MISALIGNED", "a read of 8 bytes",
               "byte 20 of a 64-byte allocation", NULL);
  gpu_close(&gpu);
}

static void test_which_thread(void **state) {
  (void)state;
  for (long seed = 0; seed < 3; seed++)
    for (long threads = 1; threads <= 3; threads += 2) {
      struct gpu gpu = gpu_open("fault", seed, threads, 1);
      uint64_t a = gpu_alloc(&gpu, 64);
      int64_t i = 8;
      int status = gpu_launch(&gpu, "late_write", dim(7), dim(40), 0,
                              PARAMS(P(a), P(i)));
      assert_error(&gpu, status, "OUT_OF_BOUNDS",
                   "kernel 'late_write', block (3,0,0), thread (5,0,0): a "
                   "write of 8 bytes",
                   NULL);
      i = 7;
      RUN(&gpu, "late_write", dim(7), dim(40), 0, PARAMS(P(a), P(i)));
      gpu_close(&gpu);
    }
}

static void test_loop(void **state) {
  (void)state;
  for (long check = 0; check <= 1; check++) {
    struct gpu gpu = gpu_open("fault", 0, 1, check);
    int n = 1000, got[1000];
    uint64_t a = gpu_alloc(&gpu, 4000);
    RUN(&gpu, "fill", dim(1), dim(1), 0, PARAMS(P(a), P(n)));
    gpu_download(&gpu, got, a, sizeof(got));
    for (int i = 0; i < n; i++)
      assert_int_equal(got[i], i);
    n = 1001;
    int status =
        gpu_launch(&gpu, "fill", dim(1), dim(1), 0, PARAMS(P(a), P(n)));
    assert_error(&gpu, status, "OUT_OF_BOUNDS", "0 bytes past the end", NULL);
    gpu_close(&gpu);
  }
}

static void test_arithmetic(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  uint64_t a = gpu_alloc(&gpu, 256);
  int b = 17;
  int status =
      gpu_launch(&gpu, "divide", dim(1), dim(32), 0, PARAMS(P(a), P(b)));
  assert_error(&gpu, status, "ARITHMETIC", "thread (17,0,0)",
               "an integer division by zero", NULL);
  int64_t low[1] = {INT64_MIN}, minus_one = -1;
  uint64_t c = gpu_upload(&gpu, low, sizeof(low));
  status = gpu_launch(&gpu, "remainder_of", dim(1), dim(1), 0,
                      PARAMS(P(c), P(minus_one)));
  assert_error(&gpu, status, "ARITHMETIC", "the lowest integer divided by -1",
               NULL);
  gpu_close(&gpu);
}

static void test_stack_overflow(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  uint64_t out = gpu_alloc(&gpu, 256);
  int n = 20;
  RUN(&gpu, "recurse", dim(1), dim(1), 0, PARAMS(P(out), P(n)));
  n = 100000;
  int status =
      gpu_launch(&gpu, "recurse", dim(1), dim(1), 0, PARAMS(P(out), P(n)));
  assert_error(&gpu, status, "STACK_OVERFLOW", "a thread's local memory", NULL);
  n = 20;
  RUN(&gpu, "recurse", dim(1), dim(1), 0, PARAMS(P(out), P(n)));
  gpu_close(&gpu);
}

static void test_assert(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  int values[4] = {1, 2, -1, 3};
  uint64_t a = gpu_upload(&gpu, values, sizeof(values));
  int status =
      gpu_launch(&gpu, "check_positive", dim(1), dim(4), 0, PARAMS(P(a)));
  assert_error(&gpu, status, "ASSERT", "thread (2,0,0)",
               "assertion 'a > 0' failed at fault.c:57", NULL);
  gpu_close(&gpu);
}

static void test_variable_bounds(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  uint64_t out = gpu_alloc(&gpu, 4);
  int i = 10;
  int status =
      gpu_launch(&gpu, "read_table", dim(1), dim(1), 0, PARAMS(P(i), P(out)));
  assert_error(&gpu, status, "OUT_OF_BOUNDS",
               "0 bytes past the end of the 40-byte variable 'limits'", NULL);
  gpu_close(&gpu);
}

static void test_masked(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("special", 0, 1, 1);
  int in[3] = {10, 20, 30}, out[3] = {0};
  uint64_t a = gpu_upload(&gpu, in, sizeof(in));
  uint64_t b = gpu_upload(&gpu, out, sizeof(out));
  _Alignas(16) int flags[4] = {1, 0, 1, 0};
  RUN(&gpu, "masked", dim(1), dim(1), 0, PARAMS(P(a), P(b), P(flags)));
  gpu_download(&gpu, out, b, sizeof(out));
  assert_true(out[0] == 11 && out[1] == 0 && out[2] == 31);
  flags[3] = 1;
  int status = gpu_launch(&gpu, "masked", dim(1), dim(1), 0,
                          PARAMS(P(a), P(b), P(flags)));
  assert_error(&gpu, status, "OUT_OF_BOUNDS", "a read of 4 bytes",
               "0 bytes past the end of a 12-byte allocation", NULL);
  gpu_close(&gpu);
}

static void test_special(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("special", 0, 1, 1);
  uint64_t out = gpu_alloc(&gpu, 16);
  int reach = 0;
  int status = gpu_launch(&gpu, "trap", dim(1), dim(1), 0, NULL);
  assert_error(&gpu, status, "TRAP", "kernel 'trap'", NULL);
  /* What is unknown fails when it is reached, and only then. */
  RUN(&gpu, "unknown_assembly", dim(1), dim(1), 0, PARAMS(P(out), P(reach)));
  reach = 1;
  status = gpu_launch(&gpu, "unknown_assembly", dim(1), dim(1), 0,
                      PARAMS(P(out), P(reach)));
  assert_error(&gpu, status, "UNSUPPORTED",
               "no version of the inline assembly 'made.up.u32 $0, $1;'", NULL);
  status =
      gpu_launch(&gpu, "unknown_function", dim(1), dim(1), 0, PARAMS(P(out)));
  assert_error(&gpu, status, "UNSUPPORTED",
               "no version of the function __nv_nothing_like_it", NULL);
  status =
      gpu_launch(&gpu, "unknown_intrinsic", dim(1), dim(1), 0, PARAMS(P(out)));
  assert_error(&gpu, status, "UNSUPPORTED",
               "no version of the intrinsic llvm.nvvm.tensormap", NULL);
  gpu_close(&gpu);
}

/* The program's own handler is there before, between and after launches. */
static sigjmp_buf back;
static volatile int handled;
static void own_handler(int signal) {
  handled = signal;
  siglongjmp(back, 1);
}
static void cause_fault(void) {
  handled = 0;
  if (!sigsetjmp(back, 1))
    *(volatile int *)16 = 1;
}

static void test_own_handler(void **state) {
  (void)state;
  struct sigaction own = {.sa_handler = own_handler}, before, now;
  sigaction(SIGSEGV, &own, &before);
  struct gpu gpu = gpu_open("fault", 0, 1, 1);
  uint64_t a = gpu_alloc(&gpu, 4096);
  cause_fault();
  assert_int_equal(handled, SIGSEGV);
  assert_error(&gpu, write_at(&gpu, a, 512), "OUT_OF_BOUNDS", NULL);
  cause_fault();
  assert_int_equal(handled, SIGSEGV);
  /* A handler that comes later is respected, too. */
  sigaction(SIGSEGV, &own, NULL);
  handled = 0;
  assert_error(&gpu, write_at(&gpu, a, 512), "OUT_OF_BOUNDS", NULL);
  assert_int_equal(handled, 0);
  cause_fault();
  assert_int_equal(handled, SIGSEGV);
  gpu_close(&gpu);
  sigaction(SIGSEGV, NULL, &now);
  assert_ptr_equal(now.sa_handler, own_handler);
  sigaction(SIGSEGV, &before, NULL);
}

/* Several host threads with good and bad kernels at the same time. */
static struct gpu common;
static void *hammer(void *arg) {
  long number = (long)(intptr_t)arg;
  for (int i = 0; i < 50; i++) {
    uint64_t a = gpu_alloc(&common, 4096);
    if ((i + number) % 2) {
      assert_error(&common, write_at(&common, a, 512 + number), "OUT_OF_BOUNDS",
                   "past the end of a 4096-byte", NULL);
    } else {
      int n = 1024, got[1024];
      RUN(&common, "fill", dim(1), dim(1), 0, PARAMS(P(a), P(n)));
      gpu_download(&common, got, a, sizeof(got));
      for (int k = 0; k < n; k++)
        if (got[k] != k)
          return "wrong value";
    }
    common.backend->free(common.device, a);
  }
  return NULL;
}

static void test_host_threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  common = gpu_open("fault", 1, 1, 1);
  for (long i = 0; i < THREADS; i++)
    assert_int_equal(
        pthread_create(&threads[i], NULL, hammer, (void *)(intptr_t)i), 0);
  for (int i = 0; i < THREADS; i++) {
    void *error;
    pthread_join(threads[i], &error);
    assert_null(error);
  }
  gpu_close(&common);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_overrun),
      cmocka_unit_test(test_near),
      cmocka_unit_test(test_far),
      cmocka_unit_test(test_block_operations),
      cmocka_unit_test(test_use_after_free),
      cmocka_unit_test(test_host_pointers),
      cmocka_unit_test(test_garbage_pointer),
      cmocka_unit_test(test_misaligned),
      cmocka_unit_test(test_which_thread),
      cmocka_unit_test(test_loop),
      cmocka_unit_test(test_arithmetic),
      cmocka_unit_test(test_stack_overflow),
      cmocka_unit_test(test_assert),
      cmocka_unit_test(test_variable_bounds),
      cmocka_unit_test(test_masked),
      cmocka_unit_test(test_special),
      cmocka_unit_test(test_own_handler),
      cmocka_unit_test(test_host_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
