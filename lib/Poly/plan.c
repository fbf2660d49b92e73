/* plan.c: which loops run where.
 *
 * For a subtree of the original schedule there are several plans:
 *   1. isl's schedule of the subtree: parallel loops as far out as possible;
 *   2. levels: instances with no dependence left among them, then those that
 *      waited for the first only, ... (index set splitting);
 *   3. the children of a sequence one after the other, each planned alone;
 *   4. the outermost loop kept as a loop of the host, its body planned alone;
 *   5. the outermost loops as the grid, if they are parallel as they stand;
 *   6. all of it in one thread.
 * The cheapest one by pacc_plan_cost is taken.
 */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/schedule_node.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <stdlib.h>

/* The rough cost model, in seconds. A launch that follows another costs a few
 * microseconds; a statement instance in a thread that waits for its memory
 * about 50 ns; a full GPU finishes some 10^11 instances per second. */
static const double COST_LAUNCH = 4e-6;
static const double COST_INSTANCE = 50e-9;
static const double COST_INSTANCE_FULL = 1e-11;

enum { MAX_LEVELS = 6, MAX_LEVEL_PIECES = 16 };

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

/* A plan with one child; NULL (and nothing leaked) if the child is NULL. */
static struct pacc_plan *wrap(enum pacc_plan_type type,
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

static struct pacc_plan *leaf(__isl_take isl_union_set *domain) {
  return pacc_plan_alloc(PLAN_LEAF, domain, NULL, 0);
}

__isl_give isl_union_map *pacc_within(__isl_take isl_union_map *deps,
                                      __isl_keep isl_union_map *prefix) {
  if (!prefix)
    return deps;
  isl_union_map *same = isl_union_map_apply_range(
      isl_union_map_copy(prefix),
      isl_union_map_reverse(isl_union_map_copy(prefix)));
  return isl_union_map_intersect(deps, same);
}

__isl_give isl_union_map *pacc_append(__isl_keep isl_union_map *prefix,
                                      __isl_keep isl_multi_union_pw_aff *loop) {
  isl_union_map *map =
      isl_union_map_from_multi_union_pw_aff(isl_multi_union_pw_aff_copy(loop));
  if (!prefix)
    return map;
  return isl_union_map_flat_range_product(isl_union_map_copy(prefix), map);
}

/* Members first, first + 1, ... (count of them) of a multi-dimensional loop. */
static __isl_give isl_multi_union_pw_aff *
members(__isl_keep isl_multi_union_pw_aff *loop, int first, int count) {
  isl_multi_union_pw_aff *part = isl_multi_union_pw_aff_copy(loop);
  isl_size n = isl_multi_union_pw_aff_dim(loop, isl_dim_set);
  part = isl_multi_union_pw_aff_reset_tuple_id(part, isl_dim_set);
  part = isl_multi_union_pw_aff_drop_dims(part, isl_dim_set,
                                          (unsigned)(first + count),
                                          (unsigned)(n - first - count));
  return isl_multi_union_pw_aff_drop_dims(part, isl_dim_set, 0,
                                          (unsigned)first);
}

/* The members order[0], ..., order[count - 1]. */
static __isl_give isl_multi_union_pw_aff *
pick(__isl_keep isl_multi_union_pw_aff *loop, const int *order, int count) {
  isl_multi_union_pw_aff *result = NULL;
  for (int i = 0; i < count; ++i) {
    isl_multi_union_pw_aff *one = members(loop, order[i], 1);
    result =
        result ? isl_multi_union_pw_aff_flat_range_product(result, one) : one;
  }
  return result;
}

/* Is member `pos` the same at both ends of every dependence? */
static bool is_parallel(__isl_keep isl_union_map *deps,
                        __isl_keep isl_multi_union_pw_aff *loop, int pos) {
  isl_multi_union_pw_aff *one = members(loop, pos, 1);
  isl_union_map *value = isl_union_map_from_multi_union_pw_aff(one);
  isl_union_map *moved = isl_union_map_apply_domain(isl_union_map_copy(deps),
                                                    isl_union_map_copy(value));
  moved = isl_union_map_apply_range(moved, value);
  if (isl_union_map_is_empty(moved) == isl_bool_true) {
    isl_union_map_free(moved);
    return true;
  }
  isl_map *map = isl_map_from_union_map(moved);
  isl_map *same = isl_map_identity(isl_map_get_space(map));
  bool result = isl_map_is_subset(map, same) == isl_bool_true;
  isl_map_free(map);
  isl_map_free(same);
  return result;
}

/*===-- Cost --------------------------------------------------------------===*/

static double kernel_cost(const struct pacc_planner *planner,
                          const struct pacc_plan *plan,
                          __isl_keep isl_union_map *prefix) {
  double launches =
      prefix ? pacc_nominal_trips(planner->nominal, plan->domain, prefix, NULL)
             : 1;
  double threads = 1;
  if (plan->loop) {
    isl_union_map *grid = isl_union_map_from_multi_union_pw_aff(
        isl_multi_union_pw_aff_copy(plan->loop));
    threads = pacc_nominal_trips(planner->nominal, plan->domain, grid, NULL);
    isl_union_map_free(grid);
  }
  double work =
      pacc_nominal_instances(planner->nominal, plan->domain) / launches;
  double wait = work / threads * COST_INSTANCE;
  /* Threads without work still have to find that out. */
  double busy = (work > threads ? work : threads) * COST_INSTANCE_FULL;
  return launches * (COST_LAUNCH + (wait > busy ? wait : busy));
}

double pacc_plan_cost(const struct pacc_planner *planner,
                      const struct pacc_plan *plan,
                      __isl_keep isl_union_map *prefix) {
  switch (plan->type) {
  case PLAN_KERNEL:
    return kernel_cost(planner, plan, prefix);
  case PLAN_LOOP: {
    isl_union_map *inner = pacc_append(prefix, plan->loop);
    double cost = pacc_plan_cost(planner, plan->child[0], inner);
    isl_union_map_free(inner);
    return cost;
  }
  case PLAN_SEQUENCE:
  case PLAN_LEAF:
    break;
  }
  double cost = 0;
  for (int i = 0; i < plan->n; ++i)
    cost += pacc_plan_cost(planner, plan->child[i], prefix);
  return cost;
}

/* Keeps the cheaper of two plans; either may be NULL. */
static struct pacc_plan *cheaper(const struct pacc_planner *planner,
                                 __isl_keep isl_union_map *prefix,
                                 struct pacc_plan *a, struct pacc_plan *b) {
  if (!a || !b)
    return a ? a : b;
  bool keep =
      pacc_plan_cost(planner, a, prefix) <= pacc_plan_cost(planner, b, prefix);
  pacc_plan_free(keep ? b : a);
  return keep ? a : b;
}

/* Does the plan launch each of its kernels once, every one of them parallel? */
static bool is_fully_parallel(const struct pacc_plan *plan) {
  if (plan->type == PLAN_KERNEL)
    return plan->loop != NULL;
  if (plan->type != PLAN_SEQUENCE)
    return false;
  for (int i = 0; i < plan->n; ++i)
    if (!is_fully_parallel(plan->child[i]))
      return false;
  return true;
}

/*===-- From isl's schedule to a plan -------------------------------------===*/

static struct pacc_plan *plan_node(const struct pacc_planner *planner,
                                   __isl_keep isl_schedule_node *node,
                                   __isl_keep isl_union_map *prefix,
                                   bool in_kernel);

static struct pacc_plan *plan_child(const struct pacc_planner *planner,
                                    __isl_keep isl_schedule_node *node,
                                    __isl_keep isl_union_map *prefix,
                                    bool in_kernel) {
  isl_schedule_node *child = isl_schedule_node_get_child(node, 0);
  struct pacc_plan *plan = plan_node(planner, child, prefix, in_kernel);
  isl_schedule_node_free(child);
  return plan;
}

static struct pacc_plan *plan_children(const struct pacc_planner *planner,
                                       __isl_keep isl_schedule_node *node,
                                       __isl_keep isl_union_map *prefix,
                                       bool in_kernel) {
  isl_size n = isl_schedule_node_n_children(node);
  struct pacc_plan *plan = pacc_plan_alloc(
      PLAN_SEQUENCE, isl_schedule_node_get_domain(node), NULL, n < 0 ? 0 : n);
  for (int i = 0; plan && i < n; ++i) {
    isl_schedule_node *child = isl_schedule_node_get_child(node, i);
    plan->child[i] = plan_node(planner, child, prefix, in_kernel);
    isl_schedule_node_free(child);
    if (!plan->child[i]) {
      pacc_plan_free(plan);
      return NULL;
    }
  }
  return plan;
}

/* A kernel whose grid is made of the parallel members of `loop`. The rest of
 * the members run inside the thread, in their order, and then `inner`. */
static struct pacc_plan *make_kernel(const struct pacc_planner *planner,
                                     __isl_keep isl_schedule_node *inner,
                                     __isl_keep isl_multi_union_pw_aff *loop,
                                     const bool *parallel) {
  isl_size n = isl_multi_union_pw_aff_dim(loop, isl_dim_set);
  isl_union_set *domain = isl_schedule_node_get_domain(inner);
  int grid[PACC_MAX_DIMS], rest[32], n_grid = 0, n_rest = 0, best = -1;
  double best_score = -1;
  for (int m = 0; m < n; ++m) {
    if (!parallel[m])
      continue;
    double score = pacc_member_contiguity(planner, domain, loop, m);
    if (score >= best_score) {
      best_score = score;
      best = m;
    }
  }
  isl_union_set_free(domain);
  grid[n_grid++] = best;
  for (int m = n - 1; m >= 0; --m)
    if (parallel[m] && m != best && n_grid < PACC_MAX_DIMS)
      grid[n_grid++] = m;
  for (int m = 0; m < n; ++m) {
    bool used = false;
    for (int g = 0; g < n_grid; ++g)
      used |= grid[g] == m;
    if (!used && n_rest < 32)
      rest[n_rest++] = m;
  }
  struct pacc_plan *body = plan_node(planner, inner, NULL, true);
  if (n_rest)
    body = wrap(PLAN_LOOP, pick(loop, rest, n_rest), body);
  isl_multi_union_pw_aff *picked = pick(loop, grid, n_grid);
  if (!picked) {
    pacc_plan_free(body);
    return NULL;
  }
  return wrap(PLAN_KERNEL, picked, body);
}

/* The sum of all members: every dependence that a permutable band carries
 * grows it, so that the other members are parallel in each of its steps. */
static __isl_give isl_multi_union_pw_aff *
wavefront_of(__isl_keep isl_multi_union_pw_aff *loop) {
  isl_size n = isl_multi_union_pw_aff_dim(loop, isl_dim_set);
  isl_union_pw_aff *sum = isl_multi_union_pw_aff_get_union_pw_aff(loop, 0);
  for (int m = 1; m < n; ++m)
    sum = isl_union_pw_aff_add(
        sum, isl_multi_union_pw_aff_get_union_pw_aff(loop, m));
  return isl_multi_union_pw_aff_from_union_pw_aff(sum);
}

static struct pacc_plan *plan_band(const struct pacc_planner *planner,
                                   __isl_keep isl_schedule_node *band,
                                   __isl_keep isl_union_map *prefix) {
  isl_multi_union_pw_aff *loop =
      isl_schedule_node_band_get_partial_schedule(band);
  loop = isl_multi_union_pw_aff_reset_tuple_id(loop, isl_dim_set);
  isl_size n = isl_multi_union_pw_aff_dim(loop, isl_dim_set);
  bool parallel[32] = {false}, any = false;
  if (n < 1 || n > 32) {
    isl_multi_union_pw_aff_free(loop);
    return NULL;
  }
  for (int m = 0; m < n; ++m) {
    parallel[m] =
        isl_schedule_node_band_member_get_coincident(band, m) == isl_bool_true;
    any |= parallel[m];
  }
  isl_schedule_node *below = isl_schedule_node_get_child(band, 0);
  if (any) {
    struct pacc_plan *plan = make_kernel(planner, below, loop, parallel);
    isl_schedule_node_free(below);
    isl_multi_union_pw_aff_free(loop);
    return plan;
  }

  /* Nothing is parallel: the first member becomes a loop of the host ... */
  isl_multi_union_pw_aff *first = members(loop, 0, 1);
  isl_union_map *inner = pacc_append(prefix, first);
  struct pacc_plan *plan = NULL;
  if (n == 1) {
    plan = wrap(PLAN_LOOP, first, plan_child(planner, band, inner, false));
  } else {
    isl_union_map *deps =
        pacc_within(isl_union_map_copy(planner->deps->parallel), inner);
    isl_multi_union_pw_aff *others = members(loop, 1, n - 1);
    for (int m = 0; m < n - 1; ++m) {
      parallel[m] = is_parallel(deps, others, m);
      any |= parallel[m];
    }
    isl_union_map_free(deps);
    if (any)
      plan =
          wrap(PLAN_LOOP, first, make_kernel(planner, below, others, parallel));
    else
      isl_multi_union_pw_aff_free(first);
    /* ... or a wavefront through all of them does. */
    if (isl_schedule_node_band_get_permutable(band) == isl_bool_true) {
      for (int m = 0; m < n - 1; ++m)
        parallel[m] = true;
      plan = cheaper(planner, prefix, plan,
                     wrap(PLAN_LOOP, wavefront_of(loop),
                          make_kernel(planner, below, others, parallel)));
    }
    isl_multi_union_pw_aff_free(others);
  }
  isl_schedule_node_free(below);
  isl_union_map_free(inner);
  isl_multi_union_pw_aff_free(loop);
  return plan;
}

static struct pacc_plan *plan_node(const struct pacc_planner *planner,
                                   __isl_keep isl_schedule_node *node,
                                   __isl_keep isl_union_map *prefix,
                                   bool in_kernel) {
  switch (isl_schedule_node_get_type(node)) {
  case isl_schedule_node_leaf: {
    struct pacc_plan *plan = leaf(isl_schedule_node_get_domain(node));
    return in_kernel ? plan : wrap(PLAN_KERNEL, NULL, plan);
  }
  case isl_schedule_node_sequence:
  case isl_schedule_node_set:
    return plan_children(planner, node, prefix, in_kernel);
  case isl_schedule_node_band:
    if (!in_kernel)
      return plan_band(planner, node, prefix);
    return wrap(
        PLAN_LOOP,
        isl_multi_union_pw_aff_reset_tuple_id(
            isl_schedule_node_band_get_partial_schedule(node), isl_dim_set),
        plan_child(planner, node, prefix, true));
  case isl_schedule_node_domain:
  case isl_schedule_node_filter:
  case isl_schedule_node_mark:
  case isl_schedule_node_context:
    return plan_child(planner, node, prefix, in_kernel);
  default:
    return NULL;
  }
}

/*===-- Planning below fixed loops of the host
 * -----------------------------===*/

/* { S[..] : prefix(S) = (pacc_p0, pacc_p1, ...) }: the host's loops become
 * parameters, so that isl leaves them alone. */
static __isl_give isl_union_set *fix_prefix(__isl_take isl_union_set *domain,
                                            __isl_keep isl_union_map *prefix) {
  if (!prefix)
    return domain;
  isl_union_set *points = isl_union_set_apply(isl_union_set_copy(domain),
                                              isl_union_map_copy(prefix));
  isl_set *reached = isl_set_from_union_set(points);
  isl_set *at = isl_set_universe(isl_set_get_space(reached));
  isl_set_free(reached);
  isl_size n = isl_set_dim(at, isl_dim_set);
  isl_size first = isl_set_dim(at, isl_dim_param);
  at = isl_set_add_dims(at, isl_dim_param, (unsigned)n);
  for (int i = 0; i < n; ++i) {
    char name[24];
    snprintf(name, sizeof(name), "pacc_p%d", i);
    at = isl_set_set_dim_name(at, isl_dim_param, (unsigned)(first + i), name);
    at = isl_set_equate(at, isl_dim_param, first + i, isl_dim_set, i);
  }
  isl_union_map *map = isl_union_map_intersect_range(
      isl_union_map_copy(prefix), isl_union_set_from_set(at));
  return isl_union_set_intersect(domain, isl_union_map_domain(map));
}

/* The inverse, for anything that only holds on the fixed domain. */
static __isl_give isl_union_map *unfix_map(__isl_take isl_union_map *map,
                                           __isl_keep isl_union_set *fixed) {
  map = isl_union_map_intersect_domain(map, isl_union_set_copy(fixed));
  for (int i = 0;; ++i) {
    char name[24];
    snprintf(name, sizeof(name), "pacc_p%d", i);
    int pos = isl_union_map_find_dim_by_name(map, isl_dim_param, name);
    if (pos < 0)
      return map;
    map = isl_union_map_project_out(map, isl_dim_param, (unsigned)pos, 1);
  }
}

static __isl_give isl_union_set *unfix_set(__isl_take isl_union_set *set,
                                           __isl_keep isl_union_set *fixed) {
  isl_union_map *map = isl_union_map_from_domain(set);
  return isl_union_map_domain(unfix_map(map, fixed));
}

static __isl_give isl_multi_union_pw_aff *
unfix_loop(__isl_take isl_multi_union_pw_aff *loop,
           __isl_keep isl_union_set *fixed, __isl_keep isl_union_set *domain) {
  isl_union_map *map =
      unfix_map(isl_union_map_from_multi_union_pw_aff(loop), fixed);
  loop = isl_multi_union_pw_aff_from_union_map(map);
  return isl_multi_union_pw_aff_gist(loop, isl_union_set_copy(domain));
}

static bool unfix_plan(struct pacc_plan *plan,
                       __isl_keep isl_union_set *fixed) {
  plan->domain = unfix_set(plan->domain, fixed);
  bool has_loop = plan->loop != NULL;
  if (has_loop)
    plan->loop = unfix_loop(plan->loop, fixed, plan->domain);
  if (!plan->domain || (has_loop && !plan->loop))
    return false;
  for (int i = 0; i < plan->n; ++i)
    if (!unfix_plan(plan->child[i], fixed))
      return false;
  return true;
}

/* isl's schedule for the instances of `domain` within one iteration of the
 * host's loops. */
static struct pacc_plan *plan_with_isl(const struct pacc_planner *planner,
                                       __isl_keep isl_union_set *domain,
                                       __isl_keep isl_union_map *prefix) {
  isl_union_set *fixed = fix_prefix(isl_union_set_copy(domain), prefix);
  struct pacc_dependences deps = {isl_union_map_copy(planner->deps->order),
                                  isl_union_map_copy(planner->deps->parallel),
                                  NULL, NULL};
  deps.order =
      isl_union_map_intersect_domain(deps.order, isl_union_set_copy(fixed));
  deps.order =
      isl_union_map_intersect_range(deps.order, isl_union_set_copy(fixed));
  deps.parallel =
      isl_union_map_intersect_domain(deps.parallel, isl_union_set_copy(fixed));
  deps.parallel =
      isl_union_map_intersect_range(deps.parallel, isl_union_set_copy(fixed));

  isl_schedule *schedule =
      pacc_schedule_compute(isl_union_set_copy(fixed), deps.order,
                            deps.parallel, planner->scop->context);
  struct pacc_plan *plan = NULL;
  if (schedule) {
    struct pacc_planner inner = *planner;
    inner.deps = &deps;
    isl_schedule_node *root = isl_schedule_get_root(schedule);
    plan = plan_node(&inner, root, NULL, false);
    isl_schedule_node_free(root);
    isl_schedule_free(schedule);
    if (plan && prefix && !unfix_plan(plan, fixed)) {
      pacc_plan_free(plan);
      plan = NULL;
    }
  }
  pacc_dependences_clear(&deps);
  isl_union_set_free(fixed);
  return plan;
}

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
    isl_union_set *waiting = isl_union_map_range(isl_union_map_copy(deps));
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
    plan->child[i] = plan_with_isl(planner, piece, prefix);
    isl_union_set_free(piece);
    if (!plan->child[i]) {
      pacc_plan_free(plan);
      plan = NULL;
    }
  }
  isl_union_set_list_free(pieces);
  return plan;
}

