/* test_known.c: regions whose best mapping is known. */
#include "analysis.h"
#include "poly_private.h"
#include "region.h"
#include "support.h"
#include "trace.h"

#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A region of a file, analysed, and its trace at one value of all parameters.
 */
struct known {
  isl_ctx *ctx;
  struct analysis analysis;
  struct trace *trace;
};

static void trace_at(struct known *known, long value) {
  trace_free(known->trace);
  struct values values = values_of(&known->analysis.scop);
  for (int i = 0; i < values.n; ++i)
    values.value[i] = value;
  known->trace = must(trace_of(&known->analysis.scop, &values, 20000));
  assert_true(trace_map(known->trace, known->analysis.mapping, &values));
}

static isl_ctx *analyse_file(struct analysis *analysis, const char *name) {
  isl_ctx *ctx = context_open();
  char path[512];
  snprintf(path, sizeof(path), "%s/%s.region", PACC_TEST_REGIONS, name);
  char *text = region_file(path);
  struct pacc_scop scop;
  assert_null(region_parse(&scop, ctx, text));
  free(text);
  assert_true(analyse(analysis, &scop));
  return ctx;
}

static struct known known_open(const char *name) {
  struct known known = {0};
  known.ctx = analyse_file(&known.analysis, name);
  trace_at(&known, 6);
  return known;
}

static void known_close(struct known *known) {
  trace_free(known->trace);
  analysis_clear(&known->analysis);
  context_close(known->ctx, "a known region");
}

static const struct pacc_kernel_plan *kernel(const struct known *known,
                                             unsigned number) {
  assert_true(number < known->analysis.mapping->n_kernels);
  return &known->analysis.mapping->kernels[number];
}

/* Launches with all parameters at the value. */
static int launches_at(struct known *known, long value) {
  trace_at(known, value);
  return trace_launches(known->trace);
}

/* Barriers of kernels that run loops, with all parameters at the value. */
static int barriers_at(struct known *known, long value) {
  trace_at(known, value);
  return trace_run_loops(known->trace, known->analysis.mapping,
                         &known->analysis.scop, &known->analysis.deps);
}

/* The element that an instance writes; it writes one only. */
static const struct point *written(const struct trace *trace, int instance) {
  const struct accesses *list = &trace->access[ACCESS_MAY_WRITE];
  for (int i = 0; i < list->n; ++i)
    if (list->at[i].instance == instance)
      return &trace->element[list->at[i].element];
  return NULL;
}

/* Do neighbours along x write neighbours in memory, everywhere? */
static bool x_is_contiguous(const struct trace *trace) {
  int pairs = 0;
  for (int a = 0; a < trace->n_instances; ++a)
    for (int b = 0; b < trace->n_instances; ++b) {
      const struct instance *left = &trace->instance[a];
      const struct instance *right = &trace->instance[b];
      if (left->point.name != right->point.name || !same_launch(left, right) ||
          time_compare(&left->thread, &right->thread) ||
          right->grid[0] != left->grid[0] + 1 ||
          right->grid[1] != left->grid[1] || right->grid[2] != left->grid[2])
        continue;
      struct point next = *must(written(trace, a));
      next.at[next.n - 1]++;
      if (point_compare(&next, must(written(trace, b))))
        return false;
      ++pairs;
    }
  return pairs > 0;
}

/* The plan of an array. */
static struct pacc_array_plan array_plan(const struct known *known,
                                         const char *name, unsigned dims) {
  isl_space *space = isl_space_set_alloc(known->ctx, 0, dims);
  space = isl_space_set_tuple_name(space, isl_dim_set, name);
  struct pacc_array_plan plan;
  assert_int_equal(pacc_array_plan_compute(&plan, &known->analysis.scop,
                                           &known->analysis.deps, space),
                   0);
  return plan;
}

static void assert_copies(const struct known *known, const char *name,
                          unsigned dims, bool in, bool out) {
  struct pacc_array_plan plan = array_plan(known, name, dims);
  assert_int_equal(plan.has_in, in);
  assert_int_equal(plan.has_out, out);
  pacc_array_plan_clear(&plan);
}

/*===-- Kernels -----------------------------------------------------------===*/

static void test_gemm(void **state) {
  (void)state;
  struct known known = known_open("gemm");
  assert_int_equal(known.analysis.mapping->n_kernels, 1);
  assert_int_equal(kernel(&known, 0)->n_dims, 2);
  assert_int_equal(trace_launches(known.trace), 1);
  assert_true(x_is_contiguous(known.trace));
  assert_copies(&known, "A", 2, true, false);
  assert_copies(&known, "B", 2, true, false);
  assert_copies(&known, "C", 2, true, true);
  known_close(&known);
}

