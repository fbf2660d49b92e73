/* test_random.c: the mappings of random regions, checked by listing points.
 *
 *   test_random [FIRST LAST]   seeds; default: what ctest runs
 */
#include "analysis.h"
#include "random_region.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

/* What few regions need more of; their time is better spent on others. */
enum { MAX_OPERATIONS = 500000 };

static uint64_t first_seed = 0, last_seed = RANDOM_REGIONS - 1;

static void test_random_regions(void **state) {
  (void)state;
  uint64_t with_grid = 0, with_copies = 0, with_tiles = 0;
  uint64_t with_snapshots = 0;
  for (uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    char name[40];
    snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
    char *text = random_region(seed);
    struct region_findings found;
    with_grid += check_region(name, text, MAX_OPERATIONS, seed, &found) > 0;
    with_copies += found.copies > 0;
    with_snapshots += found.snapshots > 0;
    with_tiles += found.tiles > 0;
    free(text);
  }
  uint64_t all = last_seed - first_seed + 1;
  print_message("of %llu regions %llu have a kernel with a grid, %llu "
                "arrays with copies, %llu values from before loops, and %llu "
                "threads with tiles\n",
                (unsigned long long)all, (unsigned long long)with_grid,
                (unsigned long long)with_copies,
                (unsigned long long)with_snapshots,
                (unsigned long long)with_tiles);
  /* A checker that is shown nothing finds nothing. */
  assert_true(all < 100 || 2 * with_grid > all);
  assert_true(all < 100 || with_tiles > 0);
  assert_true(all < 100 || with_snapshots > 0);
}

int main(int argc, char **argv) {
  if (argc == 3) {
    first_seed = strtoull(argv[1], NULL, 10);
    last_seed = strtoull(argv[2], NULL, 10);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_regions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
