/* plan_tree.c: which loops run where.
 *
 * For a subtree of the original schedule there are several plans:
 *   1. isl's schedule of the subtree: parallel loops as far out as possible;
 *   2. levels: instances with no dependence left among them, then those that
 *      waited for the first only, ... (index set splitting);
 *   3. the children of a sequence one after the other, each planned alone;
 *   4. the outermost loop kept as a loop of the host, its body planned alone;
 *   5. the outermost loops as the grid, if they are parallel as they stand;
 *   6. all of it in one thread.
 * Neighbouring kernels are fused where that saves launches (plan_fuse.c). The
 * cheapest plan by pacc_plan_cost is taken.
 */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/map.h>
#include <isl/schedule_node.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

enum { MAX_LEVELS = 6, MAX_LEVEL_PIECES = 16 };

/*===-- Levels ----------------------------------------------------------===*/

static isl_stat collect_piece(__isl_take isl_basic_set *piece, void *user) {
  isl_union_set_list **list = user;
  isl_union_set *set = isl_union_set_from_set(isl_set_from_basic_set(piece));
  *list = isl_union_set_list_add(*list, set);
  return isl_stat_ok;
}

static isl_stat collect_pieces(__isl_take isl_set *set, void *user) {
  set = isl_set_make_disjoint(isl_set_coalesce(set));
  isl_stat status = isl_set_foreach_basic_set(set, collect_piece, user);
  isl_set_free(set);
  return status;
}

static isl_stat count_pieces(__isl_take isl_set *set, void *user) {
  int *n = user;
  isl_size pieces = isl_set_n_basic_set(set);
  isl_set_free(set);
  *n += pieces;
  return pieces < 0 ? isl_stat_error : isl_stat_ok;
}

/* What is left of sets of many pieces are many more: isl is not asked then. */
static bool has_few_pieces(__isl_keep isl_union_set *set) {
  int n = 0;
  return isl_union_set_foreach_set(set, count_pieces, &n) == isl_stat_ok &&
         n <= MAX_LEVEL_PIECES;
}

/* Splits `domain` into levels: the instances that depend on none, those that
 * depend on the first level only, ... Each piece of a level is a kernel whose
 * instances are all independent. NULL if MAX_LEVELS do not suffice. */
static struct pacc_plan *plan_levels(const struct pacc_planner *planner,
                                     __isl_keep isl_union_set *domain,
                                     __isl_keep isl_union_map *prefix) {
  isl_ctx *ctx = isl_union_set_get_ctx(domain);
  isl_union_map *deps =
      pacc_within(isl_union_map_copy(planner->deps->order), prefix);
  isl_union_set *rest = isl_union_set_copy(domain);
  isl_union_set_list *pieces = isl_union_set_list_alloc(ctx, 8);
  for (int level = 0;
       level < MAX_LEVELS && isl_union_set_is_empty(rest) == isl_bool_false;
       ++level) {
    deps = isl_union_map_intersect_domain(deps, isl_union_set_copy(rest));
    deps = isl_union_map_intersect_range(deps, isl_union_set_copy(rest));
    isl_union_set *waiting =
        isl_union_set_coalesce(isl_union_map_range(isl_union_map_copy(deps)));
    if (!has_few_pieces(waiting) || !has_few_pieces(rest)) {
      isl_union_set_free(waiting);
      break;
    }
    isl_union_set *ready =
        isl_union_set_subtract(isl_union_set_copy(rest), waiting);
    ready = isl_union_set_coalesce(ready);
    if (isl_union_set_is_empty(ready) != isl_bool_false ||
        isl_union_set_foreach_set(ready, collect_pieces, &pieces) < 0 ||
        isl_union_set_list_n_union_set(pieces) > MAX_LEVEL_PIECES) {
      isl_union_set_free(ready);
      break;
    }
    rest = isl_union_set_coalesce(isl_union_set_subtract(rest, ready));
  }
  isl_union_map_free(deps);
  struct pacc_plan *plan = NULL;
  isl_size n = isl_union_set_list_n_union_set(pieces);
  if (n > 0 && isl_union_set_is_empty(rest) == isl_bool_true)
    plan = pacc_plan_alloc(PLAN_SEQUENCE, isl_union_set_copy(domain), NULL, n);
  isl_union_set_free(rest);
  for (int i = 0; plan && i < n; ++i) {
    isl_union_set *piece = isl_union_set_list_get_union_set(pieces, i);
    plan->child[i] = pacc_plan_with_isl(planner, piece, prefix);
    isl_union_set_free(piece);
    if (!plan->child[i]) {
      pacc_plan_free(plan);
      plan = NULL;
    }
  }
  isl_union_set_list_free(pieces);
  if (plan)
    pacc_plan_fuse(planner, plan, prefix);
  return plan;
}

