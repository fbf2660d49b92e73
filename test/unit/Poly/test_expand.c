/* test_expand.c: which arrays get copies for the iterations of loops, and what
 * that is worth. That the copies are right is checked for random regions. */
#include "analysis.h"
#include "region.h"
#include "support.h"
#include "trace.h"

#include <isl/aff.h>
#include <isl/space.h>
#include <stdlib.h>
#include <string.h>

/* for r < n, for q < n: { W: t[..] = A[r][q][..] over p; R: A[r][q][p] = t[p] }
 * with subscripts as the test likes them. */
#define TWO_LOOPS                                                              \
  "schedule: { domain: \"[n] -> { W[r, q, p] : 0 <= r, q, p < n; R[r, q, p] "  \
  ": 0 <= r, q, p < n }\", child: { schedule: \"[n] -> [{ W[r, q, p] -> [r]; " \
  "R[r, q, p] -> [r] }, { W[r, q, p] -> [q]; R[r, q, p] -> [q] }]\", child: "  \
  "{ sequence: [ { filter: \"[n] -> { W[r, q, p] }\", child: { schedule: "     \
  "\"[n] -> [{ W[r, q, p] -> [p] }]\" } }, { filter: \"[n] -> { R[r, q, p] "   \
  "}\", child: { schedule: \"[n] -> [{ R[r, q, p] -> [p] }]\" } } ] } } }\n"

static const struct {
  const char *what;
  const char *text;
  int loops; /* that t has copies for; 0: it has none */
} cases[] = {
    {"a work array",
     TWO_LOOPS
     "read: [n] -> { W[r, q, p] -> A[r, q, p]; R[r, q, p] -> t[p] }\n"
     "must_write: [n] -> { W[r, q, p] -> t[p]; R[r, q, p] -> A[r, q, p] }\n",
     2},
    {"each element of one r alone",
     TWO_LOOPS
     "read: [n] -> { W[r, q, p] -> A[r, q, p]; R[r, q, p] -> t[r, p] }\n"
     "must_write: [n] -> { W[r, q, p] -> t[r, p]; R[r, q, p] -> A[r, q, p] "
     "}\n",
     1},
    {"no element of two iterations",
     TWO_LOOPS
     "read: [n] -> { W[r, q, p] -> A[r, q, p]; R[r, q, p] -> t[r, q, p] }\n"
     "must_write: [n] -> { W[r, q, p] -> t[r, q, p]; R[r, q, p] -> A[r, q, "
     "p] }\n",
     0},
    {"a value from before",
     TWO_LOOPS
     "read: [n] -> { W[r, q, p] -> A[r, q, p]; R[r, q, p] -> t[p + 1] }\n"
     "must_write: [n] -> { W[r, q, p] -> t[p]; R[r, q, p] -> A[r, q, p] }\n",
     0},
    {"a value of the iteration before",
     TWO_LOOPS "read: [n] -> { W[r, q, p] -> t[p]; R[r, q, p] -> t[p] }\n"
               "must_write: [n] -> { W[r, q, p] -> t[p] : r > 0 or q > 0; "
               "R[r, q, p] -> A[r, q, p] }\n",
     0},
    {"a write that may not happen",
     TWO_LOOPS
     "read: [n] -> { W[r, q, p] -> A[r, q, p]; R[r, q, p] -> t[p] }\n"
     "may_write: [n] -> { W[r, q, p] -> t[p]; R[r, q, p] -> A[r, q, p] }\n"
     "must_write: [n] -> { R[r, q, p] -> A[r, q, p] }\n",
     0},
    {"less and less of the array",
     TWO_LOOPS
     "read: [n] -> { W[r, q, p] -> A[r, q, p]; R[r, q, p] -> t[p] : p < n - "
     "r }\n"
     "must_write: [n] -> { W[r, q, p] -> t[p] : p < n - r; R[r, q, p] -> "
     "A[r, q, p] }\n",
     0},
    {"more and more of the array",
     TWO_LOOPS
     "read: [n] -> { W[r, q, p] -> A[r, q, p]; R[r, q, p] -> t[p] : p <= r "
     "}\n"
     "must_write: [n] -> { W[r, q, p] -> t[p] : p <= r; R[r, q, p] -> A[r, "
     "q, p] }\n",
     2},
    {"more memory than all else has",
     TWO_LOOPS
     "read: [n] -> { W[r, q, p] -> A[r, q]; R[r, q, p] -> t[p] }\n"
     "must_write: [n] -> { W[r, q, p] -> t[p]; R[r, q, p] -> B[p] }\n",
     0},
};

static int loops_of_t(const struct pacc_expansions *list) {
  for (unsigned i = 0; i < list->n; ++i) {
    const char *name = isl_space_get_tuple_name(list->at[i].array, isl_dim_set);
    if (!strcmp(name, "t"))
      return isl_pw_aff_list_n_pw_aff(list->at[i].counts);
  }
  return 0;
}

static void test_conditions(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    isl_ctx *ctx = context_open();
    struct pacc_scop scop;
    assert_null(region_parse(&scop, ctx, cases[i].text));
    struct pacc_expansions list;
    assert_int_equal(pacc_expansions_find(&list, &scop), 0);
    if (loops_of_t(&list) != cases[i].loops)
      fail_msg("%s: copies for %d loops", cases[i].what, loops_of_t(&list));
    pacc_expansions_clear(&list);
    pacc_scop_clear(&scop);
    context_close(ctx, cases[i].what);
    check_region(cases[i].what, cases[i].text, 0, i, NULL);
  }
}

/* doitgen needs as few launches for any size. */
static void test_doitgen(void **state) {
  (void)state;
  char *text = region_file(PACC_TEST_REGIONS "/polybench-doitgen.region");
  isl_ctx *ctx = context_open();
  struct pacc_scop scop;
  assert_null(region_parse(&scop, ctx, text));
  free(text);
  struct analysis analysis;
  assert_true(analyse_with_copies(&analysis, &scop));
  assert_int_equal(analysis.expansions.n, 1);
  for (int n = 2; n < 6; ++n) {
    struct values values = values_of(&analysis.scop);
    for (int i = 0; i < values.n; ++i)
      values.value[i] = n;
    struct trace *trace = must(trace_of(&analysis.changed, &values, 2000));
    assert_true(trace_map(trace, analysis.mapping, &values));
    assert_in_range(trace_launches(trace), 1, 3);
    trace_free(trace);
  }
  analysis_clear(&analysis);
  context_close(ctx, "doitgen");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_doitgen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
