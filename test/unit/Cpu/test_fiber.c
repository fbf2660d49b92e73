/* test_fiber.c: switching of stacks, and permutations. Built twice: for the
 * host's own way of switching and for the portable one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fiber.h"
#include "random.h"

enum { STACK = 64 * 1024, FIBERS = 50, ROUNDS = 100 };

struct runner {
  void *sp, *home;
  unsigned char *stack;
  int number, n_rounds;
  double sum;
};

/* Values that live in registers across switches; vectors want their alignment.
 */
static void run(void *arg) {
  struct runner *r = arg;
  _Alignas(16) double pair[2] = {r->number, 0.5};
  assert_int_equal((uintptr_t)pair % 16, 0);
  int a = r->number, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5;
  for (int i = 0; i < ROUNDS; i++) {
    r->n_rounds++;
    pair[1] += pair[0] * i;
    pacc_fiber_switch(&r->sp, r->home);
    a += 1, b += 2, c += 3, d += 4, e += 5, f += 6;
  }
  int wanted = 6 * r->number + 15 + 21 * ROUNDS;
  r->sum = a + b + c + d + e + f == wanted ? pair[1] : -1;
  r->n_rounds++;
  pacc_fiber_switch(&r->sp, r->home);
}

static void test_turns(void **state) {
  (void)state;
  static struct runner runners[FIBERS];
  for (int i = 0; i < FIBERS; i++) {
    struct runner *r = &runners[i];
    r->number = i;
    r->stack = aligned_alloc(64, STACK);
    r->sp = pacc_fiber_make(r->stack + STACK, run, r);
  }
  for (int round = 0; round <= ROUNDS; round++)
    for (int i = 0; i < FIBERS; i++) {
      struct runner *r = &runners[(i * 7 + round) % FIBERS];
      assert_int_equal(r->n_rounds, round);
      pacc_fiber_switch(&r->home, r->sp);
    }
  for (int i = 0; i < FIBERS; i++) {
    assert_int_equal(runners[i].n_rounds, ROUNDS + 1);
    assert_true(runners[i].sum == 0.5 + i * (ROUNDS * (ROUNDS - 1) / 2));
    free(runners[i].stack);
  }
}

/* A fiber that is left for good, and its stack taken for another. */
static void test_forgotten(void **state) {
  (void)state;
  unsigned char *stack = aligned_alloc(64, STACK);
  for (int i = 0; i < 3; i++) {
    struct runner r = {.number = i};
    r.sp = pacc_fiber_make(stack + STACK, run, &r);
    for (int k = 0; k < 5; k++)
      pacc_fiber_switch(&r.home, r.sp);
    assert_int_equal(r.n_rounds, 5);
  }
  free(stack);
}

static void test_permute(void **state) {
  (void)state;
  static const uint64_t sizes[] = {1, 2, 3, 4, 5, 16, 17, 1000, 4096, 4097};
  for (int s = 0; s < 10; s++)
    for (uint64_t seed = 1; seed < 4; seed++) {
      uint64_t n = sizes[s], in_place = 0;
      unsigned char *seen = calloc(n, 1);
      for (uint64_t i = 0; i < n; i++) {
        uint64_t k = pacc_permute(i, n, seed);
        assert_true(k < n && !seen[k]);
        seen[k] = 1;
        in_place += k == i;
      }
      assert_true(n < 1000 || in_place < n / 50);
      free(seen);
    }
}

static void test_shuffle(void **state) {
  (void)state;
  uint64_t values[100], seen = 0, random = 5, in_place = 0;
  for (uint64_t i = 0; i < 100; i++)
    values[i] = i;
  pacc_shuffle(values, 100, &random);
  for (uint64_t i = 0; i < 100; i++) {
    assert_true(values[i] < 100);
    seen += values[i] * values[i];
    in_place += values[i] == i;
  }
  assert_int_equal(seen, 328350);
  assert_true(in_place < 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_turns),
      cmocka_unit_test(test_forgotten),
      cmocka_unit_test(test_permute),
      cmocka_unit_test(test_shuffle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
