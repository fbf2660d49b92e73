/* plan_isl.c: plans from isl's schedule, for a whole region or for what is left
 * below fixed loops of the host. */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/map.h>
#include <isl/schedule_node.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <string.h>

enum { MAX_MEMBERS = 32 };

/*===-- From a schedule tree to a plan ----------------------------------===*/

static struct pacc_plan *plan_child(const struct pacc_planner *planner,
                                    __isl_keep isl_schedule_node *node,
                                    __isl_keep isl_union_map *prefix,
                                    bool in_kernel) {
  isl_schedule_node *child = isl_schedule_node_get_child(node, 0);
  struct pacc_plan *plan =
      pacc_plan_from_node(planner, child, prefix, in_kernel);
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
    plan->child[i] = pacc_plan_from_node(planner, child, prefix, in_kernel);
    isl_schedule_node_free(child);
    if (!plan->child[i]) {
      pacc_plan_free(plan);
      return NULL;
    }
  }
  return plan;
}

struct pacc_plan *pacc_plan_kernel(const struct pacc_planner *planner,
                                   __isl_keep isl_schedule_node *inner,
                                   __isl_keep isl_multi_union_pw_aff *loop,
                                   const bool *parallel) {
  isl_size n = isl_multi_union_pw_aff_dim(loop, isl_dim_set);
  isl_union_set *domain = isl_schedule_node_get_domain(inner);
  int grid[PACC_MAX_DIMS], rest[MAX_MEMBERS], n_grid = 0, n_rest = 0, best = -1;
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
    if (!used && n_rest < MAX_MEMBERS)
      rest[n_rest++] = m;
  }
  struct pacc_plan *body = pacc_plan_from_node(planner, inner, NULL, true);
  if (n_rest)
    body = pacc_plan_wrap(PLAN_LOOP, pacc_loop_pick(loop, rest, n_rest), body);
  isl_multi_union_pw_aff *picked = pacc_loop_pick(loop, grid, n_grid);
  if (!picked) {
    pacc_plan_free(body);
    return NULL;
  }
  return pacc_plan_wrap(PLAN_KERNEL, picked, body);
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

/* The loop of a band, and which of its members isl found to be parallel. */
struct band {
  isl_multi_union_pw_aff *loop;
  int n;
  int n_parallel;
  bool parallel[MAX_MEMBERS];
};

/* False if the band has too many members. */
static bool band_init(struct band *band, __isl_keep isl_schedule_node *node) {
  *band = (struct band){0};
  band->loop = isl_multi_union_pw_aff_reset_tuple_id(
      isl_schedule_node_band_get_partial_schedule(node), isl_dim_set);
  band->n = isl_multi_union_pw_aff_dim(band->loop, isl_dim_set);
  if (band->n < 1 || band->n > MAX_MEMBERS) {
    band->loop = isl_multi_union_pw_aff_free(band->loop);
    return false;
  }
  for (int m = 0; m < band->n; ++m) {
    band->parallel[m] =
        isl_schedule_node_band_member_get_coincident(node, m) == isl_bool_true;
    band->n_parallel += band->parallel[m];
  }
  return true;
}

/* Adds the members of the band at `node`, which is right inside. False, and the
 * band as it was, if that gives no larger grid. */
static bool band_extend(struct band *band, __isl_keep isl_schedule_node *node) {
  struct band inner;
  /* What a thread runs through stays outside of what is inside of it. */
  if (band->n_parallel < band->n || band->n >= PACC_MAX_DIMS ||
      isl_schedule_node_get_type(node) != isl_schedule_node_band ||
      !band_init(&inner, node))
    return false;
  if (!inner.n_parallel || band->n + inner.n > MAX_MEMBERS) {
    isl_multi_union_pw_aff_free(inner.loop);
    return false;
  }
  memcpy(band->parallel + band->n, inner.parallel,
         (size_t)inner.n * sizeof(bool));
  band->n += inner.n;
  band->n_parallel += inner.n_parallel;
  band->loop =
      isl_multi_union_pw_aff_flat_range_product(band->loop, inner.loop);
  return true;
}

