/* test_regions.c: the mappings of the regions in files, checked by listing
 * points.
 *
 *   test_regions [FILE...]   default: all of regions/
 */
#include "analysis.h"
#include "region.h"
#include "support.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

static glob_t files;

/* One test each, so that all failures are listed. */
static void test_region(void **state) {
  const char *path = *state;
  char *text = region_file(path);
  struct region_findings found;
  int grids = check_region(path, text, 0, 0, &found);
  free(text);
  print_message("%s: %d kernels with a grid, %d arrays with copies, %d copies "
                "of values from before loops, %d kernels with tiles\n",
                path, grids, found.copies, found.snapshots, found.tiles);
}

int main(int argc, char **argv) {
  if (argc == 1 && glob(PACC_TEST_REGIONS "/*.region", 0, NULL, &files))
    return 1;
  size_t n = argc > 1 ? (size_t)argc - 1 : files.gl_pathc;
  char **path = argc > 1 ? argv + 1 : files.gl_pathv;
  struct CMUnitTest *tests = calloc(n, sizeof(*tests));
  for (size_t i = 0; tests && i < n; ++i)
    tests[i] = (struct CMUnitTest){path[i], test_region, NULL, NULL, path[i]};
  int result =
      tests ? _cmocka_run_group_tests("regions", tests, n, NULL, NULL) : 1;
  free(tests);
  globfree(&files);
  return result;
}
