/* test_process.c: forks, the end of the process, and a driver that is not
 * there any more.
 */
#include "support.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

/* The leak sanitizer asks. A region that is open when the process ends can't
 * be closed. */
static int open_regions;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return open_regions; }

static void start(void) {
  setenv("PACC_DEVICE", "cuda", 1);
  init_image(&test_image);
}

static void wait_for(pid_t pid) {
  int status;
  CHECK(pid > 0);
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* The child may not touch the driver; its parent goes on. */
static void fork_after_use(void *argument) {
  (void)argument;
  start();
  CHECK(run_region(&test_region, 1) == 1);
  pid_t pid = fork();
  if (pid == 0) {
    unsigned calls = fake_cuda_calls("*");
    for (unsigned i = 0; i < 3; i++)
      CHECK(run_region(&test_region, i) == 0);
    pacc_rt_release();
    struct pacc_rt_device device;
    CHECK(pacc_rt_device_info(&device, sizeof device) == 0);
    CHECK(strcmp(device.backend, "host") == 0);
    CHECK(fake_cuda_calls("*") == calls);
    exit(0);
  }
  wait_for(pid);
  CHECK(run_region(&test_region, 2) == 1);
}

static void forked_child_runs_its_loops(void **state) {
  (void)state;
  const char *text = expect_success(fork_after_use, NULL);
  assert_int_equal(count_text(text, "this process was forked"), 1);
  assert_int_equal(count_text(text, "\n"), 1);
}

/* A child that is the first to use the device may. */
static void fork_before_use(void *argument) {
  (void)argument;
  start();
  pid_t pid = fork();
  if (pid == 0) {
    CHECK(run_region(&test_region, 1) == 1);
    exit(0);
  }
  wait_for(pid);
  CHECK(run_region(&test_region, 2) == 1);
}

static void forked_before_first_use(void **state) {
  (void)state;
  assert_string_equal(expect_success(fork_before_use, NULL), "");
}

/* Forks while threads are in regions: no lock of theirs is needed. */
static void *work(void *argument) {
  (void)argument;
  for (unsigned i = 0; i < 200; i++)
    CHECK(run_region(&test_region, i) == 1);
  return NULL;
}

static void fork_beside_threads(void *argument) {
  (void)argument;
  pthread_t threads[2];
  start();
  for (int i = 0; i < 2; i++)
    CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  CHECK(run_region(&test_region, 1) == 1);
  for (int i = 0; i < 20; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      CHECK(run_region(&test_region, 1) == 0);
      /* Not exit: sanitizers miss the threads. */
      _exit(0);
    }
    wait_for(pid);
  }
  for (int i = 0; i < 2; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
}

static void forks_beside_threads(void **state) {
  (void)state;
  const char *text = expect_success(fork_beside_threads, NULL);
  assert_int_equal(count_text(text, "\n"), 20);
}

/* ---- exit ------------------------------------------------------------- */

/* Registered before the driver starts, so it runs after it was shut down. */
static void last_handler(void) {
  CHECK(run_region(&test_region, 9) == 0);
  pacc_rt_release();
  struct fake_cuda_live live;
  fake_cuda_live(&live);
  CHECK(live.allocations == 0 && live.host_allocations == 0);
  CHECK(live.streams == 0 && live.modules == 0 && live.events == 0);
  CHECK(fake_cuda_late_calls() == 0);
}

static void exit_after_use(void *argument) {
  (void)argument;
  atexit(last_handler);
  start();
  CHECK(run_region(&test_region, 1) == 1);
}

static void regions_in_exit_handlers(void **state) {
  (void)state;
  assert_string_equal(expect_success(exit_after_use, NULL), "");
}

/* Another thread is in a region: its memory stays, and nothing hangs. */
static pthread_barrier_t barrier;

static void *stay(void *argument) {
  static double x[16];
  void *run = __pacc_rt_begin(argument);
  CHECK(run);
  __pacc_rt_array(run, "x", x, 0, sizeof x);
  pthread_barrier_wait(&barrier);
  for (;;)
    pause();
}

static void exit_beside_region(void *argument) {
  (void)argument;
  static pthread_t thread;
  start();
  open_regions = 1;
  pthread_barrier_init(&barrier, NULL, 2);
  CHECK(pthread_create(&thread, NULL, stay, (void *)(uintptr_t)&test_region) ==
        0);
  pthread_barrier_wait(&barrier);
  CHECK(run_region(&test_region, 1) == 1);
  pacc_rt_release();
  struct fake_cuda_live live;
  fake_cuda_live(&live);
  CHECK(live.allocations == 1 && live.modules == 1);
}

static void exit_while_a_thread_is_in_a_region(void **state) {
  (void)state;
  assert_string_equal(expect_success(exit_beside_region, NULL), "");
}

/* exit within a region, as a signal handler does. */
static void exit_inside_region(void *argument) {
  (void)argument;
  start();
  open_regions = 1;
  CHECK(__pacc_rt_begin(&test_region));
  exit(0);
}

static void exit_within_a_region(void **state) {
  (void)state;
  assert_string_equal(expect_success(exit_inside_region, NULL), "");
}

/* The driver says that it was shut down, before our own handler ran. */
static void shut_down_early(void *argument) {
  (void)argument;
  start();
  CHECK(run_region(&test_region, 1) == 1);
  fake_cuda_fail("*", fake_cuda_calls("*") + 1, UINT32_MAX, 4);
  for (unsigned i = 0; i < 3; i++)
    CHECK(run_region(&test_region, i) == 0);
}

static void a_driver_that_was_shut_down(void **state) {
  (void)state;
  const char *text = expect_success(shut_down_early, NULL);
  assert_int_equal(count_text(text, "\n"), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forked_child_runs_its_loops),
      cmocka_unit_test(forked_before_first_use),
      cmocka_unit_test(forks_beside_threads),
      cmocka_unit_test(regions_in_exit_handlers),
      cmocka_unit_test(exit_while_a_thread_is_in_a_region),
      cmocka_unit_test(exit_within_a_region),
      cmocka_unit_test(a_driver_that_was_shut_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
