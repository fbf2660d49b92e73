/* schedule.c: isl's scheduler within bounds.
 *
 * The scheduler spends its time in integer programming, where the count of
 * isl_ctx_set_max_operations says little about it: an operation takes as long
 * as its numbers have digits. What bounds it is its input: the number of basic
 * maps in the dependences, their dimensions, and the numbers in them.
 */
#include "pacc/poly.h"

#include <isl/constraint.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/val.h>
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

/*===-- Dependences as the scheduler sees them --------------------------===*/

/* isl's time for an operation grows with its numbers, without a limit: with the
 * bounds of `int` in dependences they come to hundreds of digits. A schedule
 * has no use for numbers beyond the largest that it may have itself. */
enum { MAX_NUMBER = 20 };

static bool is_large(__isl_take isl_val *number) {
  bool large = isl_val_cmp_si(number, MAX_NUMBER) > 0 ||
               isl_val_cmp_si(number, -MAX_NUMBER) < 0;
  isl_val_free(number);
  return large;
}

static bool has_large_coefficient(__isl_keep isl_constraint *constraint) {
  const enum isl_dim_type types[] = {isl_dim_param, isl_dim_in, isl_dim_out,
                                     isl_dim_div};
  for (int t = 0; t < 4; ++t) {
    isl_size n = isl_constraint_dim(constraint, types[t]);
    for (int i = 0; i < n; ++i)
      if (is_large(isl_constraint_get_coefficient_val(constraint, types[t], i)))
        return true;
  }
  return false;
}

/* A distance of a thousand or more is one of MAX_NUMBER or more. */
static isl_stat add_widened(__isl_take isl_constraint *constraint, void *user) {
  isl_basic_map **rest = user;
  if (!isl_constraint_is_equality(constraint)) {
    isl_val *constant = isl_constraint_get_constant_val(constraint);
    int sign = isl_val_sgn(constant);
    bool large = is_large(constant);
    if (has_large_coefficient(constraint) || (large && sign > 0)) {
      isl_constraint_free(constraint);
      return isl_stat_ok;
    }
    if (large)
      constraint = isl_constraint_set_constant_si(constraint, -MAX_NUMBER);
  }
  *rest = isl_basic_map_add_constraint(*rest, constraint);
  return *rest ? isl_stat_ok : isl_stat_error;
}

static isl_stat widen_piece(__isl_take isl_basic_map *piece, void *user) {
  isl_map **wide = user;
  isl_basic_map *rest = isl_basic_map_universe(isl_basic_map_get_space(piece));
  isl_stat status = isl_basic_map_foreach_constraint(piece, add_widened, &rest);
  isl_basic_map_free(piece);
  *wide = isl_map_union(*wide, isl_map_from_basic_map(rest));
  return status;
}

static isl_stat widen_map(__isl_take isl_map *map, void *user) {
  isl_union_map **wide = user;
  isl_map *result = isl_map_empty(isl_map_get_space(map));
  isl_stat status = isl_map_foreach_basic_map(map, widen_piece, &result);
  isl_map_free(map);
  *wide = isl_union_map_add_map(*wide, result);
  return status;
}

/* A superset of the dependences, which is as good: what it keeps in order
 * without need is at most what a schedule would have to tell apart by large
 * numbers. */
static __isl_give isl_union_map *widen(__isl_keep isl_union_map *deps,
                                       __isl_keep isl_set *context) {
  isl_union_map *exact = isl_union_map_gist_params(isl_union_map_copy(deps),
                                                   isl_set_copy(context));
  isl_union_map *wide = isl_union_map_empty(isl_union_map_get_space(exact));
  if (isl_union_map_foreach_map(exact, widen_map, &wide) < 0)
    wide = isl_union_map_free(wide);
  isl_union_map_free(exact);
  return isl_union_map_coalesce(wide);
}

/* Dropping from a dependence what the domain says anyway leaves isl with far
 * fewer constraints: heat-3d takes 0.1 s and not minutes. */
static __isl_give isl_union_map *gist(__isl_keep isl_union_map *deps,
                                      __isl_keep isl_union_set *domain) {
  isl_union_map *result = isl_union_map_gist_domain(isl_union_map_copy(deps),
                                                    isl_union_set_copy(domain));
  result = isl_union_map_gist_range(result, isl_union_set_copy(domain));
  return isl_union_map_coalesce(result);
}

__isl_give isl_schedule *pacc_schedule_compute(
    __isl_take isl_union_set *domain, __isl_keep isl_union_map *order,
    __isl_keep isl_union_map *parallel, __isl_keep isl_set *context) {
  isl_ctx *ctx = isl_union_set_get_ctx(domain);
  isl_union_map *wide_order = widen(order, context);
  isl_union_map *wide_parallel = widen(parallel, context);
  if (!wide_order || !wide_parallel || is_too_large(domain, wide_order)) {
    isl_union_map_free(wide_order);
    isl_union_map_free(wide_parallel);
    isl_union_set_free(domain);
    return NULL;
  }
  int outer = isl_options_get_schedule_outer_coincidence(ctx);
  int depth = isl_options_get_schedule_maximize_band_depth(ctx);
  int coefficient = isl_options_get_schedule_max_coefficient(ctx);
  int constant = isl_options_get_schedule_max_constant_term(ctx);
  isl_options_set_schedule_outer_coincidence(ctx, 1);
  isl_options_set_schedule_maximize_band_depth(ctx, 1);
  isl_options_set_schedule_max_coefficient(ctx, MAX_NUMBER);
  isl_options_set_schedule_max_constant_term(ctx, MAX_NUMBER);

  isl_schedule *schedule =
      run_scheduler(isl_union_set_copy(domain), gist(wide_order, domain),
                    gist(wide_parallel, domain), context);
  /* isl cannot carry some gisted dependences (seidel-2d): try them whole. */
  if (!schedule && isl_ctx_last_error(ctx) != isl_error_quota) {
    isl_ctx_reset_error(ctx);
    schedule = run_scheduler(isl_union_set_copy(domain),
                             isl_union_map_copy(wide_order),
                             isl_union_map_copy(wide_parallel), context);
  }
  isl_union_map_free(wide_order);
  isl_union_map_free(wide_parallel);
  isl_union_set_free(domain);

  isl_options_set_schedule_outer_coincidence(ctx, outer);
  isl_options_set_schedule_maximize_band_depth(ctx, depth);
  isl_options_set_schedule_max_coefficient(ctx, coefficient);
  isl_options_set_schedule_max_constant_term(ctx, constant);
  return schedule;
}
