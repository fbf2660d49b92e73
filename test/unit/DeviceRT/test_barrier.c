/* test_barrier.c: the barrier over a grid on the emulated GPU, whose threads
 * go on in any order at each access of the barrier's word. */
#include "device.h"
#include "emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A batch's function may take records from it; no launch is made here. */
struct pacc_pool __pacc_dev_pool;

enum { BLOCKS_MOST = 7, THREADS = 5, ROUNDS = 6 };

static uint32_t word;
static uint32_t came[BLOCKS_MOST * THREADS]; /* rounds so far */
static uint32_t early;                       /* threads that did not wait */

static void rounds(const void *parameters) {
  (void)parameters;
  uint32_t blocks = emu_grid_size().x;
  uint32_t *own = &came[emu_block().x * THREADS + emu_thread().x];
  for (uint32_t round = 1; round <= ROUNDS; ++round) {
    *own = round;
    __pacc_dev_grid_barrier(&word, 1);
    for (uint32_t i = 0; i < blocks * THREADS; ++i)
      early += came[i] < round;
    /* Nobody is a round ahead, either. */
    for (uint32_t i = 0; i < blocks * THREADS; ++i)
      early += came[i] > round;
    __pacc_dev_grid_barrier(&word, 1);
    __pacc_dev_grid_barrier(&word, 0);
  }
}

static void run(uint64_t seed, uint32_t blocks) {
  struct emu_options options = {.seed = seed, .resident = BLOCKS_MOST};
  memset(came, 0, sizeof came);
  early = 0;
  emu_run(&options, rounds, "", 1, (struct emu_dim3){blocks, 1, 1},
          (struct emu_dim3){THREADS, 1, 1});
  assert_int_equal(early, 0);
  /* Fit for the next kernel. */
  assert_int_equal(word & 0x7fffffffu, 0);
}

static void test_all_wait_for_all(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; ++seed)
    for (uint32_t blocks = 1; blocks <= BLOCKS_MOST; ++blocks)
      run(seed, blocks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_wait_for_all),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
