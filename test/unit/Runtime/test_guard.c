/* test_guard.c: where regions run if PACC_DEVICE leaves that to the runtime. */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const struct pacc_size tiny = {1e3, 1, 1e3, 0};
static const struct pacc_size huge = {1e12, 1, 1e6, 0};
/* A tenth of a second on the host, less than it takes to start a device. */
static const struct pacc_size medium = {1e8, 1, 1e6, 0};
/* One launch per instance. */
static const struct pacc_size sequential = {1e9, 1e9, 1e9, 0};

static void wait_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static int worth(const struct pacc_size *size) {
  return __pacc_rt_worth(&test_region, size, 1, 1e4);
}

static void start(const char *device) {
  unsetenv("PACC_DEVICE");
  if (device)
    setenv("PACC_DEVICE", device, 1);
  init_image(&test_image);
  fake_cuda_configure(1, 80, 1 << 30, "");
}

static void by_size(void *argument) {
  start(argument);
  CHECK(!worth(&tiny));
  CHECK(!worth(&sequential));
  /* Asking does not start the driver. */
  CHECK(fake_cuda_calls("cuInit") == 0);
  CHECK(worth(&huge));
}

static void insist(void *argument) {
  start(argument);
  CHECK(worth(&tiny));
  CHECK(worth(&sequential));
}

/* What was missed pays for the start in the end. */
static void adds_up(void *argument) {
  (void)argument;
  start(NULL);
  int on_host = 0;
  while (!worth(&medium) && on_host < 1000)
    on_host++;
  CHECK(on_host > 0 && on_host < 1000);
  CHECK(run_region(&test_region, 1));
  /* The device is there now: nothing has to add up any more. */
  CHECK(worth(&medium));
}

/* Original loops that are slower than the estimate move to the device. */
static void learns_from_host(void *argument) {
  (void)argument;
  start(NULL);
  CHECK(run_region(&test_region, 1));
  CHECK(!worth(&tiny));
  wait_ms(50);
  __pacc_rt_host_end(&test_region);
  CHECK(worth(&tiny));
  /* Another size is another matter. */
  struct pacc_size less = {10, 1, 10, 0};
  CHECK(!worth(&less));
}

/* A device that is slower than the estimate loses the region. */
static void learns_from_device(void *argument) {
  (void)argument;
  start(NULL);
  CHECK(run_region(&test_region, 1));
  struct pacc_size size = {1e7, 1, 1e7, 0};
  CHECK(worth(&size));
  void *run = __pacc_rt_begin(&test_region);
  CHECK(run);
  wait_ms(500);
  CHECK(__pacc_rt_end(run));
  CHECK(!worth(&size));
}

/* The end of loops that ran for another reason teaches nothing. */
static void unasked_end(void *argument) {
  (void)argument;
  start(NULL);
  __pacc_rt_host_end(&test_region);
  for (int i = 0; i < PACC_HISTORY_CLASSES; i++)
    CHECK(!test_region.host_factor[i] && !test_region.device_factor[i]);
}

static void no_device(void *argument) {
  (void)argument;
  start(NULL);
  fake_cuda_configure(0, 80, 1 << 30, "");
  CHECK(worth(&huge));
  CHECK(!__pacc_rt_begin(&test_region));
  /* From now on it is begin's matter, which answers at once. */
  CHECK(worth(&tiny));
  CHECK(!__pacc_rt_begin(&test_region));
  CHECK(fake_cuda_calls("cuInit") == 1);
}