static void test_jacobi(void **state) {
  (void)state;
  struct known known = known_open("jacobi-2d");
  assert_int_equal(known.analysis.mapping->n_kernels, 2);
  for (unsigned k = 0; k < 2; ++k)
    assert_int_equal(kernel(&known, k)->n_dims, 2);
  for (long n = 3; n < 7; ++n)
    assert_int_equal(launches_at(&known, n), 2 * n);
  assert_true(x_is_contiguous(known.trace));
  /* B's border is read, but never written. */
  assert_copies(&known, "A", 2, true, true);
  assert_copies(&known, "B", 2, true, true);
  known_close(&known);
}

static void test_seidel(void **state) {
  (void)state;
  struct known known = known_open("seidel-2d");
  assert_int_equal(known.analysis.mapping->n_kernels, 1);
  assert_true(kernel(&known, 0)->n_dims >= 1);
  /* As many wavefronts as a path of dependences needs, in order: along
   * 2 t + ... they grow with the size, not with its square. */
  int small = launches_at(&known, 6), large = launches_at(&known, 12);
  assert_in_range(large - small, 1, 8 * 6);
  known_close(&known);
}

static void test_wavefront(void **state) {
  (void)state;
  struct known known = known_open("wavefront");
  assert_int_equal(known.analysis.mapping->n_kernels, 1);
  assert_int_equal(kernel(&known, 0)->n_dims, 1);
  assert_int_equal(launches_at(&known, 6), 2 * (6 - 1) - 1);
  known_close(&known);
}

static void test_floyd_warshall(void **state) {
  (void)state;
  struct known known = known_open("floyd-warshall");
  assert_true(known.analysis.mapping->n_kernels <= 8);
  for (long n = 4; n < 10; ++n)
    assert_true(launches_at(&known, n) <= 7 * n);
  known_close(&known);
}

/* Triangular systems: a launch or a few for each step of the outer loop, and
 * all that is left of the matrix in parallel within it. */
static void test_triangular(void **state) {
  (void)state;
  static const struct {
    const char *name;
    unsigned dims;
    int launches;
  } cases[] = {{"lu", 2, 3}, {"cholesky", 2, 3}, {"trisolv", 1, 2}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    struct known known = known_open(cases[i].name);
    unsigned dims = 0;
    for (unsigned k = 0; k < known.analysis.mapping->n_kernels; ++k)
      if (kernel(&known, k)->n_dims > dims)
        dims = kernel(&known, k)->n_dims;
    assert_int_equal(dims, cases[i].dims);
    for (long n = 4; n < 10; ++n)
      assert_true(launches_at(&known, n) <= cases[i].launches * n + 1);
    known_close(&known);
  }
}

/* Launches that a further iteration of the host's loop takes, and barriers if
 * one kernel runs the loop. */
static void test_launches(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int launches, barriers;
  } cases[] = {
      {"polybench-floyd-warshall", 7, 4},
      {"polybench-durbin", 3, 3},
      {"polybench-gramschmidt", 4, 4},
      {"polybench-trisolv", 2, 2},
      {"polybench-lu", 3, 2},
      {"polybench-cholesky", 3, 2},
      {"polybench-adi", 2, 2},
      {"polybench-fdtd-2d", 2, 2},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    struct known known = known_open(cases[i].name);
    int small = launches_at(&known, 6), large = launches_at(&known, 10);
    assert_int_equal(large - small, 4 * cases[i].launches);
    small = barriers_at(&known, 6);
    large = barriers_at(&known, 10);
    assert_int_equal(large - small, 4 * cases[i].barriers);
    known_close(&known);
  }
}

static void test_atax(void **state) {
  (void)state;
  struct known known = known_open("atax");
  assert_int_equal(known.analysis.mapping->n_kernels, 2);
  assert_int_equal(kernel(&known, 0)->n_dims, 1);
  assert_int_equal(kernel(&known, 1)->n_dims, 1);
  assert_int_equal(trace_launches(known.trace), 2);
  assert_copies(&known, "A", 2, true, false);
  assert_copies(&known, "x", 1, true, false);
  assert_copies(&known, "y", 1, false, true);
  known_close(&known);
}

/* x of B[k][j][i] = A[i][j][k] can walk one of the arrays only; all three loops
 * are the grid. */
static void test_cube(void **state) {
  (void)state;
  struct known known = known_open("cube");
  assert_int_equal(known.analysis.mapping->n_kernels, 1);
  assert_int_equal(kernel(&known, 0)->n_dims, 3);
  struct pacc_array_plan plan = array_plan(&known, "B", 3);
  assert_false(plan.touched.box);
  pacc_array_plan_clear(&plan);
  known_close(&known);
}

