/* schedule.c: isl's scheduler within bounds.
 *
 * The scheduler's time is not counted in isl operations (it spends it in
 * integer programming without allocating), so that isl_ctx_set_max_operations
 * does not stop it. What bounds it is the size of its input: the number of
 * basic maps in the dependences and their dimensions.
 */
#include "pacc/poly.h"

#include <isl/map.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <stddef.h>

/* A constraint system with a thousand pieces takes seconds. */
enum { MAX_PIECES = 300, MAX_STATEMENTS = 60 };

static isl_stat count_pieces(__isl_take isl_map *map, void *user) {
  int *n = user;
  isl_size pieces = isl_map_n_basic_map(map);
  isl_size dims = isl_map_dim(map, isl_dim_in);
  isl_map_free(map);
  if (pieces < 0 || dims < 0)
    return isl_stat_error;
  /* The scheduler eliminates over the dimensions of both ends. */
  *n += pieces * (dims > 3 ? 2 : 1);
  return isl_stat_ok;
}

static int is_too_large(__isl_keep isl_union_set *domain,
                        __isl_keep isl_union_map *order) {
  int pieces = 0;
  if (isl_union_map_foreach_map(order, count_pieces, &pieces) < 0)
    return 1;
  return pieces > MAX_PIECES || isl_union_set_n_set(domain) > MAX_STATEMENTS;
}

static __isl_give isl_schedule *
run_scheduler(__isl_take isl_union_set *domain, __isl_take isl_union_map *order,
              __isl_take isl_union_map *parallel, __isl_keep isl_set *context) {
  isl_schedule_constraints *constraints =
      isl_schedule_constraints_on_domain(domain);
  constraints =
      isl_schedule_constraints_set_context(constraints, isl_set_copy(context));
  constraints = isl_schedule_constraints_set_proximity(
      constraints, isl_union_map_copy(parallel));
  constraints = isl_schedule_constraints_set_validity(constraints, order);
  constraints = isl_schedule_constraints_set_coincidence(constraints, parallel);
  return isl_schedule_constraints_compute_schedule(constraints);
}

/* Dropping from a dependence what the domain says anyway leaves isl with far
 * fewer constraints: heat-3d takes 0.1 s and not minutes. */
static __isl_give isl_union_map *gist(__isl_take isl_union_map *deps,
                                      __isl_keep isl_union_set *domain) {
  deps = isl_union_map_gist_domain(deps, isl_union_set_copy(domain));
  deps = isl_union_map_gist_range(deps, isl_union_set_copy(domain));
  return isl_union_map_coalesce(deps);
}

__isl_give isl_schedule *pacc_schedule_compute(
    __isl_take isl_union_set *domain, __isl_keep isl_union_map *order,
    __isl_keep isl_union_map *parallel, __isl_keep isl_set *context) {
  isl_ctx *ctx = isl_union_set_get_ctx(domain);
  if (!order || !parallel || is_too_large(domain, order)) {
    isl_union_set_free(domain);
    return NULL;
  }
  int outer = isl_options_get_schedule_outer_coincidence(ctx);
  int depth = isl_options_get_schedule_maximize_band_depth(ctx);
  int coefficient = isl_options_get_schedule_max_coefficient(ctx);
  int constant = isl_options_get_schedule_max_constant_term(ctx);
  isl_options_set_schedule_outer_coincidence(ctx, 1);
  isl_options_set_schedule_maximize_band_depth(ctx, 1);
  isl_options_set_schedule_max_coefficient(ctx, 20);
  isl_options_set_schedule_max_constant_term(ctx, 20);

  isl_schedule *schedule = run_scheduler(
      isl_union_set_copy(domain), gist(isl_union_map_copy(order), domain),
      gist(isl_union_map_copy(parallel), domain), context);
  /* isl cannot carry some gisted dependences (seidel-2d): try them whole. */
  if (!schedule && isl_ctx_last_error(ctx) != isl_error_quota) {
    isl_ctx_reset_error(ctx);
    schedule = run_scheduler(
        isl_union_set_copy(domain),
        isl_union_map_coalesce(isl_union_map_copy(order)),
        isl_union_map_coalesce(isl_union_map_copy(parallel)), context);
  }
  isl_union_set_free(domain);

  isl_options_set_schedule_outer_coincidence(ctx, outer);
  isl_options_set_schedule_maximize_band_depth(ctx, depth);
  isl_options_set_schedule_max_coefficient(ctx, coefficient);
  isl_options_set_schedule_max_constant_term(ctx, constant);
  return schedule;
}
