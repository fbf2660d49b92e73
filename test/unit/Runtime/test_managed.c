/* test_managed.c: kernels that work in the host's memory. */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct pacc_rt_counters count(void) {
  struct pacc_rt_counters now;
  pacc_rt_count(&now, sizeof now);
  return now;
}

static int run(struct data *data, double seed) {
  void *run = __pacc_rt_begin_managed(&test_region);
  return run ? finish_region(run, __pacc_rt_array, data, seed) : 0;
}

static void start(void) {
  setenv("PACC_DEVICE", "cuda", 1);
  init_image(&test_image);
}

static void work_in_place(void *argument) {
  (void)argument;
  start();
  fake_cuda_share_memory();
  struct data data, expected;
  init_data(&data, 1);
  expected = data;
  CHECK(pacc_data_begin(&data, sizeof data));
  CHECK(offload(&test_region, &data, 1));
  on_host(&expected, 1);
  uint64_t bytes = count().bytes_in;
  CHECK(run(&data, 2));
  on_host(&expected, 2);
  CHECK(memcmp(&data, &expected, sizeof data) == 0);
  CHECK(count().bytes_in == bytes && count().bytes_out == 0);
  CHECK(pacc_data_end(&data));
}

/* What the host never sees is in the device's memory nevertheless. */
static void scratch_beside(void *argument) {
  (void)argument;
  double x[3] = {1, 2, 3};
  start();
  fake_cuda_share_memory();
  CHECK(run_with_scratch(__pacc_rt_begin_managed(&test_region), x, 10) == 1);
  CHECK(x[0] == 21 && x[1] == 22 && x[2] == 23);
  CHECK(count().bytes_in == 0 && count().bytes_out == 0);
  CHECK(fake_cuda_calls("cuMemAlloc_v2") > 0);
}

static void scratch_is_on_the_device(void **state) {
  (void)state;
  expect_success(scratch_beside, NULL);
}

static void nothing_is_copied(void **state) {
  (void)state;
  expect_success(work_in_place, NULL);
}

/* The third kernel, or the wait for all of them, fails: two have run. */
static void fail_late(void *argument) {
  start();
  fake_cuda_share_memory();
  struct data data, before;
  init_data(&data, 1);
  before = data;
  fake_cuda_fail(argument, strcmp(argument, "cuLaunchKernel") == 0 ? 3 : 1, 1,
                 719);
  CHECK(!run(&data, 2));
  CHECK(memcmp(&data, &before, sizeof data) == 0);
  CHECK(run(&data, 2));
  on_host(&before, 2);
  CHECK(memcmp(&data, &before, sizeof data) == 0);
}

static void failures_are_undone(void **state) {
  (void)state;
  expect_success(fail_late, "cuLaunchKernel");
  expect_success(fail_late, "cuStreamSynchronize");
}

static void copy_instead(void *argument) {
  (void)argument;
  setenv("PACC_LOG", "info", 1);
  start();
  struct data data, expected;
  init_data(&data, 1);
  expected = data;
  CHECK(run(&data, 2) && run(&data, 3));
  on_host(&expected, 2);
  on_host(&expected, 3);
  CHECK(memcmp(&data, &expected, sizeof data) == 0);
  CHECK(count().copies_in == 4);
}

static void others_get_copies(void **state) {
  (void)state;
  const char *text = expect_success(copy_instead, NULL);
  assert_int_equal(
      count_text(text, "Fake GPU 0 can't access the host's memory"), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_copied),
      cmocka_unit_test(scratch_is_on_the_device),
      cmocka_unit_test(failures_are_undone),
      cmocka_unit_test(others_get_copies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