/* Launches of all kernels of a PolyBench program at the nominal size, 1,000
 * for each parameter. */
static void test_polybench(void **state) {
  (void)state;
  static const struct {
    const char *name;
    unsigned kernels;
    double launches;
  } cases[] = {
      {"2mm", 2, 2},          {"3mm", 3, 3},
      {"adi", 4, 4000},       {"atax", 2, 2},
      {"bicg", 2, 2},         {"cholesky", 3, 3000},
      {"correlation", 7, 7},  {"covariance", 3, 3},
      {"deriche", 6, 6},      {"fdtd-2d", 4, 4000},
      {"gemm", 1, 1},         {"gemver", 3, 3},
      {"gesummv", 1, 1},      {"gramschmidt", 7, 7000},
      {"heat-3d", 2, 2000},   {"jacobi-1d", 2, 2000},
      {"jacobi-2d", 2, 2000}, {"lu", 3, 3000},
      {"ludcmp", 4, 4000},    {"mvt", 2, 2},
      {"nussinov", 1, 2000},  {"seidel-2d", 1, 8000},
      {"symm", 2, 2},         {"syr2k", 1, 1},
      {"syrk", 1, 1},         {"trisolv", 3, 2000},
      {"trmm", 2, 2},         {"floyd-warshall", 13, 9000},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char name[80];
    snprintf(name, sizeof(name), "polybench-%s", cases[i].name);
    struct analysis analysis;
    isl_ctx *ctx = analyse_file(&analysis, name);
    double launches = 0;
    for (unsigned k = 0; k < analysis.mapping->n_kernels; ++k)
      launches += analysis.mapping->kernels[k].launches;
    if (analysis.mapping->n_kernels > cases[i].kernels ||
        launches > cases[i].launches)
      fail_msg("%s: %u kernels, %g launches", name, analysis.mapping->n_kernels,
               launches);
    analysis_clear(&analysis);
    context_close(ctx, name);
  }
}

/*===-- Accesses ----------------------------------------------------------===*/

/* What is expected of the accesses of one array in one statement. */
struct steps {
  const char *array;
  bool write;
  double count;
  unsigned n_indices;
  long step[PACC_MAX_DIMS + 1][2];
  int found;
};

static void find_steps(const struct pacc_access_step *step, void *user) {
  for (struct steps *expected = user; expected->array; ++expected) {
    if (strcmp(isl_id_get_name(step->array), expected->array) ||
        step->write != expected->write ||
        step->count < 0.99 * expected->count ||
        step->count > 1.01 * expected->count)
      continue;
    assert_true(step->affine);
    assert_int_equal(step->n_indices, expected->n_indices);
    for (int d = 0; d <= PACC_MAX_DIMS; ++d)
      for (unsigned k = 0; k < step->n_indices; ++k)
        assert_int_equal(step->step[d][k], expected->step[d][k]);
    expected->found++;
  }
}

static void test_access_steps(void **state) {
  (void)state;
  /* In the order x, y, z, next iteration of the thread's loop. */
  struct steps gemm[] = {
      {"A", false, 1000, 2, {{0, 0}, {1, 0}, {0, 0}, {0, 1}}, 0},
      {"B", false, 1000, 2, {{0, 1}, {0, 0}, {0, 0}, {1, 0}}, 0},
      {"C", false, 1000, 2, {{0, 1}, {1, 0}, {0, 0}, {0, 0}}, 0},
      {"C", true, 1000, 2, {{0, 1}, {1, 0}, {0, 0}, {0, 0}}, 0},
      {"C", true, 1, 2, {{0, 1}, {1, 0}, {0, 0}, {0, 0}}, 0},
      {0}};
  struct known known = known_open("gemm");
  pacc_kernel_foreach_access(kernel(&known, 0), &known.analysis.scop,
                             find_steps, gemm);
  for (struct steps *expected = gemm; expected->array; ++expected)
    assert_int_equal(expected->found, 1);
  known_close(&known);
}

static void count_strides(const struct pacc_access_step *step, void *user) {
  int *count = user;
  if (!strcmp(isl_id_get_name(step->array), "A"))
    count[step->step[0][0] == 1 && step->step[0][1] == 0 ? 0 : 1]++;
}

/* x walks down the matrix in one kernel of atax, and along its rows in the
 * other. */
