/* test_memory.c: device memory, copies, streams and events. */
#include "support.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_fresh_memory(void **state) {
  (void)state;
  uint64_t words[3][4];
  for (long seed = 0; seed < 3; seed++) {
    struct gpu gpu = gpu_open(NULL, seed, 1, 1);
    uint64_t a = gpu_alloc(&gpu, sizeof(words[0]));
    gpu_download(&gpu, words[seed], a, sizeof(words[0]));
    for (int i = 0; i < 4; i++) { /* NaN as double, and as two floats */
      double d;
      float f[2];
      memcpy(&d, &words[seed][i], sizeof(d));
      memcpy(f, &words[seed][i], sizeof(f));
      assert_true(d != d && f[0] != f[0] && f[1] != f[1]);
      assert_true((int32_t)words[seed][i] > 1 << 30);
    }
    gpu_close(&gpu);
  }
  assert_int_not_equal(words[0][0], words[1][0]);
  assert_int_not_equal(words[1][0], words[2][0]);
}

static void test_sizes(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("launch", 0, 1, 1);
  for (uint64_t size = 1; size < 100000; size = size * 5 / 4 + 1) {
    uint64_t a = gpu_alloc(&gpu, size), n = size;
    assert_int_equal(a % 16, 0);
    unsigned char *got = malloc(size);
    RUN(&gpu, "fill_bytes", dim(1), dim(1), 0, PARAMS(P(a), P(n)));
    gpu_download(&gpu, got, a, size);
    for (uint64_t i = 0; i < size; i++)
      assert_int_equal(got[i], 0x5a);
    free(got);
    if (size % 2)
      gpu.backend->free(gpu.device, a);
  }
  gpu_close(&gpu);
}

static void test_copies(void **state) {
  (void)state;
  struct gpu gpu = gpu_open(NULL, 0, 1, 1);
  unsigned char in[60], out[60];
  for (int i = 0; i < 60; i++)
    in[i] = (unsigned char)(i + 1);
  uint64_t a = gpu_upload(&gpu, in, sizeof(in));
  /* Three rows of 4 bytes out of rows of 10, into rows of 7. */
  memset(out, 0, sizeof(out));
  assert_ok(&gpu,
            gpu.backend->copy_out(gpu.device, NULL, out, 7, a + 3, 10, 4, 3));
  for (int row = 0; row < 3; row++)
    for (int i = 0; i < 7; i++)
      assert_int_equal(out[7 * row + i], i < 4 ? 10 * row + 3 + i + 1 : 0);
  assert_int_equal(out[21], 0);
  /* And back, to other rows. */
  assert_ok(&gpu, gpu.backend->copy_in(gpu.device, NULL, a, 20, out, 7, 4, 3));
  gpu_download(&gpu, out, a, sizeof(out));
  for (int row = 0; row < 3; row++)
    for (int i = 0; i < 20; i++)
      assert_int_equal(out[20 * row + i],
                       i < 4 ? 10 * row + 3 + i + 1 : 20 * row + i + 1);
  /* Rows without a gap, no rows, and one row with a pitch that means nothing.
   */
  assert_ok(&gpu, gpu.backend->copy_in(gpu.device, NULL, a, 6, in, 6, 6, 10));
  gpu_download(&gpu, out, a, sizeof(out));
  assert_memory_equal(in, out, sizeof(in));
  assert_ok(&gpu, gpu.backend->copy_in(gpu.device, NULL, a, 1, in, 1, 0, 5));
  assert_ok(&gpu, gpu.backend->copy_in(gpu.device, NULL, a, 1, in, 1, 5, 0));
  assert_ok(&gpu, gpu.backend->copy_in(gpu.device, NULL, a + 50, UINT64_MAX, in,
                                       7, 10, 1));
  gpu_close(&gpu);
}

static void test_bad_copies(void **state) {
  (void)state;
  struct gpu gpu = gpu_open(NULL, 0, 1, 1);
  unsigned char host[64] = {0};
  uint64_t a = gpu_alloc(&gpu, 60);
  static const struct {
    int64_t offset;
    uint64_t pitch, width, count;
  } bad[] = {
      {0, 0, 61, 1},         {1, 0, 60, 1}, {-1, 0, 4, 1},
      {0, 20, 21, 3},        {60, 0, 1, 1}, {0, 1ull << 63, 1, 3},
      {0, UINT64_MAX, 2, 2}, {8, 26, 1, 3},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    uint64_t at = a + (uint64_t)bad[i].offset;
    assert_error(&gpu,
                 gpu.backend->copy_in(gpu.device, NULL, at, bad[i].pitch, host,
                                      0, bad[i].width, bad[i].count),
                 "OUT_OF_BOUNDS", "a copy to the device", NULL);
    assert_error(&gpu,
                 gpu.backend->copy_out(gpu.device, NULL, host, 0, at,
                                       bad[i].pitch, bad[i].width,
                                       bad[i].count),
                 "OUT_OF_BOUNDS", "a copy from the device", NULL);
  }
  uint64_t here = (uintptr_t)host;
  assert_error(&gpu,
               gpu.backend->copy_in(gpu.device, NULL, here, 0, host, 0, 1, 1),
               "OUT_OF_BOUNDS", "a host address", NULL);
  gpu.backend->free(gpu.device, a);
  assert_error(&gpu,
               gpu.backend->copy_in(gpu.device, NULL, a, 0, host, 0, 1, 1),
               "OUT_OF_BOUNDS", "which was freed", NULL);
  gpu_close(&gpu);
}

