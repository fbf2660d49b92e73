/* test_loop.c: loops of launches: one kernel, or the host's launches. */
#include "support.h"

#include "estimate_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- the choice ------------------------------------------------------- */

/* On an H200: a loop of `launches` of each of two phases, which wait for each
 * other. */
static uint32_t blocks_for(double launches, double threads, double instances,
                           bool always, bool is_gpu, uint32_t resident) {
  static const struct pacc_phase phases[] = {{0, 1}, {1, 1}};
  const struct pacc_size size = {launches * instances, launches,
                                 launches * threads, 1};
  const struct pacc_size sizes[] = {size, size};
  const struct pacc_loop_facts facts = {.is_gpu = is_gpu,
                                        .mode = always ? PACC_LOOP_ALWAYS
                                                       : PACC_LOOP_AUTO,
                                        .sm_count = 132,
                                        .resident = resident,
                                        .block_threads = 256,
                                        .n_phases = 2,
                                        .phases = phases,
                                        .sizes = sizes};
  return pacc_loop_choose(&facts).blocks;
}

static void test_choice(void **state) {
  (void)state;
  const uint32_t resident = 8 * 132;
  /* What one block can do needs no barrier over a grid. */
  assert_int_equal(blocks_for(1000, 200, 200, false, true, resident), 1);
  /* Waiting costs less than launches, and no block is without work. */
  assert_int_equal(blocks_for(1000, 20000, 20000, false, true, resident), 79);
  /* Launches are small beside phases that fill the device many times. */
  assert_int_equal(blocks_for(1000, 1e8, 1e8, false, true, resident), 0);
  assert_int_equal(blocks_for(1000, 1e8, 1e8, true, true, resident), resident);
  /* The CPU device has cheap launches. */
  assert_int_equal(blocks_for(1000, 200, 200, false, false, 4), 0);
  assert_int_equal(blocks_for(1000, 2000, 2000, true, false, 4), 4);
  /* The launches of a loop over some wide rows hide what they do; barriers cost
   * a third of them. */
  assert_int_equal(blocks_for(1000, 100000, 100000, false, true, resident),
                   391);
  /* Nothing is resident for sure. */
  assert_int_equal(blocks_for(1000, 200, 200, true, true, 0), 0);
}

static void test_unknown_sizes(void **state) {
  (void)state;
  struct pacc_loop_facts facts = {
      .is_gpu = true, .sm_count = 132, .resident = 264, .block_threads = 256};
  assert_int_equal(pacc_loop_choose(&facts).blocks, 0);
  facts.mode = PACC_LOOP_ALWAYS;
  assert_int_equal(pacc_loop_choose(&facts).blocks, 264);
}

/* ---- launches --------------------------------------------------------- */

static const char ptx[] = ".version 8.4\n.target sm_80\n.visible .entry loop(\n"
                          ".visible .entry step(\n";
static const uint32_t sizes[] = {8, 8};
static const struct pacc_kernel kernels[] = {
    {.name = "loop", .block = {64, 2, 1}, .n_params = 2, .param_sizes = sizes},
    {.name = "step", .block = {64, 1, 1}, .n_params = 2, .param_sizes = sizes},
};
static const struct pacc_phase phases[] = {{1, 1}, {PACC_NO_KERNEL, 0}};
static struct pacc_image image;
static struct pacc_region region = {.image = &image, .name = "loop_scop0"};

/* Counts itself, and what it found in the word, which it leaves as barriers do:
 * with 0 in the lower bits. */
struct seen {
  uint32_t runs, word;
};

static void run_loop(const unsigned grid[3], const unsigned block[3],
                     void **params) {
  uint64_t to, word;
  (void)grid;
  (void)block;
  memcpy(&to, params[0], sizeof to);
  memcpy(&word, params[1], sizeof word);
  struct seen *seen = (struct seen *)(uintptr_t)to;
  uint32_t *found = (uint32_t *)(uintptr_t)word;
  seen->runs++;
  seen->word = *found;
  *found ^= 0x80000000u;
}

