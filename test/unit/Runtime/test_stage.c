/* test_stage.c: large copies go to the device through pinned memory, which is
 * used again and again. The stand-in for the driver copies late, so that a
 * piece which is overwritten too early shows.
 */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = (13 << 20) + 77, WIDTH_OF_ROWS = 700001, PITCH = 900000 };

static const struct mark all = {0, SIZE, 1, 0};
static const struct mark rows = {5, WIDTH_OF_ROWS, 12, PITCH};

static unsigned char *numbers(unsigned seed) {
  unsigned char *made = malloc(SIZE);
  for (size_t i = 0; i < SIZE; i++)
    made[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
  return made;
}

/* Inverts what `mark` says. Copies in: everything, the rows, or rows from the
 * last one to the first; some more pieces each time. */
static int invert(unsigned char *bytes, const struct mark *mark) {
  void *run = __pacc_rt_begin(&test_region);
  if (!run)
    return 0;
  uint64_t m = __pacc_rt_array(run, "m", bytes, 0, SIZE);
  uint64_t marks =
      __pacc_rt_array(run, "mark", (void *)(uintptr_t)mark, 0, sizeof *mark);
  __pacc_rt_copy(run, 0, PACC_COPY_IN, mark->offset, mark->width, mark->count,
                 mark->pitch);
  __pacc_rt_copy(run, 0, PACC_COPY_IN,
                 mark->offset + (mark->count - 1) * mark->pitch, mark->width,
                 mark->count, -mark->pitch);
  __pacc_rt_copy(run, 1, PACC_COPY_IN, 0, sizeof *mark, 1, 0);
  __pacc_rt_copy(run, 0, PACC_COPY_OUT, mark->offset, mark->width, mark->count,
                 mark->pitch);
  __pacc_rt_launch(run, MARK, 1, 1, 1, (void *[]){&m, &marks});
  return __pacc_rt_end(run);
}

static void start(void) {
  setenv("PACC_DEVICE", "cuda", 1);
  init_image(&test_image);
}

static void check(const struct mark *mark, unsigned seed) {
  unsigned char *bytes = numbers(seed), *expected = numbers(seed);
  int done = invert(bytes, mark);
  for (int64_t row = 0; row < mark->count && done; row++)
    for (int64_t i = 0; i < mark->width; i++)
      expected[mark->offset + row * mark->pitch + i] ^= 0xff;
  CHECK(memcmp(bytes, expected, SIZE) == 0);
  free(bytes);
  free(expected);
  CHECK(done || pacc_rt_last_error()[0]);
}

static void in_pieces(void *argument) {
  (void)argument;
  start();
  check(&all, 1);
  check(&rows, 2);
  CHECK(!pacc_rt_last_error()[0]);
  struct pacc_rt_counters now;
  pacc_rt_count(&now, sizeof now);
  CHECK(now.copies_in == 6);
  /* 8 MiB of pinned memory, and the results of both. */
  CHECK(now.host_memory < (8 << 20) + SIZE + 12 * WIDTH_OF_ROWS + (2 << 20));
  CHECK(fake_cuda_calls("cuEventSynchronize") > 20);
}

static void large_copies_in_pieces(void **state) {
  (void)state;
  expect_success(in_pieces, NULL);
}

static void fail_in_a_piece(void *argument) {
  const unsigned *call = argument;
  static const char *const functions[] = {"cuMemcpyHtoDAsync_v2",
                                          "cuEventSynchronize", "cuEventRecord",
                                          "cuEventCreate"};
  start();
  fake_cuda_fail(functions[*call % 4], *call / 4 + 1, 1, 719);
  check(&all, 3);
  check(&rows, 4);
  _exit(0);
}

static void any_piece_may_fail(void **state) {
  (void)state;
  for (unsigned call = 0; call < 4 * 20; call += 3)
    expect_success(fail_in_a_piece, &call);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_copies_in_pieces),
      cmocka_unit_test(any_piece_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