/*===-- Along the original tree -----------------------------------------===*/

static struct pacc_plan *plan_subtree(const struct pacc_planner *planner,
                                      __isl_keep isl_schedule_node *node,
                                      __isl_keep isl_union_map *prefix);

static struct pacc_plan *plan_subtrees(const struct pacc_planner *planner,
                                       __isl_keep isl_schedule_node *node,
                                       __isl_keep isl_union_map *prefix) {
  isl_size n = isl_schedule_node_n_children(node);
  struct pacc_plan *plan = pacc_plan_alloc(
      PLAN_SEQUENCE, isl_schedule_node_get_domain(node), NULL, n < 0 ? 0 : n);
  for (int i = 0; plan && i < n; ++i) {
    isl_schedule_node *child = isl_schedule_node_get_child(node, i);
    plan->child[i] = plan_subtree(planner, child, prefix);
    isl_schedule_node_free(child);
    if (!plan->child[i]) {
      pacc_plan_free(plan);
      return NULL;
    }
  }
  if (plan)
    pacc_plan_fuse(planner, plan, prefix);
  return plan;
}

static struct pacc_plan *plan_host_loop(const struct pacc_planner *planner,
                                        __isl_keep isl_schedule_node *band,
                                        __isl_keep isl_union_map *prefix) {
  isl_multi_union_pw_aff *loop = isl_multi_union_pw_aff_reset_tuple_id(
      isl_schedule_node_band_get_partial_schedule(band), isl_dim_set);
  isl_union_map *inner = pacc_append(prefix, loop);
  isl_schedule_node *child = isl_schedule_node_get_child(band, 0);
  struct pacc_plan *plan =
      pacc_plan_wrap(PLAN_LOOP, loop, plan_subtree(planner, child, inner));
  isl_schedule_node_free(child);
  isl_union_map_free(inner);
  return plan;
}

/* The loop nest as it stands, with the parallel loops at its top as the grid.
 */
static struct pacc_plan *plan_in_place(const struct pacc_planner *planner,
                                       __isl_keep isl_schedule_node *band,
                                       __isl_keep isl_union_map *prefix) {
  isl_union_map *deps =
      pacc_within(isl_union_map_copy(planner->deps->parallel), prefix);
  isl_multi_union_pw_aff *grid = NULL;
  isl_schedule_node *node = isl_schedule_node_copy(band);
  bool parallel[PACC_MAX_DIMS] = {false};
  int n = 0;
  while (n < PACC_MAX_DIMS &&
         isl_schedule_node_get_type(node) == isl_schedule_node_band) {
    isl_multi_union_pw_aff *loop = isl_multi_union_pw_aff_reset_tuple_id(
        isl_schedule_node_band_get_partial_schedule(node), isl_dim_set);
    if (isl_multi_union_pw_aff_dim(loop, isl_dim_set) != 1 ||
        !pacc_loop_is_parallel(deps, loop, 0)) {
      isl_multi_union_pw_aff_free(loop);
      break;
    }
    grid = grid ? isl_multi_union_pw_aff_flat_range_product(grid, loop) : loop;
    parallel[n++] = true;
    node = isl_schedule_node_child(node, 0);
    while (isl_schedule_node_get_type(node) == isl_schedule_node_mark)
      node = isl_schedule_node_child(node, 0);
  }
  isl_union_map_free(deps);
  struct pacc_plan *plan = NULL;
  if (grid)
    plan = pacc_plan_kernel(planner, node, grid, parallel);
  isl_schedule_node_free(node);
  isl_multi_union_pw_aff_free(grid);
  return plan;
}

