/* test_span.c: regions that leave their arrays on the device, all or nothing
 * together.
 */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { ROUNDS = 3, BYTES = N * sizeof(double) };

static struct pacc_span span_of_test;

static void start(void) {
  setenv("PACC_DEVICE", "cuda", 1);
  init_image(&test_image);
  span_of_test = (struct pacc_span){.region = {.image = &test_image,
                                               .name = "test_span0",
                                               .location = "test.c:8"}};
}

static int round_in_span(void *span, struct data *data, double seed) {
  void *run = __pacc_rt_span_region(span, &test_region);
  return run ? finish_region(run, __pacc_rt_span_array, data, seed) : 0;
}

/* As generated code does it: the rounds in a span, or one by one, or on the
 * host. Tells whether the span came to its end. */
static bool run_rounds(struct data *data) {
  void *span = __pacc_rt_span_begin(&span_of_test);
  if (span) {
    struct data before = *data;
    int round = 0;
    while (round < ROUNDS && round_in_span(span, data, round))
      round++;
    CHECK(memcmp(data, &before, sizeof before) == 0);
    if (round == ROUNDS && __pacc_rt_span_end(span))
      return true;
    if (round < ROUNDS)
      __pacc_rt_span_abort(span);
    CHECK(memcmp(data, &before, sizeof before) == 0);
  }
  for (int round = 0; round < ROUNDS; round++)
    if (!offload(&test_region, data, round))
      on_host(data, round);
  return false;
}

static bool rounds_are_right(unsigned seed) {
  struct data data, expected;
  init_data(&data, seed);
  expected = data;
  for (int round = 0; round < ROUNDS; round++)
    on_host(&expected, round);
  bool in_span = run_rounds(&data);
  CHECK(memcmp(&data, &expected, sizeof data) == 0);
  return in_span;
}

static struct pacc_rt_counters count(void) {
  struct pacc_rt_counters now;
  pacc_rt_count(&now, sizeof now);
  return now;
}

static void copy_once(void *argument) {
  (void)argument;
  start();
  CHECK(rounds_are_right(1));
  struct pacc_rt_counters now = count();
  CHECK(now.regions == ROUNDS && now.launches == 3 * ROUNDS);
  /* c is written in part: the rest goes to the device, but not back. */
  const uint64_t hull = ((ROWS - 1) * COLUMNS + WIDTH) * sizeof(double);
  CHECK(now.copies_in == 3 && now.bytes_in == 2 * BYTES + hull);
  CHECK(now.copies_out == 2 &&
        now.bytes_out == BYTES + ROWS * WIDTH * sizeof(double));
  /* The device is free again, and a second time nothing is allocated. */
  unsigned calls = fake_cuda_calls("cuMemAlloc_v2");
  CHECK(fake_cuda_current() == NULL);
  CHECK(rounds_are_right(2));
  CHECK(fake_cuda_calls("cuMemAlloc_v2") == calls);
}

static void copies_are_made_once(void **state) {
  (void)state;
  expect_success(copy_once, NULL);
}

/* ---- mirrors ---------------------------------------------------------- */

static unsigned char bytes[4096];

/* One region of a span: inverts `mark` of the bytes [lo, hi). */
static int invert(void *span, int64_t lo, int64_t hi, uint32_t direction,
                  struct mark mark) {
  void *run = __pacc_rt_span_region(span, &test_region);
  CHECK(run);
  uint64_t m = __pacc_rt_span_array(run, "m", bytes, lo, hi);
  uint64_t marks = __pacc_rt_array(run, "mark", &mark, 0, sizeof mark);
  __pacc_rt_copy(run, 1, PACC_COPY_IN, 0, sizeof mark, 1, 0);
  if (direction & PACC_COPY_IN)
    __pacc_rt_copy(run, 0, PACC_COPY_IN, lo, hi - lo, 1, 0);
  __pacc_rt_copy(run, 0, direction & ~(uint32_t)PACC_COPY_IN, mark.offset,
                 mark.width, mark.count, mark.pitch);
  __pacc_rt_launch(run, MARK, 1, 1, 1, (void *[]){&m, &marks});
  return __pacc_rt_end(run);
}