static void test_access_strides(void **state) {
  (void)state;
  struct known known = known_open("atax");
  int count[2] = {0, 0};
  for (unsigned k = 0; k < 2; ++k)
    pacc_kernel_foreach_access(kernel(&known, k), &known.analysis.scop,
                               count_strides, count);
  assert_int_equal(count[0], 1);
  assert_int_equal(count[1], 1);
  known_close(&known);
}

/*===-- Scalars -----------------------------------------------------------===*/

static void test_private_scalar(void **state) {
  (void)state;
  struct known known = known_open("triangle");
  assert_int_equal(known.analysis.crossing, 0);
  assert_int_equal(trace_launches(known.trace), 1);
  assert_true(kernel(&known, 0)->n_dims >= 1);
  known_close(&known);
  known = known_open("symm-scalar");
  assert_int_equal(known.analysis.crossing, 0);
  known_close(&known);
}

static void test_crossing_scalar(void **state) {
  (void)state;
  struct known known = known_open("recurrence");
  assert_int_equal(known.analysis.crossing, 1);
  /* In memory, it is an array of the region. */
  assert_copies(&known, "s", 0, false, true);
  unsigned with_grid = 0;
  for (unsigned k = 0; k < known.analysis.mapping->n_kernels; ++k)
    with_grid += kernel(&known, k)->n_dims > 0;
  assert_int_equal(with_grid, 1);
  known_close(&known);
}

/*===-- Extents -----------------------------------------------------------===*/

static void test_maybe_written(void **state) {
  (void)state;
  struct known known = known_open("maybe");
  /* What may keep its value must be there to be copied back. */
  assert_copies(&known, "B", 1, true, true);
  assert_copies(&known, "C", 1, true, true);
  /* D[0] is read and not written, D[n] is written last. */
  assert_copies(&known, "D", 1, true, true);
  known_close(&known);
}

static void test_empty(void **state) {
  (void)state;
  struct known known = known_open("nothing");
  assert_copies(&known, "A", 1, true, false);
  assert_copies(&known, "C", 1, false, true);
  known_close(&known);
}

static void test_boxes(void **state) {
  (void)state;
  struct known known = known_open("jacobi-2d");
  struct pacc_array_plan plan = array_plan(&known, "B", 2);
  assert_true(plan.out.box);
  pacc_array_plan_clear(&plan);
  known_close(&known);
  /* The corners of a triangle's box are not all elements of it. */
  known = known_open("triangle");
  plan = array_plan(&known, "C", 2);
  assert_true(plan.has_in);
  pacc_array_plan_clear(&plan);
  known_close(&known);
}

/*===-- Nominal sizes -----------------------------------------------------===*/

static double instances(isl_ctx *ctx, const char *context, const char *domain) {
  isl_set *sizes = must(isl_set_read_from_str(ctx, context));
  isl_union_set *set = must(isl_union_set_read_from_str(ctx, domain));
  isl_set *nominal = pacc_nominal_context(sizes, set);
  assert_int_equal(isl_set_is_subset(nominal, sizes), isl_bool_true);
  double result = pacc_nominal_instances(nominal, set);
  isl_union_set_free(set);
  isl_set_free(nominal);
  isl_set_free(sizes);
  return result;
}

static void assert_instances(isl_ctx *ctx, const char *context,
                             const char *domain, double low, double high) {
  double n = instances(ctx, context, domain);
  if (n < low || n > high)
    fail_msg("%s at %s: %g instances", domain, context, n);
}

static void test_nominal(void **state) {
  (void)state;
  isl_ctx *ctx = context_open();
  const char *any = "[n] -> { : }";
  assert_instances(ctx, any, "[n] -> { S[i] : 0 <= i < n }", 1000, 1000);
  assert_instances(ctx, any, "[n] -> { S[i, j] : 0 <= i < n and 0 <= j < i }",
                   499500, 1e6);
  assert_instances(ctx, any, "[n] -> { S[i, i] : 0 <= i < n }", 1000, 1000);
  assert_instances(ctx, any, "[n] -> { S[i] : 0 <= i < n and i mod 2 = 0 }",
                   500, 1000);
  assert_instances(ctx, any, "[n] -> { S[i] : 0 <= i < n; T[] }", 1001, 1001);
  assert_instances(ctx, any, "[n] -> { S[i] : 0 <= i < n and i > n }", 0, 0);
  assert_instances(ctx, "[n] -> { : n <= 50 }", "[n] -> { S[i] : 0 <= i < n }",
                   1, 50);
  assert_instances(ctx, "[n] -> { : n = 7 }", "[n] -> { S[i] : 0 <= i < n }", 7,
                   7);
  assert_instances(ctx, "[n, m] -> { : n = m + 1 }",
                   "[n, m] -> { S[i] : m <= i < n }", 1, 1);
  /* Equal parameters would leave nothing of a loop between two of them. */
  assert_instances(ctx, "[n, m] -> { : }", "[n, m] -> { S[i] : m <= i < n }",
                   900, 4000);
  assert_instances(ctx, "[n, m] -> { : }", "[n, m] -> { S[i] : n < i <= m }",
                   900, 4000);
  /* Nor of one as long as their difference. */
  assert_instances(ctx, "[n, k] -> { : }",
                   "[n, k] -> { S[i, j] : 0 <= i <= n - k and 0 <= j < k }",
                   1e6, 1e7);
  context_close(ctx, "nominal sizes");
}