static void start(void) {
  setenv("PACC_DEVICE", "cuda", 1);
  setenv("PACC_LOG", "launch", 1);
  image = (struct pacc_image){.abi = &PACC_ABI_SYMBOL,
                              .name = "loop.c",
                              .arch = "sm_80",
                              .ptx = ptx,
                              .ptx_size = sizeof ptx - 1,
                              .ptx_hash = test_hash(ptx, sizeof ptx - 1),
                              .kernels = kernels,
                              .n_kernels = 2};
  fake_cuda_kernel("loop", run_loop, 2, sizes);
  fake_cuda_kernel("step", run_loop, 2, sizes);
}

/* Runs the loop in a region; what __pacc_rt_loop returned. */
static int32_t run(struct seen *seen, bool ends_well) {
  const struct pacc_loop loop = {
      .kernel = 0, .always = 1, .barrier = 1, .n_phases = 2, .phases = phases};
  const struct pacc_size work[] = {{1e8, 1e3, 1e8, 1}, {0, 0, 0, 1}};
  void *opened = __pacc_rt_begin(&region);
  CHECK(opened);
  uint64_t to = __pacc_rt_array(opened, "seen", seen, 0, (int64_t)sizeof *seen);
  __pacc_rt_copy(opened, 0, PACC_COPY_IN, 0, sizeof *seen, 1, 0);
  __pacc_rt_copy(opened, 0, PACC_COPY_OUT, 0, sizeof *seen, 1, 0);
  int32_t result = __pacc_rt_loop(opened, &loop, work, (void *[]){&to, NULL});
  CHECK(__pacc_rt_end(opened) == ends_well);
  return result;
}

static void child_one_kernel(void *argument) {
  (void)argument;
  start();
  struct seen seen = {0, 1};
  CHECK(run(&seen, true) == 1 && seen.runs == 1 && seen.word == 0);
  unsigned grid[3], block[3];
  fake_cuda_last_launch(grid, block);
  /* 100,000 threads in blocks of 128, of which 8 are resident. */
  CHECK(grid[0] == 8 && grid[1] == 1 && block[0] == 64 && block[1] == 2);
  unsigned allocations = fake_cuda_calls("cuMemAlloc_v2");
  CHECK(run(&seen, true) == 1 && seen.runs == 2 && seen.word == 0x80000000u);
  CHECK(fake_cuda_calls("cuMemAlloc_v2") == allocations);
  CHECK(fake_cuda_calls("cuLaunchCooperativeKernel") == 2);
  pacc_rt_release();
  struct fake_cuda_live live;
  fake_cuda_live(&live);
  CHECK(live.allocations == 0);
}

static void test_one_kernel(void **state) {
  (void)state;
  const char *text = expect_success(child_one_kernel, NULL);
  assert_non_null(strstr(text, "loop_scop0: one kernel runs the loop of step"));
  assert_int_equal(count_text(text, "launch loop, grid 8x1x1, block 64x2x1"),
                   2);
}

/* The word may be left in any state. */
static void child_failure(void *argument) {
  (void)argument;
  start();
  struct seen seen = {0, 1};
  CHECK(run(&seen, true) == 1);
  fake_cuda_fail("cuLaunchCooperativeKernel", 2, 1, 1);
  CHECK(run(&seen, false) == 1);
  CHECK(run(&seen, true) == 1 && seen.runs == 2 && seen.word == 0);
}

static void test_failure(void **state) {
  (void)state;
  assert_non_null(
      strstr(expect_success(child_failure, NULL), "cuLaunchCooperativeKernel"));
}

static void child_not_resident(void *argument) {
  (void)argument;
  start();
  fake_cuda_refuse_resident();
  struct seen seen = {0, 1};
  CHECK(run(&seen, true) == 0 && seen.runs == 0);
  CHECK(fake_cuda_calls("cuLaunchCooperativeKernel") == 0);
}

static void test_not_resident(void **state) {
  (void)state;
  expect_success(child_not_resident, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_choice),       cmocka_unit_test(test_unknown_sizes),
      cmocka_unit_test(test_one_kernel),   cmocka_unit_test(test_failure),
      cmocka_unit_test(test_not_resident),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
