/* test_reduction.c: updates whose order does not matter. */
#include "analysis.h"
#include "region.h"
#include "support.h"

#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

/* s = 0; for i: s += A[i]; out = s; */
#define SUM                                                                    \
  "schedule: { domain: \"[n] -> { Z[]; U[i] : 0 <= i < n; R[] }\", child: { "  \
  "sequence: [ { filter: \"{ Z[] }\" }, { filter: \"{ U[i] }\", child: { "     \
  "schedule: \"[{ U[i] -> [i] }]\" } }, { filter: \"{ R[] }\" } ] } }\n"       \
  "context: [n] -> { : n >= 1 }\n"                                             \
  "read: { U[i] -> A[i]; U[i] -> s[0]; R[] -> s[0] }\n"                        \
  "must_write: { Z[] -> s[0]; U[i] -> s[0]; R[] -> out[0] }\n"

/* for i, j: row[i] += A[i][j]; */
#define ROWS                                                                   \
  "schedule: { domain: \"[n] -> { U[i, j] : 0 <= i, j < n }\", child: { "      \
  "schedule: \"[{ U[i, j] -> [i] }, { U[i, j] -> [j] }]\" } }\n"               \
  "read: { U[i, j] -> A[i, j]; U[i, j] -> row[i] }\n"                          \
  "must_write: { U[i, j] -> row[i] }\n"

/* for i, j: column[j] += A[i][j]; */
#define COLUMNS                                                                \
  "schedule: { domain: \"[n] -> { U[i, j] : 0 <= i, j < n }\", child: { "      \
  "schedule: \"[{ U[i, j] -> [i] }, { U[i, j] -> [j] }]\" } }\n"               \
  "read: { U[i, j] -> A[i, j]; U[i, j] -> column[j] }\n"                       \
  "must_write: { U[i, j] -> column[j] }\n"

struct region {
  isl_ctx *ctx;
  struct analysis analysis;
};

static struct region open_region(const char *text) {
  struct region region = {.ctx = context_open()};
  struct pacc_scop scop;
  assert_null(region_parse(&scop, region.ctx, text));
  assert_true(analyse(&region.analysis, &scop));
  return region;
}

static void close_region(struct region *region) {
  analysis_clear(&region->analysis);
  context_close(region->ctx, "a region with updates");
}

/* Are the pairs, for n = 9, those of the text? */
static void assert_relation(struct region *region,
                            __isl_keep isl_union_map *pairs,
                            const char *expected) {
  isl_set *nine = isl_set_read_from_str(region->ctx, "[n] -> { : n = 9 }");
  isl_union_map *left =
      isl_union_map_intersect_params(isl_union_map_copy(pairs), nine);
  isl_union_map *right = isl_union_map_intersect_params(
      isl_union_map_read_from_str(region->ctx, expected),
      isl_set_read_from_str(region->ctx, "[n] -> { : n = 9 }"));
  assert_int_equal(isl_union_map_is_equal(left, right), isl_bool_true);
  isl_union_map_free(left);
  isl_union_map_free(right);
}

static void test_order(void **state) {
  (void)state;
  struct region region = open_region(SUM "reduce: { U[i] -> s[0] }\n");
  const struct pacc_dependences *deps = &region.analysis.deps;
  assert_relation(&region, deps->order,
                  "[n] -> { Z[] -> U[i] : 0 <= i < n; U[i] -> R[] : 0 <= i < n;"
                  " Z[] -> R[] }");
  assert_relation(&region, deps->exposed,
                  "[n] -> { U[i] -> A[i] : 0 <= i < n }");
  close_region(&region);

  region = open_region(SUM);
  assert_relation(&region, region.analysis.deps.order,
                  "[n] -> { Z[] -> U[0]; U[i] -> U[i + 1] : 0 <= i < n - 1;"
                  " U[n - 1] -> R[] }");
  close_region(&region);
}

/* The kernels that execute a part of `statements` along a grid. */
static const struct pacc_kernel_plan *find(const struct region *region,
                                           const char *statements) {
  const struct pacc_mapping *mapping = region->analysis.mapping;
  for (unsigned k = 0; k < mapping->n_kernels; ++k) {
    isl_union_set *part = isl_union_set_intersect(
        isl_union_set_copy(mapping->kernels[k].domain),
        isl_union_set_read_from_str(region->ctx, statements));
    bool found = isl_union_set_is_empty(part) == isl_bool_false;
    isl_union_set_free(part);
    if (found && mapping->kernels[k].n_dims > 0)
      return &mapping->kernels[k];
  }
  fail_msg("no grid executes %s", statements);
  return NULL;
}

static void assert_shared(struct region *region, const char *statements,
                          const char *expected, const char *expected_rows) {
  const struct pacc_kernel_plan *kernel = find(region, statements);
  isl_union_map *shared =
      pacc_kernel_shared_updates(kernel, &region->analysis.scop);
  isl_union_map *rows = pacc_kernel_row_updates(kernel, shared);
  assert_relation(region, shared, expected);
  assert_relation(region, rows, expected_rows);
  isl_union_map_free(shared);
  isl_union_map_free(rows);
}

static void test_shared(void **state) {
  (void)state;
  struct region region = open_region(SUM "reduce: { U[i] -> s[0] }\n");
  assert_shared(&region, "{ U[i] }", "[n] -> { U[i] -> s[0] : 0 <= i < n }",
                "[n] -> { U[i] -> s[0] : 0 <= i < n }");
  close_region(&region);
  region = open_region(ROWS "reduce: { U[i, j] -> row[i] }\n");
  assert_shared(&region, "{ U[i, j] }",
                "[n] -> { U[i, j] -> row[i] : 0 <= i, j < n }",
                "[n] -> { U[i, j] -> row[i] : 0 <= i, j < n }");
  close_region(&region);
  /* Neighbours along x have columns of their own. */
  region = open_region(COLUMNS "reduce: { U[i, j] -> column[j] }\n");
  assert_shared(&region, "{ U[i, j] }",
                "[n] -> { U[i, j] -> column[j] : 0 <= i, j < n }", "{ }");
  close_region(&region);
  /* One thread per row has its element for itself. */
  region = open_region(ROWS);
  region.analysis.scop.reduce = isl_union_map_free(region.analysis.scop.reduce);
  region.analysis.scop.reduce = isl_union_map_read_from_str(
      region.ctx, "[n] -> { U[i, j] -> row[i] : 0 <= i, j < n }");
  assert_shared(&region, "{ U[i, j] }", "{ }", "{ }");
  close_region(&region);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_shared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
