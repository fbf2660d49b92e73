/* test_quota.c: when isl runs out of operations, at whatever point, the
 * analyses say that they failed or are right, and leave nothing behind.
 */
#include "analysis.h"
#include "random_region.h"
#include "region.h"
#include "support.h"

#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* isl forgets a few of its own small blocks when it runs out of operations.
 * Objects that we don't free are found all the same: its context counts them,
 * and context_close complains. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:isl_malloc_or_die\n";
}

/* What the analyses give without a limit. The mapping is one before crossing
 * scalars are moved to memory. */
struct full {
  const char *name;
  isl_ctx *ctx;
  struct pacc_scop scop;
  struct pacc_dependences deps;
  struct pacc_mapping *mapping;
  isl_union_set *crossing;
  isl_set_list *arrays;
};

static void full_open(struct full *full, const char *name, const char *text) {
  *full = (struct full){.name = name, .ctx = context_open()};
  assert_null(region_parse(&full->scop, full->ctx, text));
  assert_int_equal(pacc_dependences_compute(&full->deps, &full->scop), 0);
  full->mapping = must(pacc_mapping_compute(&full->scop, &full->deps));
  full->crossing = must(
      pacc_mapping_crossing_scalars(full->mapping, &full->scop, &full->deps));
  isl_union_set *elements = isl_union_map_range(
      isl_union_map_union(isl_union_map_copy(full->scop.read),
                          isl_union_map_copy(full->scop.may_write)));
  full->arrays = must(isl_union_set_get_set_list(elements));
  isl_union_set_free(elements);
}

static void full_close(struct full *full) {
  isl_set_list_free(full->arrays);
  isl_union_set_free(full->crossing);
  pacc_mapping_free(full->mapping);
  pacc_dependences_clear(&full->deps);
  pacc_scop_clear(&full->scop);
  context_close(full->ctx, full->name);
}

/*===-- Steps -------------------------------------------------------------===*/

/* One analysis under the limit that is set: `stop` takes the limit off before
 * its result is looked at. Returns whether it succeeded. */
typedef bool step_fn(struct full *full, int argument);

static bool out_of_quota;

static void stop(isl_ctx *ctx) {
  out_of_quota = isl_ctx_last_error(ctx) == isl_error_quota;
  isl_ctx_set_max_operations(ctx, 0);
  isl_ctx_reset_error(ctx);
}

static void assert_same(__isl_keep isl_union_map *a,
                        __isl_keep isl_union_map *b) {
  assert_int_equal(isl_union_map_is_equal(a, b), isl_bool_true);
}

static bool step_dependences(struct full *full, int argument) {
  (void)argument;
  struct pacc_dependences deps = {0};
  int status = pacc_dependences_compute(&deps, &full->scop);
  stop(full->ctx);
  if (status) {
    assert_null(deps.order);
    assert_null(deps.exposed);
    return false;
  }
  assert_same(deps.order, full->deps.order);
  assert_same(deps.parallel, full->deps.parallel);
  assert_same(deps.local_flow, full->deps.local_flow);
  assert_same(deps.exposed, full->deps.exposed);
  pacc_dependences_clear(&deps);
  return true;
}

static bool step_mapping(struct full *full, int argument) {
  (void)argument;
  struct pacc_mapping *mapping = pacc_mapping_compute(&full->scop, &full->deps);
  stop(full->ctx);
  if (!mapping)
    return false;
  /* It may be another one, as long as it is right. */
  isl_union_set *crossing =
      must(pacc_mapping_crossing_scalars(mapping, &full->scop, &full->deps));
  if (isl_union_set_is_empty(crossing) == isl_bool_true) {
    struct analysis analysis = {
        .scop = full->scop, .deps = full->deps, .mapping = mapping};
    const char *problem = analysis_check(&analysis, 1, NULL);
    if (problem)
      fail_msg("%s: %s", full->name, problem);
  }
  isl_union_set_free(crossing);
  pacc_mapping_free(mapping);
  return true;
}

static bool step_crossing(struct full *full, int argument) {
  (void)argument;
  isl_union_set *crossing =
      pacc_mapping_crossing_scalars(full->mapping, &full->scop, &full->deps);
  stop(full->ctx);
  if (!crossing)
    return false;
  assert_int_equal(isl_union_set_is_subset(full->crossing, crossing),
                   isl_bool_true);
  isl_union_set_free(crossing);
  return true;
}

