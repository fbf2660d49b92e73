/* analysis.c: the steps of the front end, and all checks. */
#include "analysis.h"

#include "check.h"
#include "region.h"
#include "support.h"
#include "trace.h"

#include <isl/ast_build.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_INSTANCES = 4000, MAX_ARRAYS = 32, N_VALUES = 8 };

static char message[2048];

void analysis_clear(struct analysis *analysis) {
  pacc_mapping_free(analysis->mapping);
  pacc_dependences_clear(&analysis->deps);
  pacc_scop_clear(&analysis->scop);
  pacc_expansions_clear(&analysis->expansions);
  pacc_snapshots_clear(&analysis->snapshots);
  pacc_scop_clear(&analysis->changed);
  *analysis = (struct analysis){0};
}

/* The region that is planned. */
static const struct pacc_scop *planned(const struct analysis *analysis) {
  return analysis->changed.schedule ? &analysis->changed : &analysis->scop;
}

/* How a region is analysed. */
struct way {
  enum { PLAIN, COPIES, SNAPSHOTS } kind;
  unsigned skipped; /* with SNAPSHOTS: loops that have none */
  const char *text;
};

static const struct way plain = {PLAIN, 0, ""};
static const struct way with_copies = {COPIES, 0, " with copies"};

static isl_stat add_access(__isl_take isl_basic_map *access, void *user) {
  isl_map_list **list = user;
  *list = isl_map_list_add(*list, isl_map_from_basic_map(access));
  return isl_stat_ok;
}

static isl_stat add_accesses(__isl_take isl_map *map, void *user) {
  isl_stat status = isl_map_foreach_basic_map(map, add_access, user);
  isl_map_free(map);
  return status;
}

/* Arrays and statements of the region are those of the program, and more. */
static bool save_values(struct analysis *analysis, unsigned skipped) {
  isl_map_list *reads =
      isl_map_list_alloc(isl_schedule_get_ctx(analysis->scop.schedule), 0);
  isl_union_map_foreach_map(analysis->scop.read, add_accesses, &reads);
  for (unsigned place = skipped;
       !pacc_snapshots_add(&analysis->snapshots, &analysis->scop, reads, place);
       ++place)
    ;
  bool done =
      !pacc_scop_snapshot(&analysis->changed, reads, &analysis->snapshots);
  isl_map_list_free(reads);
  return done;
}

static bool change(struct analysis *analysis, const struct way *way) {
  pacc_expansions_clear(&analysis->expansions);
  pacc_snapshots_clear(&analysis->snapshots);
  pacc_scop_clear(&analysis->changed);
  if (way->kind == PLAIN)
    return true;
  analysis->changed = pacc_scop_copy(&analysis->scop);
  if (way->kind == SNAPSHOTS)
    return save_values(analysis, way->skipped);
  return !pacc_expansions_find(&analysis->expansions, &analysis->scop) &&
         !pacc_scop_expand(&analysis->changed, &analysis->expansions);
}

static bool analyse_region(struct analysis *analysis, struct pacc_scop *scop,
                           const struct way *way) {
  *analysis = (struct analysis){.scop = *scop};
  *scop = (struct pacc_scop){0};
  for (;;) {
    if (!change(analysis, way) ||
        (way->kind == SNAPSHOTS && !analysis->snapshots.n) ||
        pacc_dependences_compute(&analysis->deps, planned(analysis)))
      return false;
    analysis->mapping =
        pacc_mapping_compute(planned(analysis), &analysis->deps);
    if (!analysis->mapping ||
        pacc_mapping_separate(analysis->mapping, &analysis->snapshots))
      return false;
    isl_union_set *crossing = pacc_mapping_crossing_scalars(
        analysis->mapping, planned(analysis), &analysis->deps);
    isl_size n = isl_union_set_n_set(crossing);
    if (n <= 0) {
      isl_union_set_free(crossing);
      return n == 0;
    }
    analysis->crossing += n;
    region_demote(&analysis->scop, crossing);
    pacc_mapping_free(analysis->mapping);
    analysis->mapping = NULL;
    pacc_dependences_clear(&analysis->deps);
  }
}

bool analyse(struct analysis *analysis, struct pacc_scop *scop) {
  return analyse_region(analysis, scop, &plain);
}

bool analyse_with_copies(struct analysis *analysis, struct pacc_scop *scop) {
  return analyse_region(analysis, scop, &with_copies);
}