/* Instances at the sizes that are expected of a region. */
static double expected(isl_ctx *ctx, const char *entry) {
  char text[512];
  snprintf(text, sizeof(text),
           "schedule: { domain: \"[n, m] -> { S[i, j] : 0 <= i < n and "
           "0 <= j < m }\" }\n"
           "context: [n, m] -> { : m <= 300 }\n%s",
           entry);
  struct pacc_scop scop;
  assert_null(region_parse(&scop, ctx, text));
  isl_set *sizes = pacc_expected_sizes(&scop);
  isl_union_set *domain = isl_schedule_get_domain(scop.schedule);
  double result = pacc_nominal_instances(sizes, domain);
  isl_union_set_free(domain);
  isl_set_free(sizes);
  pacc_scop_clear(&scop);
  return result;
}

static void test_expected(void **state) {
  (void)state;
  isl_ctx *ctx = context_open();
  assert_int_equal(expected(ctx, ""), 1000 * 300);
  assert_int_equal(expected(ctx, "expected: [n] -> { : n = 2000 }\n"),
                   2000 * 300);
  assert_int_equal(
      expected(ctx, "expected: [m, n] -> { : n = 7 and m = 20 }\n"), 7 * 20);
  /* What the arrays don't allow is no size of these loops. */
  assert_int_equal(expected(ctx, "expected: [m] -> { : m = 400 }\n"),
                   1000 * 300);
  context_close(ctx, "expected sizes");
}

/* The estimates of a mapping are those of its trace, at a fixed size. */
static void test_estimates(void **state) {
  (void)state;
  isl_ctx *ctx = context_open();
  char path[512];
  snprintf(path, sizeof(path), "%s/jacobi-2d.region", PACC_TEST_REGIONS);
  char *text = region_file(path);
  struct pacc_scop scop;
  assert_null(region_parse(&scop, ctx, text));
  free(text);
  isl_set *fixed =
      isl_set_read_from_str(ctx, "[steps, n] -> { : steps = 5 and n = 9 }");
  scop.context = isl_set_intersect(scop.context, fixed);
  struct analysis analysis;
  assert_true(analyse(&analysis, &scop));
  double launches = 0, work = 0;
  for (unsigned k = 0; k < analysis.mapping->n_kernels; ++k) {
    const struct pacc_kernel_plan *plan = &analysis.mapping->kernels[k];
    launches += plan->launches;
    work += plan->launches * plan->work;
    double threads = 1;
    for (unsigned d = 0; d < PACC_MAX_DIMS; ++d)
      threads *= plan->extent[d];
    if (plan->n_dims == 2)
      assert_int_equal((int)threads, 49);
  }
  struct values values = {2, {"steps", "n"}, {5, 9}};
  struct trace *trace = must(trace_of(&analysis.scop, &values, 1000));
  assert_true(trace_map(trace, analysis.mapping, &values));
  assert_int_equal((int)launches, trace_launches(trace));
  assert_int_equal((int)work, trace->n_instances);
  trace_free(trace);
  analysis_clear(&analysis);
  context_close(ctx, "estimates");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gemm),
      cmocka_unit_test(test_jacobi),
      cmocka_unit_test(test_seidel),
      cmocka_unit_test(test_wavefront),
      cmocka_unit_test(test_floyd_warshall),
      cmocka_unit_test(test_triangular),
      cmocka_unit_test(test_launches),
      cmocka_unit_test(test_atax),
      cmocka_unit_test(test_cube),
      cmocka_unit_test(test_polybench),
      cmocka_unit_test(test_access_steps),
      cmocka_unit_test(test_access_strides),
      cmocka_unit_test(test_private_scalar),
      cmocka_unit_test(test_crossing_scalar),
      cmocka_unit_test(test_maybe_written),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_boxes),
      cmocka_unit_test(test_nominal),
      cmocka_unit_test(test_expected),
      cmocka_unit_test(test_estimates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