/* A band with parallel members. isl makes several bands where the order of
 * local scalars does not let it swap loops: as threads have these for
 * themselves, the inner bands can be part of the grid, too. Consumes the loop.
 */
static struct pacc_plan *plan_parallel(const struct pacc_planner *planner,
                                       __isl_take isl_schedule_node *below,
                                       struct band *band,
                                       __isl_keep isl_union_map *prefix) {
  struct pacc_plan *plan =
      pacc_plan_kernel(planner, below, band->loop, band->parallel);
  while (plan && band_extend(band, below)) {
    below = isl_schedule_node_child(below, 0);
    plan = pacc_plan_cheaper(
        planner, prefix, plan,
        pacc_plan_kernel(planner, below, band->loop, band->parallel));
  }
  isl_schedule_node_free(below);
  isl_multi_union_pw_aff_free(band->loop);
  return plan;
}

static struct pacc_plan *plan_band(const struct pacc_planner *planner,
                                   __isl_keep isl_schedule_node *band,
                                   __isl_keep isl_union_map *prefix) {
  struct band self;
  if (!band_init(&self, band))
    return NULL;
  isl_schedule_node *below = isl_schedule_node_get_child(band, 0);
  if (self.n_parallel)
    return plan_parallel(planner, below, &self, prefix);
  isl_multi_union_pw_aff *loop = self.loop;
  const int n = self.n;
  bool parallel[MAX_MEMBERS], any = false;

  /* Nothing is parallel: the first member becomes a loop of the host ... */
  isl_multi_union_pw_aff *first = pacc_loop_members(loop, 0, 1);
  isl_union_map *inner = pacc_append(prefix, first);
  struct pacc_plan *plan = NULL;
  if (n == 1) {
    plan = pacc_plan_wrap(PLAN_LOOP, first,
                          plan_child(planner, band, inner, false));
  } else {
    isl_union_map *deps =
        pacc_within(isl_union_map_copy(planner->deps->parallel), inner);
    isl_multi_union_pw_aff *others = pacc_loop_members(loop, 1, n - 1);
    for (int m = 0; m < n - 1; ++m) {
      parallel[m] = pacc_loop_is_parallel(deps, others, m);
      any |= parallel[m];
    }
    isl_union_map_free(deps);
    if (any)
      plan = pacc_plan_wrap(PLAN_LOOP, first,
                            pacc_plan_kernel(planner, below, others, parallel));
    else
      isl_multi_union_pw_aff_free(first);
    /* ... or a wavefront through all of them does. */
    if (isl_schedule_node_band_get_permutable(band) == isl_bool_true) {
      for (int m = 0; m < n - 1; ++m)
        parallel[m] = true;
      plan = pacc_plan_cheaper(
          planner, prefix, plan,
          pacc_plan_wrap(PLAN_LOOP, wavefront_of(loop),
                         pacc_plan_kernel(planner, below, others, parallel)));
    }
    isl_multi_union_pw_aff_free(others);
  }
  isl_schedule_node_free(below);
  isl_union_map_free(inner);
  isl_multi_union_pw_aff_free(loop);
  return plan;
}

struct pacc_plan *pacc_plan_from_node(const struct pacc_planner *planner,
                                      __isl_keep isl_schedule_node *node,
                                      __isl_keep isl_union_map *prefix,
                                      bool in_kernel) {
  switch (isl_schedule_node_get_type(node)) {
  case isl_schedule_node_leaf: {
    struct pacc_plan *plan = pacc_plan_leaf(isl_schedule_node_get_domain(node));
    return in_kernel ? plan : pacc_plan_wrap(PLAN_KERNEL, NULL, plan);
  }
  case isl_schedule_node_sequence:
  case isl_schedule_node_set:
    return plan_children(planner, node, prefix, in_kernel);
  case isl_schedule_node_band:
    if (!in_kernel)
      return plan_band(planner, node, prefix);
    return pacc_plan_wrap(
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

/*===-- Below fixed loops of the host -----------------------------------===*/

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

struct pacc_plan *pacc_plan_with_isl(const struct pacc_planner *planner,
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
    plan = pacc_plan_from_node(&inner, root, NULL, false);
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
