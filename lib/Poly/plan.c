/* plan.c: the plan as a data structure, and what its loops are made of. */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/map.h>
#include <isl/union_map.h>
#include <stdlib.h>

struct pacc_plan *pacc_plan_alloc(enum pacc_plan_type type,
                                  __isl_take isl_union_set *domain,
                                  __isl_take isl_multi_union_pw_aff *loop,
                                  int n_children) {
  struct pacc_plan *plan = calloc(1, sizeof(*plan));
  if (plan && n_children > 0)
    plan->child = calloc((size_t)n_children, sizeof(struct pacc_plan *));
  if (!plan || (n_children > 0 && !plan->child)) {
    free(plan);
    isl_union_set_free(domain);
    isl_multi_union_pw_aff_free(loop);
    return NULL;
  }
  plan->type = type;
  plan->domain = domain;
  plan->loop = loop;
  plan->n = n_children;
  return plan;
}

void pacc_plan_free(struct pacc_plan *plan) {
  if (!plan)
    return;
  for (int i = 0; i < plan->n; ++i)
    pacc_plan_free(plan->child[i]);
  free(plan->child);
  isl_union_set_free(plan->domain);
  isl_multi_union_pw_aff_free(plan->loop);
  free(plan);
}

struct pacc_plan *pacc_plan_wrap(enum pacc_plan_type type,
                                 __isl_take isl_multi_union_pw_aff *loop,
                                 struct pacc_plan *child) {
  if (!child) {
    isl_multi_union_pw_aff_free(loop);
    return NULL;
  }
  struct pacc_plan *plan =
      pacc_plan_alloc(type, isl_union_set_copy(child->domain), loop, 1);
  if (plan)
    plan->child[0] = child;
  else
    pacc_plan_free(child);
  return plan;
}

struct pacc_plan *pacc_plan_leaf(__isl_take isl_union_set *domain) {
  return pacc_plan_alloc(PLAN_LEAF, domain, NULL, 0);
}

__isl_give isl_union_map *pacc_within(__isl_take isl_union_map *deps,
                                      __isl_keep isl_union_map *prefix) {
  if (!prefix)
    return deps;
  return isl_union_map_eq_at_multi_union_pw_aff(
      deps, isl_multi_union_pw_aff_from_union_map(isl_union_map_copy(prefix)));
}

__isl_give isl_union_map *pacc_append(__isl_keep isl_union_map *prefix,
                                      __isl_keep isl_multi_union_pw_aff *loop) {
  isl_union_map *map = pacc_loop_map(loop);
  if (!prefix)
    return map;
  return isl_union_map_flat_range_product(isl_union_map_copy(prefix), map);
}

__isl_give isl_multi_union_pw_aff *
pacc_loop_members(__isl_keep isl_multi_union_pw_aff *loop, int first,
                  int count) {
  isl_multi_union_pw_aff *part = isl_multi_union_pw_aff_copy(loop);
  isl_size n = isl_multi_union_pw_aff_dim(loop, isl_dim_set);
  part = isl_multi_union_pw_aff_reset_tuple_id(part, isl_dim_set);
  part = isl_multi_union_pw_aff_drop_dims(part, isl_dim_set,
                                          (unsigned)(first + count),
                                          (unsigned)(n - first - count));
  return isl_multi_union_pw_aff_drop_dims(part, isl_dim_set, 0,
                                          (unsigned)first);
}

__isl_give isl_multi_union_pw_aff *
pacc_loop_pick(__isl_keep isl_multi_union_pw_aff *loop, const int *order,
               int count) {
  isl_multi_union_pw_aff *result = NULL;
  for (int i = 0; i < count; ++i) {
    isl_multi_union_pw_aff *one = pacc_loop_members(loop, order[i], 1);
    result =
        result ? isl_multi_union_pw_aff_flat_range_product(result, one) : one;
  }
  return result;
}

bool pacc_loop_is_parallel(__isl_keep isl_union_map *deps,
                           __isl_keep isl_multi_union_pw_aff *loop, int pos) {
  isl_multi_union_pw_aff *one = pacc_loop_members(loop, pos, 1);
  isl_union_map *forward = isl_union_map_lex_lt_at_multi_union_pw_aff(
      isl_union_map_copy(deps), isl_multi_union_pw_aff_copy(one));
  isl_union_map *backward =
      isl_union_map_lex_gt_at_multi_union_pw_aff(isl_union_map_copy(deps), one);
  bool result = isl_union_map_is_empty(forward) == isl_bool_true &&
                isl_union_map_is_empty(backward) == isl_bool_true;
  isl_union_map_free(forward);
  isl_union_map_free(backward);
  return result;
}

bool pacc_plan_is_fully_parallel(const struct pacc_plan *plan) {
  if (plan->type == PLAN_KERNEL)
    return plan->loop != NULL;
  if (plan->type != PLAN_SEQUENCE)
    return false;
  for (int i = 0; i < plan->n; ++i)
    if (!pacc_plan_is_fully_parallel(plan->child[i]))
      return false;
  return true;
}

/* Has the loop one iteration at most, wherever those around it stand? */
static bool is_fixed(__isl_keep isl_multi_union_pw_aff *loop,
                     __isl_keep isl_union_set *domain,
                     __isl_keep isl_union_map *prefix) {
  isl_union_map *values = isl_union_map_intersect_domain(
      pacc_loop_map(loop), isl_union_set_copy(domain));
  values = prefix
               ? isl_union_map_apply_domain(values, isl_union_map_copy(prefix))
               : isl_union_map_from_range(isl_union_map_range(values));
  bool result = isl_union_map_is_single_valued(values) == isl_bool_true;
  isl_union_map_free(values);
  return result;
}

struct pacc_plan *pacc_plan_drop_fixed_loops(struct pacc_plan *plan,
                                             __isl_keep isl_union_map *prefix) {
  if (!plan || plan->type == PLAN_KERNEL)
    return plan;
  isl_union_map *inner = isl_union_map_copy(prefix);
  bool drop = false;
  if (plan->type == PLAN_LOOP) {
    drop = is_fixed(plan->loop, plan->domain, prefix);
    if (!drop) {
      isl_union_map_free(inner);
      inner = pacc_append(prefix, plan->loop);
    }
  }
  for (int i = 0; i < plan->n; ++i)
    plan->child[i] = pacc_plan_drop_fixed_loops(plan->child[i], inner);
  isl_union_map_free(inner);
  if (!drop)
    return plan;
  struct pacc_plan *body = plan->child[0];
  plan->n = 0;
  pacc_plan_free(plan);
  return body;
}