/* Do the kernels of `plan` give each instance the thread that `grid` does? */
static bool has_threads_of(const struct pacc_plan *plan,
                           __isl_keep isl_union_map *grid) {
  if (plan->type == PLAN_KERNEL) {
    isl_union_map *own = pacc_loop_map(plan->loop);
    own = isl_union_map_intersect_domain(own, isl_union_set_copy(plan->domain));
    isl_union_map *other = isl_union_map_intersect_domain(
        isl_union_map_copy(grid), isl_union_set_copy(plan->domain));
    bool same = isl_union_map_is_equal(own, other) == isl_bool_true;
    isl_union_map_free(own);
    isl_union_map_free(other);
    return same;
  }
  for (int i = 0; i < plan->n; ++i)
    if (!has_threads_of(plan->child[i], grid))
      return false;
  return true;
}

/* One kernel of the loop nest as it stands, if it has the threads that all
 * kernels of `plan` have; else `plan`, which is consumed. */
static struct pacc_plan *keep_together(const struct pacc_planner *planner,
                                       __isl_keep isl_schedule_node *band,
                                       struct pacc_plan *plan) {
  if (plan->type != PLAN_SEQUENCE || plan->n < 2)
    return plan;
  struct pacc_plan *one = plan_in_place(planner, band, NULL);
  if (!one)
    return plan;
  isl_union_map *grid = pacc_loop_map(one->loop);
  bool same = has_threads_of(plan, grid);
  isl_union_map_free(grid);
  if (same)
    return pacc_plan_cheaper(planner, NULL, one, plan);
  pacc_plan_free(one);
  return plan;
}

static struct pacc_plan *plan_subtree(const struct pacc_planner *planner,
                                      __isl_keep isl_schedule_node *node,
                                      __isl_keep isl_union_map *prefix) {
  enum isl_schedule_node_type type = isl_schedule_node_get_type(node);
  if (type == isl_schedule_node_domain || type == isl_schedule_node_filter ||
      type == isl_schedule_node_mark || type == isl_schedule_node_context) {
    isl_schedule_node *child = isl_schedule_node_get_child(node, 0);
    struct pacc_plan *plan = plan_subtree(planner, child, prefix);
    isl_schedule_node_free(child);
    return plan;
  }
  isl_union_set *domain = isl_schedule_node_get_domain(node);
  if (type == isl_schedule_node_leaf)
    return pacc_plan_wrap(PLAN_KERNEL, NULL, pacc_plan_leaf(domain));

  struct pacc_plan *plan = pacc_plan_with_isl(planner, domain, prefix);
  if (plan)
    pacc_plan_fuse(planner, plan, prefix);
  if (!plan || !pacc_plan_is_fully_parallel(plan)) {
    plan = pacc_plan_cheaper(planner, prefix, plan,
                             plan_levels(planner, domain, prefix));
    if (type == isl_schedule_node_band) {
      plan = pacc_plan_cheaper(planner, prefix, plan,
                               plan_in_place(planner, node, prefix));
      plan = pacc_plan_cheaper(planner, prefix, plan,
                               plan_host_loop(planner, node, prefix));
    } else {
      plan = pacc_plan_cheaper(planner, prefix, plan,
                               plan_subtrees(planner, node, prefix));
    }
    plan = pacc_plan_cheaper(
        planner, prefix, plan,
        pacc_plan_wrap(
            PLAN_KERNEL, NULL,
            pacc_plan_from_node(planner, node, NULL, /*in_kernel=*/true)));
  } else if (type == isl_schedule_node_band && !prefix) {
    plan = keep_together(planner, node, plan);
  }
  isl_union_set_free(domain);
  return plan;
}

struct pacc_plan *pacc_plan_compute(struct pacc_planner *planner) {
  isl_schedule_node *root = isl_schedule_get_root(planner->scop->schedule);
  struct pacc_plan *plan = plan_subtree(planner, root, NULL);
  isl_schedule_node_free(root);
  return pacc_plan_drop_fixed_loops(plan, NULL);
}
