/* test_schedule.c: isl's scheduler on dependences with large numbers. */
#include "pacc/poly.h"
#include "support.h"

#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

/* Is there a schedule, found with so many isl operations, that puts the source
 * of each dependence first? */
static void check(const char *domain, const char *order, const char *context,
                  unsigned long operations) {
  isl_ctx *ctx = context_open();
  isl_union_set *instances = isl_union_set_read_from_str(ctx, domain);
  isl_union_map *deps = isl_union_map_read_from_str(ctx, order);
  isl_set *parameters = isl_set_read_from_str(ctx, context);
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(ctx, operations);
  isl_schedule *schedule =
      must(pacc_schedule_compute(instances, deps, deps, parameters));
  isl_ctx_set_max_operations(ctx, 0);
  isl_union_map *time = isl_schedule_get_map(schedule);
  isl_union_map *later =
      isl_union_map_lex_lt_union_map(isl_union_map_copy(time), time);
  assert_int_equal(isl_union_map_is_subset(deps, later), isl_bool_true);
  isl_union_map_free(later);
  isl_schedule_free(schedule);
  isl_set_free(parameters);
  isl_union_map_free(deps);
  context_close(ctx, "a schedule");
}

/* Without a distance at all there would be no schedule. */
static void test_distance(void **state) {
  (void)state;
  check("[n] -> { S[i] : 0 <= i < n }",
        "[n] -> { S[i] -> S[j] : 0 <= i and i + 1000 <= j < n }",
        "[n] -> { : n <= 2147483647 }", 20000);
}

/* The best order of merging, for arrays of 500 elements: with the numbers in
 * the dependences this takes minutes, for 20,000 operations. */
static void test_bounds(void **state) {
  (void)state;
  check("[n, m] -> { Init[r, i, j] : 0 <= r < m and 0 <= i < n and 0 <= j < n;"
        " First[r, i, j] : 0 <= r < m and 0 <= i and 0 <= j <= n - 2 - i;"
        " Add[r, i, j, k] : 0 <= r < m and 0 <= i and j <= n - 2 - i and "
        "   0 <= k < j;"
        " Best[r, i, j] : 0 <= r < m and 0 <= i and 0 <= j <= n - 2 - i;"
        " Sum[r] : 0 <= r < m; Out[] : m > 0 }",
        "[n, m] -> {"
        " Best[r, 0, n - 2] -> Sum[r] : 2 <= n <= 500 and m <= 2147483647 and "
        "   0 <= r < m;"
        " Sum[r] -> Sum[1 + r] : 0 <= r <= m - 2;"
        " First[r, i, j] -> Add[r, i, j, 0] : n <= 500 and m <= 2147483647 and "
        "   0 <= r < m and 0 <= i and 0 < j <= n - 2 - i;"
        " Init[r, i, j] -> Add[r, a, j - 1 - a, i - 1 - a] : n <= 500 and "
        "   m <= 2147483647 and 0 <= r < m and i < j < n and 0 <= a < i;"
        " Init[r, i, j] -> Best[r, i, j - 1 - i] : n <= 500 and "
        "   m <= 2147483647 and 0 <= r < m and 0 <= i < j < n;"
        " Init[r, 0, 0] -> Sum[r] : n = 1 and m <= 2147483647 and 0 <= r < m;"
        " Add[r, i, j, k] -> Best[r, 1 + i + k, j - 1 - k] : n <= 500 and "
        "   m <= 2147483647 and 0 <= r < m and 0 <= i and j <= n - 2 - i and "
        "   0 <= k < j;"
        " Add[r, i, j, j - 1] -> Best[r, i, j] : n <= 500 and "
        "   m <= 2147483647 and 0 <= r < m and 0 <= i and 0 < j <= n - 2 - i;"
        " First[r, i, 0] -> Best[r, i, 0] : n <= 500 and m <= 2147483647 and "
        "   0 <= r < m and 0 <= i <= n - 2;"
        " Best[r, i, j] -> Add[r, i, a, j] : n <= 500 and m <= 2147483647 and "
        "   0 <= r < m and 0 <= i and 0 <= j < a <= n - 2 - i;"
        " Add[r, i, j, k] -> Add[r, i, j, 1 + k] : n <= 500 and "
        "   m <= 2147483647 and 0 <= r < m and 0 <= i and j <= n - 2 - i and "
        "   0 <= k <= j - 2;"
        " Sum[m - 1] -> Out[] : m > 0 }",
        "[n, m] -> { : 0 < n <= 500 and -2147483648 <= m <= 2147483647 }",
        100000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distance),
      cmocka_unit_test(test_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