static void test_out_of_memory(void **state) {
  (void)state;
  setenv("PACC_CPU_MEMORY", "1M", 1);
  struct gpu gpu = gpu_open(NULL, 0, 1, 1);
  unsetenv("PACC_CPU_MEMORY");
  uint64_t b, a = gpu_alloc(&gpu, 700 << 10);
  assert_error(&gpu, gpu.backend->alloc(gpu.device, 400 << 10, &b),
               "OUT_OF_MEMORY", "409600 bytes wanted, 716800 of 1048576", NULL);
  assert_error(&gpu, gpu.backend->alloc(gpu.device, UINT64_MAX - 5, &b),
               "OUT_OF_MEMORY", NULL);
  assert_error(&gpu, gpu.backend->alloc(gpu.device, 0, &b), "INVALID_VALUE",
               "an allocation of 0 bytes", NULL);
  gpu.backend->free(gpu.device, a);
  gpu.backend->free(gpu.device, a); /* once more: nothing to free */
  gpu.backend->free(gpu.device, 4096);
  b = gpu_alloc(&gpu, 1 << 20);
  gpu.backend->free(gpu.device, b);
  gpu_close(&gpu);
}

/* More allocations than addresses are remembered for; the memory comes back. */
static void test_churn(void **state) {
  (void)state;
  struct gpu gpu = gpu_open(NULL, 0, 1, 1);
  enum { ROUNDS = 20000, KEPT = 16 };
  uint64_t kept[KEPT] = {0};
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t *slot = &kept[i * 7 % KEPT], size = 1 + (uint64_t)i * 37 % 9000;
    if (*slot)
      gpu.backend->free(gpu.device, *slot);
    *slot = gpu_alloc(&gpu, size);
    for (int k = 0; k < KEPT; k++)
      assert_true(&kept[k] == slot || kept[k] != *slot);
  }
  gpu_close(&gpu);
}

/* With few addresses: in a child, since the range is reserved once. Freed
 * addresses are used again when the range is used up. */
static int use_limited(uint64_t limit) {
  struct rlimit as = {limit, limit};
  struct gpu gpu = {.backend = pacc_cpu_backend()};
  struct pacc_device_info info;
  if (setrlimit(RLIMIT_AS, &as))
    return 1;
  int status = gpu.backend->open(0, &gpu.device, &info);
  if (status)
    return strstr(gpu.backend->error_detail(NULL), "ulimit -v") ? 2 : 3;
  uint64_t first = 0, address = 0, again = 0;
  for (int i = 0; i < 200 && !again; i++) {
    if (gpu.backend->alloc(gpu.device, 16 << 20, &address))
      return 4;
    if (i == 0)
      first = address;
    else if (address <= first)
      again = address;
    gpu.backend->free(gpu.device, address);
  }
  return again ? 0 : 5;
}

static int run_limited(uint64_t limit) {
  int status;
  pid_t child = fork();
  if (child == 0)
    _exit(use_limited(limit));
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void test_few_addresses(void **state) {
  (void)state;
  assert_int_equal(run_limited(12ull << 30), 0);
  assert_int_equal(run_limited(3ull << 30), 2);
}

static void test_streams_and_events(void **state) {
  (void)state;
  struct gpu gpu = gpu_open(NULL, 0, 1, 1);
  void *stream, *from, *to;
  float ms = -1;
  assert_ok(&gpu, gpu.backend->enter(gpu.device));
  assert_ok(&gpu, gpu.backend->stream_create(gpu.device, &stream));
  assert_ok(&gpu, gpu.backend->event_create(gpu.device, &from));
  assert_ok(&gpu, gpu.backend->event_create(gpu.device, &to));
  assert_ok(&gpu, gpu.backend->event_record(gpu.device, stream, from));
  usleep(20000);
  assert_ok(&gpu, gpu.backend->event_record(gpu.device, stream, to));
  assert_ok(&gpu, gpu.backend->sync(gpu.device, stream));
  assert_ok(&gpu, gpu.backend->event_elapsed(gpu.device, from, to, &ms));
  assert_true(ms >= 20 && ms < 20000);
  gpu.backend->event_destroy(gpu.device, from);
  gpu.backend->event_destroy(gpu.device, to);
  gpu.backend->stream_destroy(gpu.device, stream);
  void *memory;
  assert_ok(&gpu, gpu.backend->host_alloc(gpu.device, 1000, &memory));
  memset(memory, 1, 1000);
  gpu.backend->host_free(gpu.device, memory);
  gpu.backend->leave(gpu.device);
  gpu_close(&gpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_few_addresses), /* before any other */
      cmocka_unit_test(test_fresh_memory),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_bad_copies),
      cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_churn),
      cmocka_unit_test(test_streams_and_events),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
