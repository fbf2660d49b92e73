/* test_profile.c: PACC_PROFILE and PACC_PROFILE_CSV. What the files contain
 * is checked by check_profile.py.
 */
#include "support.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char folder[] = "/tmp/pacc-profile-XXXXXX";
static char trace[64], table[64];

static int make_folder(void **state) {
  (void)state;
  if (!mkdtemp(folder))
    return -1;
  snprintf(trace, sizeof trace, "%s/trace.json", folder);
  snprintf(table, sizeof table, "%s/table.csv", folder);
  return 0;
}

static int remove_files(void **state) {
  (void)state;
  remove(trace);
  remove(table);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

static void start(void) {
  setenv("PACC_DEVICE", "cuda", 1);
  setenv("PACC_PROFILE", trace, 1);
  setenv("PACC_PROFILE_CSV", table, 1);
  init_image(&test_image);
}

static struct pacc_region strange = {.image = &test_image,
                                     .name = "a \"strange\", name\\",
                                     .location = "test.c:9"};

static void expect_files(unsigned regions, unsigned fallbacks,
                         unsigned launches) {
  char command[512];
  snprintf(command, sizeof command, "python3 %s %s %s %u %u %u", CHECK_PROFILE,
           trace, table, regions, fallbacks, launches);
  assert_int_equal(system(command), 0);
}

static void three_regions(void *argument) {
  (void)argument;
  /* A decimal comma must not get into the files. The locale may be missing;
   * then this is like any other run. */
  setlocale(LC_ALL, "de_DE.UTF-8");
  start();
  for (unsigned i = 0; i < 3; i++)
    CHECK(run_region(&strange, i) == 1);
  pacc_rt_release();
  struct fake_cuda_live live;
  fake_cuda_live(&live);
  CHECK(live.events == 0);
}

static void regions(void **state) {
  (void)state;
  assert_string_equal(expect_success(three_regions, NULL), "");
  expect_files(3, 0, 9);
}

static void failed_regions(void *argument) {
  (void)argument;
  start();
  CHECK(run_region(&strange, 1) == 1);
  fake_cuda_fail("cuLaunchKernel", 5, 1, 719);
  CHECK(run_region(&strange, 2) == 0);
  CHECK(run_region(&strange, 3) == 1);
}

static void fallbacks(void **state) {
  (void)state;
  expect_success(failed_regions, NULL);
  expect_files(2, 1, 6);
}

/* More launches than events are kept waiting for. */
static void many_launches(void *argument) {
  (void)argument;
  static double x[4];
  start();
  void *run = __pacc_rt_begin(&strange);
  uint64_t a = __pacc_rt_array(run, "x", x, 0, sizeof x);
  double value = 0;
  int64_t rows = 0;
  int columns = 0;
  __pacc_rt_copy(run, 0, PACC_COPY_IN, 0, sizeof x, 1, 0);
  for (int i = 0; i < 5000; i++)
    __pacc_rt_launch(run, FILL, 5, 20, 1,
                     (void *[]){&a, &value, &rows, &columns});
  CHECK(__pacc_rt_end(run) == 1);
  CHECK(fake_cuda_calls("cuEventCreate") < 3000);
}

static void many(void **state) {
  (void)state;
  char command[512];
  assert_string_equal(expect_success(many_launches, NULL), "");
  snprintf(command, sizeof command, "grep -c ^kernel,fill %s | grep -qx 5000",
           table);
  assert_int_equal(system(command), 0);
}

/* What is there when the program dies, is whole. */
static void crash(void *argument) {
  (void)argument;
  start();
  for (unsigned i = 0; i < 2; i++)
    CHECK(run_region(&strange, i) == 1);
  _exit(0);
}

static void crashed(void **state) {
  (void)state;
  assert_string_equal(expect_success(crash, NULL), "");
  expect_files(2, 0, 6);
}

static void no_region(void *argument) {
  (void)argument;
  start();
  setenv("PACC_DEVICE", "host", 1);
  CHECK(run_region(&strange, 1) == 0);
}

static void nothing_to_tell(void **state) {
  (void)state;
  assert_string_equal(expect_success(no_region, NULL), "");
  expect_files(0, 0, 0);
}

/* A child's rows do not get into its parent's files. */
static void fork_in_between(void *argument) {
  (void)argument;
  start();
  CHECK(run_region(&strange, 1) == 1);
  if (fork() == 0) {
    CHECK(run_region(&strange, 2) == 0);
    exit(0);
  }
  CHECK(run_region(&strange, 3) == 1);
}

static void forked(void **state) {
  (void)state;
  expect_success(fork_in_between, NULL);
  expect_files(2, 0, 6);
}

static void bad_paths(void *argument) {
  (void)argument;
  start();
  setenv("PACC_PROFILE", "/no such folder/trace.json", 1);
  setenv("PACC_PROFILE_CSV", "/dev/full", 1);
  for (unsigned i = 0; i < 3; i++)
    CHECK(run_region(&strange, i) == 1);
}

static void unwritable(void **state) {
  (void)state;
  assert_string_equal(
      expect_success(bad_paths, NULL),
      "pacc: PACC_PROFILE: /no such folder/trace.json: No such file or "
      "directory; the program goes on without\n"
      "pacc: PACC_PROFILE_CSV: can't be written: No space left on device; the "
      "program goes on without\n");
}

/* A pipe can't be sought in: the end comes at the end. */
static void to_pipe(void *argument) {
  (void)argument;
  char name[32];
  int ends[2];
  start();
  CHECK(pipe(ends) == 0);
  snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
  setenv("PACC_PROFILE", name, 1);
  CHECK(run_region(&strange, 1) == 1);
  CHECK(run_region(&strange, 2) == 1);
  /* What an exit handler registered before would see. */
  static char text[1 << 16];
  ssize_t size = read(ends[0], text, sizeof text - 1);
  CHECK(size > 0 && strstr(text, "a \\\"strange\\\", name\\\\"));
  CHECK(strstr(text, "]}") == NULL);
}

static void piped(void **state) {
  (void)state;
  assert_string_equal(expect_success(to_pipe, NULL), "");
}

static void with_process_id(void *argument) {
  (void)argument;
  start();
  setenv("PACC_PROFILE", "", 1);
  char name[80], expected[96];
  snprintf(name, sizeof name, "%s/x%%p.csv", folder);
  snprintf(expected, sizeof expected, "%s/x%d.csv", folder, (int)getpid());
  setenv("PACC_PROFILE_CSV", name, 1);
  CHECK(run_region(&strange, 1) == 1);
  struct stat status;
  CHECK(stat(expected, &status) == 0 && status.st_size > 100);
  CHECK(remove(expected) == 0);
}

static void process_id(void **state) {
  (void)state;
  assert_string_equal(expect_success(with_process_id, NULL), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(regions, remove_files),
      cmocka_unit_test_teardown(fallbacks, remove_files),
      cmocka_unit_test_teardown(many, remove_files),
      cmocka_unit_test_teardown(crashed, remove_files),
      cmocka_unit_test_teardown(nothing_to_tell, remove_files),
      cmocka_unit_test_teardown(forked, remove_files),
      cmocka_unit_test_teardown(unwritable, remove_files),
      cmocka_unit_test_teardown(piped, remove_files),
      cmocka_unit_test_teardown(process_id, remove_files),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
