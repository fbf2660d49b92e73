/* test_checker.c: the reader and the checks themselves: they must complain of
 * what is wrong.
 */
#include "analysis.h"
#include "check.h"
#include "region.h"
#include "support.h"
#include "trace.h"

#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pacc_scop read_region(isl_ctx *ctx, const char *name) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s.region", PACC_TEST_REGIONS, name);
  char *text = region_file(path);
  struct pacc_scop scop;
  assert_null(region_parse(&scop, ctx, text));
  free(text);
  return scop;
}

/* An analysis whose mapping was made with wrong dependences. */
static struct analysis misled(isl_ctx *ctx, const char *name,
                              void (*forget)(struct pacc_dependences *)) {
  struct analysis analysis = {.scop = read_region(ctx, name)};
  assert_int_equal(pacc_dependences_compute(&analysis.deps, &analysis.scop), 0);
  forget(&analysis.deps);
  analysis.mapping = must(pacc_mapping_compute(&analysis.scop, &analysis.deps));
  return analysis;
}

static void assert_found(isl_ctx *ctx, struct analysis *analysis,
                         const char *text) {
  const char *problem = analysis_check(analysis, 1, NULL);
  assert_non_null(problem);
  if (!strstr(problem, text))
    fail_msg("not '%s' but: %s", text, problem);
  analysis_clear(analysis);
  context_close(ctx, text);
}

static isl_union_map *nothing(__isl_take isl_union_map *map) {
  isl_space *space = isl_union_map_get_space(map);
  isl_union_map_free(map);
  return isl_union_map_empty(space);
}

static void forget_order(struct pacc_dependences *deps) {
  deps->order = nothing(deps->order);
  deps->parallel = nothing(deps->parallel);
}

static void forget_exposed(struct pacc_dependences *deps) {
  deps->exposed = nothing(deps->exposed);
}

static void test_wrong_order(void **state) {
  (void)state;
  static const char *const names[] = {"seidel-2d", "floyd-warshall", "trisolv",
                                      "lu", "jacobi-2d"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    isl_ctx *ctx = context_open();
    struct analysis analysis = misled(ctx, names[i], forget_order);
    assert_found(ctx, &analysis, "must precede");
  }
}

static void test_scalar_lost(void **state) {
  (void)state;
  isl_ctx *ctx = context_open();
  struct analysis analysis = misled(ctx, "recurrence", forget_order);
  assert_found(ctx, &analysis, "reads a scalar of");
}

static void test_copy_missing(void **state) {
  (void)state;
  isl_ctx *ctx = context_open();
  struct analysis analysis = misled(ctx, "gemm", forget_exposed);
  assert_found(ctx, &analysis, "is read first and not in 'in'");
}

/* The plan of an array after something was done to it. */
static const char *check_spoilt(const char *array, unsigned dims,
                                void (*spoil)(struct pacc_array_plan *),
                                bool by_execution) {
  isl_ctx *ctx = context_open();
  struct pacc_scop scop = read_region(ctx, "jacobi-2d");
  struct analysis analysis;
  assert_true(analyse(&analysis, &scop));
  struct pacc_array_plan plan;
  isl_space *space = isl_space_set_tuple_name(isl_space_set_alloc(ctx, 0, dims),
                                              isl_dim_set, array);
  assert_int_equal(pacc_array_plan_compute(&plan, &analysis.scop,
                                           &analysis.deps,
                                           isl_space_copy(space)),
                   0);
  spoil(&plan);
  struct values values = {2, {"steps", "n"}, {2, 5}};
  struct trace *trace = must(trace_of(&analysis.scop, &values, 1000));
  assert_true(trace_map(trace, analysis.mapping, &values));
  struct device_array device = {&plan, space, NULL};
  const char *problem =
      by_execution ? check_execution(trace, trace, &device, 1, &values, 1)
                   : check_array(trace, &plan, space, &values);
  trace_free(trace);
  isl_space_free(space);
  pacc_array_plan_clear(&plan);
  analysis_clear(&analysis);
  context_close(ctx, "a spoilt plan");
  return problem;
}

static void keep(struct pacc_array_plan *plan) { (void)plan; }

static void no_out(struct pacc_array_plan *plan) { plan->has_out = false; }

static void no_in(struct pacc_array_plan *plan) { plan->has_in = false; }

static void shrink(struct pacc_array_plan *plan) {
  isl_pw_multi_aff_free(plan->touched.last);
  plan->touched.last = isl_pw_multi_aff_copy(plan->touched.first);
}

static void test_spoilt_plans(void **state) {
  (void)state;
  assert_null(check_spoilt("A", 2, keep, false));
  assert_non_null(check_spoilt("A", 2, no_out, false));
  assert_non_null(check_spoilt("A", 2, no_in, false));
  assert_non_null(check_spoilt("A", 2, shrink, false));
  /* With no other array, B's values are lost: A's differ in any case. */
  assert_non_null(check_spoilt("A", 2, no_out, true));
}

/*===-- The reader --------------------------------------------------------===*/

static void assert_rejected(const char *text, const char *because) {
  isl_ctx *ctx = context_open();
  struct pacc_scop scop;
  const char *problem = region_parse(&scop, ctx, text);
  assert_non_null(problem);
  if (!strstr(problem, because))
    fail_msg("not '%s' but: %s", because, problem);
  assert_null(scop.schedule);
  context_close(ctx, because);
}

#define ONE "schedule: { domain: \"{ S[i] : 0 <= i < 3 }\" }\n"

static void test_reader(void **state) {
  (void)state;
  assert_rejected("", "there is no schedule");
  assert_rejected("read: { S[i] -> A[i] }\n", "there is no schedule");
  assert_rejected(ONE "reads: { }\n", "line 2: not one of the keys");
  assert_rejected(ONE ONE, "line 2: a second time");
  assert_rejected("  { }\n" ONE, "belongs to no key");
  assert_rejected(ONE "must_write: { S[i] -> A[i] }\nmay_write: { }\n",
                  "no subset");
  assert_rejected(ONE "read: { S[i] -> \n", "");

  isl_ctx *ctx = context_open();
  struct pacc_scop scop;
  assert_null(region_parse(&scop, ctx,
                           "# a comment\n" ONE "\nread: { S[i] ->\n"
                           "  A[i, j] : 0 <= j < 2 }\nmust_write: "
                           "{ S[i] -> B[i] }\n"));
  struct values none = values_of(&scop);
  struct trace *trace = must(trace_of(&scop, &none, 10));
  assert_int_equal(trace->n_instances, 3);
  assert_int_equal(trace->n_elements, 6 + 3);
  assert_int_equal(trace->access[ACCESS_READ].n, 6);
  assert_int_equal(trace->access[ACCESS_MAY_WRITE].n, 3);
  trace_free(trace);
  assert_null(trace_of(&scop, &none, 2));
  pacc_scop_clear(&scop);
  context_close(ctx, "a region");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrong_order),  cmocka_unit_test(test_scalar_lost),
      cmocka_unit_test(test_copy_missing), cmocka_unit_test(test_spoilt_plans),
      cmocka_unit_test(test_reader),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