/*===-- Planning along the original tree
 * -----------------------------------===*/

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
      wrap(PLAN_LOOP, loop, plan_subtree(planner, child, inner));
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
        !is_parallel(deps, loop, 0)) {
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
    plan = make_kernel(planner, node, grid, parallel);
  isl_schedule_node_free(node);
  isl_multi_union_pw_aff_free(grid);
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
    return wrap(PLAN_KERNEL, NULL, leaf(domain));

  struct pacc_plan *plan = plan_with_isl(planner, domain, prefix);
  if (!plan || !is_fully_parallel(plan)) {
    plan = cheaper(planner, prefix, plan, plan_levels(planner, domain, prefix));
    if (type == isl_schedule_node_band) {
      plan =
          cheaper(planner, prefix, plan, plan_in_place(planner, node, prefix));
      plan =
          cheaper(planner, prefix, plan, plan_host_loop(planner, node, prefix));
    } else {
      plan =
          cheaper(planner, prefix, plan, plan_subtrees(planner, node, prefix));
    }
    plan = cheaper(planner, prefix, plan,
                   wrap(PLAN_KERNEL, NULL,
                        plan_node(planner, node, NULL, /*in_kernel=*/true)));
  }
  isl_union_set_free(domain);
  return plan;
}

struct pacc_plan *pacc_plan_compute(struct pacc_planner *planner) {
  isl_schedule_node *root = isl_schedule_get_root(planner->scop->schedule);
  struct pacc_plan *plan = plan_subtree(planner, root, NULL);
  isl_schedule_node_free(root);
  return plan;
}