/* Regions whose extents overlap and grow; bytes between that another thread
 * writes meanwhile. */
static void grow(void *argument) {
  (void)argument;
  start();
  unsigned char expected[sizeof bytes];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (unsigned char)(i * 7);
  memcpy(expected, bytes, sizeof bytes);
  void *span = __pacc_rt_span_begin(&span_of_test);
  struct mark part = {1010, 8, 10, 20}, all = {900, 400, 1, 0},
              apart = {2000, 100, 1, 0}, wide = {1200, 800, 1, 0};
  CHECK(invert(span, 1000, 1300, PACC_COPY_IN | PACC_COPY_OUT, part));
  CHECK(invert(span, 2000, 2100, PACC_COPY_IN | PACC_COPY_OUT, apart));
  CHECK(invert(span, 900, 1300, PACC_COPY_IN | PACC_COPY_OUT, all));
  CHECK(invert(span, 1100, 2050, PACC_COPY_IN | PACC_COPY_OUT, wide));
  CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
  bytes[2095] = 1;
  bytes[950] = 2; /* lost: the program writes it, too */
  bytes[1] = 3;
  CHECK(__pacc_rt_span_end(span));
  const struct mark *marks[] = {&part, &all, &apart, &wide};
  for (int k = 0; k < 4; k++)
    for (int64_t row = 0; row < marks[k]->count; row++)
      for (int64_t i = 0; i < marks[k]->width; i++)
        expected[marks[k]->offset + row * marks[k]->pitch + i] ^= 0xff;
  expected[1] = 3;
  CHECK(memcmp(bytes, expected, sizeof bytes) == 0);
}

static void mirrors_grow(void **state) {
  (void)state;
  expect_success(grow, NULL);
}

/* Bytes that kernels don't write may change under a span. */
static void share(void *argument) {
  (void)argument;
  start();
  memset(bytes, 5, sizeof bytes);
  void *span = __pacc_rt_span_begin(&span_of_test);
  struct mark mark = {0, 1, 100, 2};
  CHECK(invert(span, 0, 199, PACC_COPY_OUT | PACC_COPY_CHANGES, mark));
  for (int i = 1; i < 199; i += 2)
    bytes[i] = 9;
  CHECK(invert(span, 0, 199, PACC_COPY_OUT | PACC_COPY_CHANGES,
               (struct mark){0, 1, 1, 0}));
  CHECK(__pacc_rt_span_end(span));
  CHECK(bytes[0] == 5);
  for (int i = 1; i < 199; i++)
    CHECK(bytes[i] == (i % 2 ? 9 : 0xfa));
}

static void other_threads_bytes_stay(void **state) {
  (void)state;
  expect_success(share, NULL);
}

/* Parts that lie apart, up to eight; one more ends the span. */
static void write_parts(void *argument) {
  (void)argument;
  start();
  memset(bytes, 0, sizeof bytes);
  void *span = __pacc_rt_span_begin(&span_of_test);
  struct mark part = {0, 10, 1, 0};
  for (int k = 0; k < 8; k++, part.offset += 100)
    CHECK(invert(span, 0, sizeof bytes, PACC_COPY_OUT, part));
  /* Known already, or more than what was known. */
  part = (struct mark){702, 3, 1, 0};
  CHECK(invert(span, 0, sizeof bytes, PACC_COPY_OUT, part));
  part = (struct mark){690, 30, 1, 0};
  CHECK(invert(span, 0, sizeof bytes, PACC_COPY_OUT, part));
  CHECK(__pacc_rt_span_end(span));
  CHECK(count().bytes_out == 7 * 10 + 30);
  CHECK(bytes[0] == 0xff && bytes[10] == 0 && bytes[690] == 0xff &&
        bytes[700] == 0 && bytes[703] == 0xff && bytes[719] == 0xff);
  span = __pacc_rt_span_begin(&span_of_test);
  part = (struct mark){0, 10, 1, 0};
  for (int k = 0; k < 9; k++, part.offset += 100)
    CHECK(invert(span, 0, sizeof bytes, PACC_COPY_OUT, part) == (k < 8));
  CHECK(strstr(pacc_rt_last_error(), "too many different parts of array m"));
  __pacc_rt_span_abort(span);
  CHECK(bytes[0] == 0xff);
}

