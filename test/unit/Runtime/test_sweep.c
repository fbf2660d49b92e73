/* test_sweep.c: PACC_SWEEP runs a launch under every block shape and leaves
 * the program's results as they are.
 */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define FILE_NAME "sweep-test.csv"

static struct pacc_kernel kernels[N_KERNELS];

/* The test image, compiled for any block. */
static void prepare(const char *file) {
  setenv("PACC_DEVICE", "cuda", 1);
  setenv("PACC_SWEEP", file, 1);
  remove(FILE_NAME);
  init_image(&test_image);
  memcpy(kernels, test_image.kernels, sizeof kernels);
  for (int i = 0; i < N_KERNELS; i++)
    kernels[i].max_threads = 1024;
  test_image.kernels = kernels;
}

static const char *read_csv(void) {
  static char text[1 << 16];
  FILE *file = fopen(FILE_NAME, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  remove(FILE_NAME);
  return text;
}

static void run_some(void *argument) {
  prepare(FILE_NAME);
  for (unsigned i = 0; i < *(const unsigned *)argument; i++)
    CHECK(run_region(&test_region, i) == 1);
}

/* 1000 threads in a line: every multiple of the warp. 7 x 20: x up to 32, y up
 * to 32, whole warps. Every region launches axpy twice. */
static void every_shape_once(void **state) {
  (void)state;
  unsigned regions = 3;
  assert_string_equal(expect_success(run_some, &regions), "");
  const char *text = read_csv();
  assert_int_equal(
      count_text(text, "kernel,label,x,y,z,block,chosen,us,turns,"), 1);
  assert_int_equal(count_text(text, "axpy,test.c:10,1000,1,1,"), 32);
  assert_int_equal(count_text(text, ",96x1x1,128x1x1,"), 1);
  assert_int_equal(count_text(text, "fill,test.c:14,7,20,1,"), 21);
  assert_int_equal(count_text(text, ",4x16x1,8x4x1,"), 1);
  /* One sample stands for all launches of its kernel. */
  assert_int_equal(count_text(text, ",6\n"), 32);
  assert_int_equal(count_text(text, ",3\n"), 21);
}

/* After 16 launches of one size comes another sample. */
static void many_launches(void **state) {
  (void)state;
  unsigned regions = 10;
  expect_success(run_some, &regions);
  const char *text = read_csv();
  assert_int_equal(count_text(text, "axpy,test.c:10,1000,1,1,"), 64);
  assert_int_equal(count_text(text, ",16\n"), 32);
  assert_int_equal(count_text(text, ",4\n"), 32);
}

static void run_with_failure(void *argument) {
  (void)argument;
  prepare(FILE_NAME);
  fake_cuda_limit_threads(512);
  CHECK(run_region(&test_region, 1) == 1);
}

/* A shape that does not fit has no time, and is no failure of the region. */
static void impossible_shapes(void **state) {
  (void)state;
  expect_success(run_with_failure, NULL);
  const char *text = read_csv();
  assert_int_equal(count_text(text, ",512x1x1,128x1x1,,,2\n"), 0);
  assert_int_equal(count_text(text, ",544x1x1,128x1x1,,,2\n"), 1);
  /* 544 to 1024 threads in a line, and 32 x 32. */
  assert_int_equal(count_text(text, ",,"), 16 + 1);
}

static void run_short(void *argument) {
  (void)argument;
  prepare(FILE_NAME);
  fake_cuda_set_times(0.003, 0.02);
  CHECK(run_region(&test_region, 1) == 1);
}

/* The first launch of a shape takes 23 us: that is no reason to leave it out
 * beside runs of (20 + 4 * 3) / 4 us. */
static void short_launches(void **state) {
  (void)state;
  expect_success(run_short, NULL);
  assert_int_equal(count_text(read_csv(), ",8.000,8.000 8.000 8.000,"),
                   32 + 21);
}

static void lose_arrays(void *argument) {
  (void)argument;
  prepare(FILE_NAME);
  fake_cuda_fail("cuMemcpyDtoHAsync_v2", 1, 1, 700);
  CHECK(run_region(&test_region, 1) == 0);
}

static void device_failures(void **state) {
  (void)state;
  const char *text = expect_success(lose_arrays, NULL);
  assert_int_equal(count_text(text, "the sweep of kernel axpy failed"), 1);
  remove(FILE_NAME);
}

static void run_fixed(void *argument) {
  (void)argument;
  prepare(FILE_NAME);
  for (int i = 0; i < N_KERNELS; i++)
    kernels[i].max_threads = 0;
  CHECK(run_region(&test_region, 1) == 1);
}

static void code_for_one_block(void **state) {
  (void)state;
  const char *text = expect_success(run_fixed, NULL);
  assert_int_equal(count_text(text, "\n"), 1);
  assert_int_equal(count_text(text, "kernel axpy was compiled for one block: "
                                    "compile with "
                                    "-polly-acc-block-size=sweep"),
                   1);
  assert_int_equal(count_text(read_csv(), "\n"), 1);
}

static void run_without_file(void *argument) {
  (void)argument;
  prepare("/nonexistent/sweep.csv");
  CHECK(run_region(&test_region, 1) == 1);
}

static void a_file_that_cannot_be_written(void **state) {
  (void)state;
  const char *text = expect_success(run_without_file, NULL);
  assert_int_equal(count_text(text, "PACC_SWEEP: /nonexistent/sweep.csv: No "
                                    "such file or directory; nothing is"),
                   1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shape_once),
      cmocka_unit_test(many_launches),
      cmocka_unit_test(impossible_shapes),
      cmocka_unit_test(short_launches),
      cmocka_unit_test(device_failures),
      cmocka_unit_test(code_for_one_block),
      cmocka_unit_test(a_file_that_cannot_be_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
