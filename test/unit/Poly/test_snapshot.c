/* test_snapshot.c: which loops get values from before them, and what that is
 * worth. That the copies are right is checked for random regions. */
#include "analysis.h"
#include "region.h"
#include "support.h"
#include "trace.h"

#include <isl/map.h>
#include <stdlib.h>

/* for i < n: S, within for t < n. */
#define ONE_LOOP                                                               \
  "schedule: { domain: \"[n] -> { S[i] : 0 <= i < n }\", child: { schedule: "  \
  "\"[n] -> [{ S[i] -> [i] }]\" } }\n"
#define TWO_LOOPS                                                              \
  "schedule: { domain: \"[n] -> { S[t, i] : 0 <= t, i < n }\", child: { "      \
  "schedule: \"[n] -> [{ S[t, i] -> [t] }]\", child: { schedule: \"[n] -> [{ " \
  "S[t, i] -> [i] }]\" } } }\n"

static const struct {
  const char *what;
  const char *text;
  int copies, dims; /* dimensions of the first one */
} cases[] = {
    {"ahead",
     ONE_LOOP "read: { S[i] -> a[i + 1] }\nmust_write: { S[i] -> a[i] }\n", 1,
     1},
    {"twice ahead, in one copy",
     ONE_LOOP "read: { S[i] -> a[i + 1]; S[i] -> a[i + 3] }\n"
              "must_write: { S[i] -> a[i] }\n",
     1, 1},
    {"what the instance writes itself",
     ONE_LOOP "read: { S[i] -> a[i] }\nmust_write: { S[i] -> a[i] }\n", 0, 0},
    {"behind",
     ONE_LOOP "read: { S[i] -> a[i - 1] }\nmust_write: { S[i] -> a[i] }\n", 0,
     0},
    {"nothing that is overwritten",
     ONE_LOOP
     "read: [n] -> { S[i] -> a[n + i] }\nmust_write: { S[i] -> a[i] }\n",
     0, 0},
    {"old values for some, new ones for others",
     ONE_LOOP "read: { S[i] -> a[5] }\nmust_write: { S[i] -> a[i] }\n", 1, 1},
    {"what may have been written",
     ONE_LOOP
     "read: { S[i] -> a[5] }\nmay_write: [n] -> { S[i] -> a[j] : 0 <= j < n }\n"
     "must_write: { }\n",
     0, 0},
    {"updates in any order",
     ONE_LOOP "read: { S[i] -> a[i + 1] }\nmust_write: { S[i] -> a[i + 1] }\n"
              "reduce: { S[i] -> a[i + 1] }\n",
     0, 0},
    {"in each time step",
     TWO_LOOPS
     "read: { S[t, i] -> a[i + 1] }\nmust_write: { S[t, i] -> a[i] }\n",
     1, 1},
};

static void test_conditions(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    isl_ctx *ctx = context_open();
    struct pacc_scop scop;
    assert_null(region_parse(&scop, ctx, cases[i].text));
    struct analysis analysis;
    analyse_with_snapshots(&analysis, &scop, 0);
    const struct pacc_snapshots *list = &analysis.snapshots;
    if ((int)list->n != cases[i].copies)
      fail_msg("%s: %u copies", cases[i].what, list->n);
    if (list->n && (int)list->at[0].n_kept != cases[i].dims)
      fail_msg("%s: %u dimensions", cases[i].what, list->at[0].n_kept);
    analysis_clear(&analysis);
    context_close(ctx, cases[i].what);
    check_region(cases[i].what, cases[i].text, 0, 0, NULL);
  }
}

/* Launches of a region with n = 6, with `copies` of values. */
static int launches_of(const char *name, unsigned copies) {
  char *text = region_file(name);
  isl_ctx *ctx = context_open();
  struct pacc_scop scop;
  assert_null(region_parse(&scop, ctx, text));
  free(text);
  struct analysis analysis;
  assert_true(analyse_with_snapshots(&analysis, &scop, 0));
  assert_int_equal(analysis.snapshots.n, copies);
  struct values values = values_of(&analysis.scop);
  for (int i = 0; i < values.n; ++i)
    values.value[i] = 6;
  struct trace *trace = must(trace_of(&analysis.changed, &values, 4000));
  assert_true(trace_map(trace, analysis.mapping, &values));
  int launches = trace_launches(trace);
  trace_free(trace);
  analysis_clear(&analysis);
  context_close(ctx, name);
  return launches;
}

static void test_launches(void **state) {
  (void)state;
  assert_in_range(
      launches_of(PACC_TEST_REGIONS "/polybench-floyd-warshall.region", 2), 6,
      4 * 6);
  assert_in_range(launches_of(PACC_TEST_REGIONS "/polybench-trmm.region", 1), 2,
                  3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_launches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
