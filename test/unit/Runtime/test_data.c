/* test_data.c: memory that the program keeps its hands off (pacc_data_begin).
 */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static struct pacc_rt_counters count(void) {
  struct pacc_rt_counters now;
  pacc_rt_count(&now, sizeof now);
  return now;
}

static void start(const char *device) {
  setenv("PACC_DEVICE", device, 1);
  init_image(&test_image);
}

/* A region, and the original loops if it does not run. */
static int run(struct data *data, double seed) {
  int done = offload(&test_region, data, seed);
  if (!done) {
    __pacc_rt_host_begin(&test_region);
    on_host(data, seed);
  }
  return done;
}

static void stay(void *argument) {
  (void)argument;
  start("cuda");
  struct data data, expected;
  init_data(&data, 1);
  expected = data;
  CHECK(pacc_data_begin(&data, sizeof data));
  CHECK(!pacc_data_begin(data.b, sizeof data.b));
  CHECK(!pacc_data_begin(data.b, 0));
  for (int round = 0; round < 3; round++) {
    CHECK(run(&data, round));
    on_host(&expected, round);
  }
  struct pacc_rt_counters now = count();
  CHECK(now.copies_in == 1 && now.bytes_in == sizeof data);
  CHECK(now.copies_out == 0);
  /* One value to the host, one back. */
  CHECK(data.b[7] != expected.b[7]);
  CHECK(pacc_data_update_host(&data.b[7], sizeof(double)));
  CHECK(data.b[7] == expected.b[7] && data.b[8] != expected.b[8]);
  data.b[7] = expected.b[7] = 3;
  CHECK(pacc_data_update_device(&data.b[7], sizeof(double)));
  CHECK(run(&data, 9));
  on_host(&expected, 9);
  /* Original loops see what regions wrote, and the other way round. */
  fake_cuda_fail("cuLaunchKernel", fake_cuda_calls("cuLaunchKernel") + 2, 1,
                 719);
  CHECK(!run(&data, 10));
  on_host(&expected, 10);
  CHECK(memcmp(&data, &expected, sizeof data) == 0);
  CHECK(run(&data, 11));
  on_host(&expected, 11);
  CHECK(pacc_data_end(&data));
  CHECK(memcmp(&data, &expected, sizeof data) == 0);
  CHECK(pacc_data_end(&data));
  /* As ever afterwards. */
  CHECK(run_region(&test_region, 5));
}

static void data_stay(void **state) {
  (void)state;
  expect_success(stay, NULL);
}

static void take_part(void *argument) {
  (void)argument;
  start("cuda");
  struct data data;
  init_data(&data, 1);
  CHECK(pacc_data_begin(&data.b[1], 100));
  CHECK(!offload(&test_region, &data, 1));
  CHECK(strstr(pacc_rt_last_error(), "array b lies only partly"));
  CHECK(pacc_data_end(&data.b[1]));
  CHECK(offload(&test_region, &data, 1));
}

static void arrays_lie_within(void **state) {
  (void)state;
  expect_success(take_part, NULL);
}

/* Each call of the driver fails: the results are right, or somebody said that
 * they are lost, and that only if the device is. */
struct fault {
  unsigned call, count;
  unsigned *calls;
};

static void fail_there(void *argument) {
  const struct fault *fault = argument;
  start("cuda");
  struct data data, expected;
  init_data(&data, 1);
  expected = data;
  fake_cuda_fail("*", fault->call, fault->count, 719);
  CHECK(pacc_data_begin(&data, sizeof data));
  for (int round = 0; round < 3; round++) {
    run(&data, round);
    on_host(&expected, round);
  }
  int ok = pacc_data_end(&data);
  CHECK(!ok || memcmp(&data, &expected, sizeof data) == 0);
  *fault->calls = fake_cuda_calls("*");
  _exit(ok ? 0 : 7);
}

static void each_call_fails(void **state) {
  (void)state;
  unsigned *calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct fault fault = {.calls = calls};
  expect_success(fail_there, &fault);
  unsigned total = *calls, lost = 0;
  assert_true(total > 40);
  for (unsigned call = 1; call <= total; call++)
    for (int forever = 0; forever < 2; forever++) {
      static struct child child;
      fault.call = call;
      fault.count = forever ? UINT32_MAX : 1;
      run_child(&child, fail_there, &fault);
      if (child.status != 0 && child.status != 7 << 8)
        fail_msg("call %u fails: %s", call, child.text);
      if (child.status)
        assert_non_null(strstr(child.text, "data of pacc_data_begin"));
      lost += child.status != 0;
    }
  assert_in_range(lost, 1, total + 4);
  munmap(calls, 4096);
}

static void do_nothing(void *argument) {
  (void)argument;
  start("host");
  struct data data;
  init_data(&data, 1);
  CHECK(pacc_data_begin(&data, sizeof data));
  CHECK(!run(&data, 1));
  CHECK(pacc_data_update_host(&data, 8) && pacc_data_update_device(&data, 8));
  CHECK(pacc_data_end(&data));
  CHECK(fake_cuda_calls("*") == 0);
}

static void nothing_without_device(void **state) {
  (void)state;
  expect_success(do_nothing, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(data_stay),
      cmocka_unit_test(arrays_lie_within),
      cmocka_unit_test(each_call_fails),
      cmocka_unit_test(nothing_without_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