bool analyse_with_snapshots(struct analysis *analysis, struct pacc_scop *scop,
                            unsigned skipped) {
  return analyse_region(analysis, scop, &(struct way){SNAPSHOTS, skipped, ""});
}

/*===-- Arrays ------------------------------------------------------------===*/

static __isl_give isl_set_list *arrays_of(const struct pacc_scop *scop) {
  isl_union_set *elements = isl_union_map_range(isl_union_map_union(
      isl_union_map_copy(scop->read), isl_union_map_copy(scop->may_write)));
  isl_set_list *list = isl_union_set_get_set_list(elements);
  isl_union_set_free(elements);
  return list;
}

struct device {
  int n;
  struct device_array array[MAX_ARRAYS];
};

static void device_clear(struct device *device) {
  for (int i = 0; i < device->n; ++i) {
    pacc_array_plan_clear(device->array[i].plan);
    free(device->array[i].plan);
    isl_space_free(device->array[i].space);
  }
  device->n = 0;
}

static bool plan_arrays(const struct analysis *analysis,
                        struct device *device) {
  device->n = 0;
  isl_set_list *arrays = arrays_of(&analysis->scop);
  /* The program's accesses, and the statements that save values. */
  struct pacc_scop program = analysis->scop;
  program.schedule = planned(analysis)->schedule;
  isl_size n = isl_set_list_n_set(arrays);
  assert_in_range(n, 0, MAX_ARRAYS);
  bool result = true;
  for (int i = 0; i < n && result; ++i) {
    struct device_array *array = &device->array[device->n++];
    isl_set *elements = isl_set_list_get_set(arrays, i);
    array->space = isl_set_get_space(elements);
    isl_set_free(elements);
    array->expansion = pacc_expansion_of(&analysis->expansions, array->space);
    array->plan = must(calloc(1, sizeof(*array->plan)));
    result = !pacc_array_plan_compute(array->plan, &program, &analysis->deps,
                                      isl_space_copy(array->space));
  }
  isl_set_list_free(arrays);
  return result;
}

/*===-- Checks ------------------------------------------------------------===*/

/* `trace` is that of the program, `mapped` that of what is planned: the same,
 * unless arrays have copies or values are saved. */
static const char *check_at(const struct analysis *analysis,
                            struct device *device, struct trace *trace,
                            struct trace *mapped, const struct values *values,
                            uint64_t seed) {
  if (!trace_map(mapped, analysis->mapping, values))
    return mapped->problem;
  const char *problem = check_order(mapped);
  if (!problem) {
    trace_run_loops(mapped, analysis->mapping, planned(analysis),
                    &analysis->deps);
    problem = check_order(mapped);
  }
  if (!problem)
    problem = check_scalars(mapped, NULL);
  for (int i = 0; i < device->n && !problem; ++i)
    problem = check_array(trace, device->array[i].plan, device->array[i].space,
                          values);
  if (!problem)
    problem =
        check_execution(trace, mapped, device->array, device->n, values, seed);
  return problem;
}

static const char *describe(const char *problem, const struct values *values) {
  size_t at = 0;
  for (int i = 0; i < values->n; ++i)
    at += (size_t)snprintf(message + at, sizeof(message) - at, "%s=%ld ",
                           values->name[i], values->value[i]);
  snprintf(message + at, sizeof(message) - at, "%s", problem);
  return message;
}

/* The number-th choice of values. */
static void choose(struct values *values, int number, uint64_t *seed) {
  static const int equal[] = {4, 1, 6, 2};
  for (int i = 0; i < values->n; ++i)
    values->value[i] =
        number < 4 ? equal[number] : (long)draw(seed, number % 2 ? 4 : 9) - 1;
}

const char *analysis_check(const struct analysis *analysis, uint64_t seed,
                           long *n_instances) {
  struct device device;
  if (!plan_arrays(analysis, &device)) {
    device_clear(&device);
    return "no plan of an array";
  }
  const char *problem = NULL;
  struct values values = values_of(&analysis->scop);
  for (int i = 0; i < (values.n ? N_VALUES : 1) && !problem; ++i) {
    choose(&values, i, &seed);
    if (!values_are_possible(&analysis->scop, &values))
      continue;
    struct trace *trace = trace_of(&analysis->scop, &values, MAX_INSTANCES);
    if (!trace)
      continue;
    struct trace *mapped = trace;
    if (planned(analysis) != &analysis->scop)
      mapped = must(trace_of(planned(analysis), &values, 10 * MAX_INSTANCES));
    problem =
        check_at(analysis, &device, trace, mapped, &values, seed + (unsigned)i);
    if (problem)
      problem = describe(problem, &values);
    if (n_instances)
      *n_instances += trace->n_instances;
    if (mapped != trace)
      trace_free(mapped);
    trace_free(trace);
  }
  device_clear(&device);
  return problem;
}