/* Sizes of loops that do not run, or of which nothing sensible is known. */
static void odd_sizes(void *argument) {
  (void)argument;
  start(NULL);
  static const struct pacc_size sizes[] = {
      {0, 0, 0, 0},         {1, 0, 0, 0},          {-1, 1, 1, 1},
      {1e300, 1e300, 1, 1}, {1e300, 1, 1e-300, 0}, {0, 0, 0, 2}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    __pacc_rt_worth(&test_region, &sizes[i], 1, 0);
  __pacc_rt_worth(&test_region, sizes, 0, 0);
  CHECK(!worth(&tiny));
}

/* What is far faster on the host is timed once. */
static void settles(void *argument) {
  (void)argument;
  start(NULL);
  uint32_t history[PACC_HISTORY_CLASSES];
  for (int i = 0; i < 2; i++) {
    CHECK(!worth(&sequential));
    if (i == 0)
      wait_ms(20);
    __pacc_rt_host_end(&test_region);
    if (i == 0)
      memcpy(history, test_region.host_factor, sizeof history);
  }
  CHECK(memcmp(history, test_region.host_factor, sizeof history) == 0);
  uint32_t none[PACC_HISTORY_CLASSES] = {0};
  CHECK(memcmp(history, none, sizeof history) != 0);
}

/* And what is far faster there than any copy is not even estimated again, until
 * there is more of it. */
static void settles_for_good(void *argument) {
  (void)argument;
  start(NULL);
  /* The best of the times counts: others may be those of a busy machine. */
  for (int i = 0; i < 1000 && test_region.settled == 0; i++) {
    CHECK(!worth(&tiny));
    __pacc_rt_host_end(&test_region);
  }
  CHECK(test_region.settled == tiny.instances);
  CHECK(!worth(&tiny));
  CHECK(worth(&huge));
}

/* Phases of a loop that one kernel can run cost a barrier each, no launch. */
static void loop_of_launches(void *argument) {
  (void)argument;
  start(NULL);
  CHECK(run_region(&test_region, 1));
  struct pacc_size phases[] = {{1.5e6, 1e3, 2e5, 0}, {1.5e6, 1e3, 2e5, 0}};
  CHECK(!__pacc_rt_worth(&test_region, phases, 2, 1e4));
  phases[0].loop = phases[1].loop = 1;
  CHECK(__pacc_rt_worth(&test_region, phases, 2, 1e4));
}

/* Code that the driver has to compile costs more to load. */
static void adds_up_longer(void *argument) {
  (void)argument;
  struct pacc_size often = {1e6, 1, 1e6, 0};
  int asked[2] = {0, 0};
  for (int machine_code = 0; machine_code < 2; machine_code++) {
    start(NULL);
    test_image.cubin = machine_code ? "" : NULL;
    while (!worth(&often) && asked[machine_code] < 10000)
      asked[machine_code]++;
  }
  CHECK(asked[1] > 0 && asked[1] < asked[0] * 3 / 4 && asked[0] < 10000);
}

/* An estimate that nobody has checked counts less than a time that was seen: a
 * region that would take 20 ms by it, and one that took them. */
static void doubts(void *argument) {
  (void)argument;
  struct pacc_size size = {2e7, 1, 1e6, 0};
  int asked[2] = {0, 0};
  for (int seen = 0; seen < 2; seen++) {
    start(NULL);
    memset(test_region.host_factor, 0, sizeof test_region.host_factor);
    if (seen) {
      CHECK(!worth(&size));
      wait_ms(20);
      __pacc_rt_host_end(&test_region);
    }
    while (!worth(&size) && asked[seen] < 10000)
      asked[seen]++;
  }
  CHECK(asked[1] > 0 && asked[1] < asked[0]);
}

static void says_why(void *argument) {
  (void)argument;
  setenv("PACC_LOG", "info", 1);
  start(NULL);
  /* The second time it is no news. */
  CHECK(!worth(&tiny));
  CHECK(!worth(&tiny));
  __pacc_rt_host_begin(&test_region);
  /* Nobody was asked: the program's own check led here. */
  __pacc_rt_host_begin(&test_region);
  __pacc_rt_host_begin(&test_region);
}

#define IN_CHILD(body, argument)                                               \
  static void test_##body(void **state) {                                      \
    (void)state;                                                               \
    expect_success(body, argument);                                            \
  }
IN_CHILD(by_size, NULL)
IN_CHILD(adds_up, NULL)
IN_CHILD(learns_from_host, NULL)
IN_CHILD(learns_from_device, NULL)
IN_CHILD(settles, NULL)
IN_CHILD(settles_for_good, NULL)
IN_CHILD(loop_of_launches, NULL)
IN_CHILD(adds_up_longer, NULL)
IN_CHILD(doubts, NULL)
IN_CHILD(unasked_end, NULL)
IN_CHILD(no_device, NULL)
IN_CHILD(odd_sizes, NULL)

static void auto_is_the_default(void **state) {
  (void)state;
  expect_success(by_size, (void *)(uintptr_t)"auto");
}

static void others_insist(void **state) {
  (void)state;
  const char *devices[] = {"cuda", "cuda:0", "cpu", "host"};
  for (int i = 0; i < 4; i++)
    expect_success(insist, (void *)(uintptr_t)devices[i]);
}

static void message(void **state) {
  (void)state;
  const char *text = expect_success(says_why, NULL);
  assert_int_equal(
      count_text(text, "test_scop0 (test.c:9): the original loops run: about "),
      1);
  assert_int_equal(
      count_text(text, "test_scop0 (test.c:9): the original loops run: a check "
                       "before the region does not hold"),
      1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_size),
      cmocka_unit_test(auto_is_the_default),
      cmocka_unit_test(others_insist),
      cmocka_unit_test(test_adds_up),
      cmocka_unit_test(test_learns_from_host),
      cmocka_unit_test(test_learns_from_device),
      cmocka_unit_test(test_settles),
      cmocka_unit_test(test_settles_for_good),
      cmocka_unit_test(test_loop_of_launches),
      cmocka_unit_test(test_adds_up_longer),
      cmocka_unit_test(test_doubts),
      cmocka_unit_test(test_unasked_end),
      cmocka_unit_test(test_no_device),
      cmocka_unit_test(test_odd_sizes),
      cmocka_unit_test(message),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