static void assert_same_extent(const struct pacc_extent *a,
                               const struct pacc_extent *b) {
  assert_int_equal(a->box, b->box);
  assert_int_equal(isl_set_is_equal(a->when, b->when), isl_bool_true);
  assert_non_null(a->first);
  assert_non_null(a->last);
}

static isl_space *space_of(struct full *full, int array) {
  isl_set *elements = isl_set_list_get_set(full->arrays, array);
  isl_space *space = isl_set_get_space(elements);
  isl_set_free(elements);
  return space;
}

static bool step_array(struct full *full, int array) {
  isl_ctx *ctx = full->ctx;
  struct pacc_array_plan plan, right;
  isl_space *space = space_of(full, array);
  int status = pacc_array_plan_compute(&plan, &full->scop, &full->deps, space);
  stop(ctx);
  if (status)
    return false;
  assert_int_equal(pacc_array_plan_compute(&right, &full->scop, &full->deps,
                                           space_of(full, array)),
                   0);
  assert_int_equal(plan.has_in, right.has_in);
  assert_int_equal(plan.has_out, right.has_out);
  assert_same_extent(&plan.touched, &right.touched);
  if (plan.has_out)
    assert_same_extent(&plan.out, &right.out);
  if (plan.has_in)
    assert_non_null(plan.in.first);
  pacc_array_plan_clear(&plan);
  pacc_array_plan_clear(&right);
  return true;
}

static bool step_schedule(struct full *full, int argument) {
  (void)argument;
  isl_union_set *domain = isl_schedule_get_domain(full->scop.schedule);
  isl_schedule *schedule = pacc_schedule_compute(
      domain, full->deps.order, full->deps.parallel, full->scop.context);
  stop(full->ctx);
  isl_schedule_free(schedule);
  return schedule;
}

/* Fewer arrays than there are may be found, but none that can't have copies. */
static bool step_expansions(struct full *full, int n) {
  struct pacc_expansions list;
  int status = pacc_expansions_find(&list, &full->scop);
  stop(full->ctx);
  int found = (int)list.n;
  pacc_expansions_clear(&list);
  if (status || out_of_quota)
    assert_true(found <= n);
  else
    assert_int_equal(found, n);
  return !status;
}

/*===-- Limits ------------------------------------------------------------===*/

/* Limits 1, 2, ..., then growing by 1/dense, until the step needs no more. */
static int check_limits(struct full *full, step_fn *step, int argument,
                        unsigned long dense) {
  int failures = 0;
  for (unsigned long limit = 1; limit < 100000000; limit += 1 + limit / dense) {
    isl_ctx_reset_operations(full->ctx);
    isl_ctx_set_max_operations(full->ctx, limit);
    bool done = step(full, argument);
    if (!done && !out_of_quota)
      fail_msg("%s: failed for another reason", full->name);
    if (done && !out_of_quota)
      return failures;
    failures += !done;
  }
  fail_msg("%s: needs more than any number of operations", full->name);
  return 0;
}

static void check_text(const char *name, const char *text,
                       unsigned long density) {
  struct full full;
  full_open(&full, name, text);
  int failures = 0;
  failures += check_limits(&full, step_dependences, 0, 4 * density);
  failures += check_limits(&full, step_schedule, 0, density);
  failures += check_limits(&full, step_mapping, 0, density);
  failures += check_limits(&full, step_crossing, 0, 8 * density);
  struct pacc_expansions list;
  assert_int_equal(pacc_expansions_find(&list, &full.scop), 0);
  int n = (int)list.n;
  pacc_expansions_clear(&list);
  failures += check_limits(&full, step_expansions, n, density);
  for (int i = 0; i < isl_set_list_n_set(full.arrays); ++i)
    failures += check_limits(&full, step_array, i, 50 * density);
  /* Limits that stop nothing test nothing. */
  assert_true(failures > 20);
  full_close(&full);
}

/*===-- Regions -----------------------------------------------------------===*/

static void test_files(void **state) {
  (void)state;
  static const char *const names[] = {"gemm", "floyd-warshall", "seidel-2d",
                                      "symm-scalar"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.region", PACC_TEST_REGIONS, names[i]);
    char *text = region_file(path);
    check_text(names[i], text, 4);
    free(text);
  }
}

static void test_random(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    char name[40];
    snprintf(name, sizeof(name), "seed %d", (int)seed);
    char *text = random_region(seed);
    check_text(name, text, 2);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_random),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