/* Can code be generated? (isl may need too many operations for it.) */
static const char *check_code(const struct analysis *analysis) {
  isl_ctx *ctx = isl_schedule_get_ctx(analysis->mapping->schedule);
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(ctx, 1000000);
  isl_ast_build *build =
      isl_ast_build_from_context(isl_set_copy(analysis->scop.context));
  isl_ast_node *node = isl_ast_build_node_from_schedule(
      build, isl_schedule_copy(analysis->mapping->schedule));
  isl_ast_build_free(build);
  const char *problem = node || isl_ctx_last_error(ctx) == isl_error_quota
                            ? NULL
                            : isl_ctx_last_error_msg(ctx);
  isl_ast_node_free(node);
  isl_ctx_set_max_operations(ctx, 0);
  isl_ctx_reset_error(ctx);
  return problem;
}

/* All checks of a mapping, which may end the test. */
static void check_mapping(const struct analysis *analysis, const char *name,
                          const char *text, uint64_t seed, const char *how) {
  long n = 0;
  const char *problem = analysis_check(analysis, seed, &n);
  if (!problem)
    problem = check_code(analysis);
  if (!problem)
    return;
  print_error("%s:\n%s", name, text);
  char *schedule = isl_schedule_to_str(analysis->mapping->schedule);
  print_error("mapped: %s\n", schedule);
  free(schedule);
  fail_msg("%s%s: %s", name, how, problem);
}

/* The same for threads with tiles, if there are any; returns their number. */
static int check_tiles(struct analysis *analysis, const char *name,
                       const char *text, unsigned long max_operations,
                       uint64_t seed) {
  isl_ctx *ctx = isl_schedule_get_ctx(analysis->mapping->schedule);
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(ctx, max_operations);
  int failed = pacc_mapping_tile(analysis->mapping, planned(analysis), 2);
  isl_ctx_set_max_operations(ctx, 0);
  isl_ctx_reset_error(ctx);
  int tiles = 0;
  for (unsigned k = 0; k < analysis->mapping->n_kernels && !failed; ++k)
    tiles += analysis->mapping->kernels[k].tile > 1;
  if (tiles)
    check_mapping(analysis, name, text, seed, " with tiles");
  return tiles;
}

/* One analysis of check_region. */
static int check_analysis(const char *name, const char *text,
                          unsigned long max_operations, uint64_t seed,
                          const struct way *way,
                          struct region_findings *found) {
  isl_ctx *ctx = context_open();
  struct pacc_scop scop;
  const char *problem = region_parse(&scop, ctx, text);
  if (problem)
    fail_msg("%s: %s", name, problem);
  struct analysis analysis;
  int grids = 0;
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(ctx, max_operations);
  bool done = analyse_region(&analysis, &scop, way);
  isl_ctx_set_max_operations(ctx, 0);
  isl_ctx_reset_error(ctx);
  /* Without any copies the analysis is the one that has been checked. */
  if (done &&
      (way->kind == PLAIN || analysis.expansions.n || analysis.snapshots.n)) {
    check_mapping(&analysis, name, text, seed, way->text);
    for (unsigned k = 0; k < analysis.mapping->n_kernels; ++k)
      grids += analysis.mapping->kernels[k].n_dims > 0;
    found->copies += (int)analysis.expansions.n;
    found->snapshots += (int)analysis.snapshots.n;
    found->tiles += check_tiles(&analysis, name, text, max_operations, seed);
  }
  analysis_clear(&analysis);
  context_close(ctx, name);
  return grids;
}

int check_region(const char *name, const char *text,
                 unsigned long max_operations, uint64_t seed,
                 struct region_findings *found) {
  struct region_findings unused;
  if (!found)
    found = &unused;
  *found = (struct region_findings){0};
  const struct way with_snapshots = {SNAPSHOTS, seed % 2, " with snapshots"};
  int grids = check_analysis(name, text, max_operations, seed, &plain, found);
  check_analysis(name, text, max_operations, seed, &with_copies, found);
  check_analysis(name, text, max_operations, seed, &with_snapshots, found);
  return grids;
}