static void parts_of_an_array(void **state) {
  (void)state;
  expect_success(write_parts, NULL);
}

/* A large array of which next to nothing is used: not in a span. */
static void leave_sparse(void *argument) {
  (void)argument;
  start();
  static char large[3 << 20];
  void *span = __pacc_rt_span_begin(&span_of_test);
  void *run = __pacc_rt_span_region(span, &test_region);
  __pacc_rt_span_array(run, "large", large, 0, sizeof large);
  __pacc_rt_copy(run, 0, PACC_COPY_IN, 0, 8, 100, 1024);
  CHECK(!__pacc_rt_end(run));
  __pacc_rt_span_abort(span);
  CHECK(strstr(pacc_rt_last_error(), "only a small part of array large"));
  CHECK(count().bytes_in == 0 && count().fallbacks == 0);
  /* Not tried again at once, but some time. */
  CHECK(!__pacc_rt_span_begin(&span_of_test));
  span = __pacc_rt_span_begin(&span_of_test);
  CHECK(span && __pacc_rt_span_end(span));
}

static void sparse_arrays_do_not_stay(void **state) {
  (void)state;
  expect_success(leave_sparse, NULL);
}

/* ---- failures --------------------------------------------------------- */

struct fault {
  unsigned call, count;
  unsigned *total;
};

static void fail_there(void *argument) {
  const struct fault *fault = argument;
  start();
  if (fault->count)
    fake_cuda_fail("*", fault->call, fault->count, 719);
  rounds_are_right(3);
  rounds_are_right(4);
  if (fault->total)
    *fault->total = fake_cuda_calls("*");
  CHECK(fake_cuda_current() == NULL);
  /* The exit handlers are not what is tested here. */
  if (fault->count)
    _exit(0);
}

static unsigned count_calls(void) {
  int ends[2];
  unsigned total = 0;
  assert_int_equal(pipe(ends), 0);
  pid_t pid = fork();
  if (pid == 0) {
    struct fault fault = {.total = &total};
    fail_there(&fault);
    _exit(write(ends[1], &total, sizeof total) != sizeof total);
  }
  assert_int_equal(read(ends[0], &total, sizeof total), sizeof total);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  close(ends[0]);
  close(ends[1]);
  return total;
}

/* Any call of the driver fails, once or from then on: the results are right. */
static void each_call_fails(void **state) {
  (void)state;
  unsigned total = count_calls();
  assert_true(total > 60);
  for (unsigned call = 1; call <= total; call++)
    for (int forever = 0; forever < 2; forever++) {
      struct fault fault = {.call = call, .count = forever ? UINT32_MAX : 1};
      expect_success(fail_there, &fault);
    }
}

static void on_host_only(void *argument) {
  (void)argument;
  start();
  setenv("PACC_DEVICE", "host", 1);
  CHECK(!rounds_are_right(1));
  CHECK(!__pacc_rt_span_begin(&span_of_test));
}

static void no_span_without_device(void **state) {
  (void)state;
  expect_success(on_host_only, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_are_made_once),
      cmocka_unit_test(mirrors_grow),
      cmocka_unit_test(other_threads_bytes_stay),
      cmocka_unit_test(parts_of_an_array),
      cmocka_unit_test(sparse_arrays_do_not_stay),
      cmocka_unit_test(each_call_fails),
      cmocka_unit_test(no_span_without_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
