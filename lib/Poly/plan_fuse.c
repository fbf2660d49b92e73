/* plan_fuse.c: neighbouring kernels of a sequence become one launch.
 *
 * Two kernels become one in which each thread does its part of the first, then
 * its part of the second, if what the second needs of the first is done by the
 * same thread. Below a loop of the host every kernel is launched again and
 * again, so that small ones cost little but their launches. What runs once is
 * fused where it works on the same data, for that passes in registers then.
 */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/ilp.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>
#include <stdlib.h>

/* A fused kernel may take so much longer, and have so many more threads, by
 * estimates that are no better. */
static const double TOLERANCE = 1.1;

static int grid_dims(const struct pacc_plan *kernel) {
  isl_size n =
      kernel->loop ? isl_multi_union_pw_aff_dim(kernel->loop, isl_dim_set) : 0;
  return n < 0 ? 0 : n;
}

/* The kernel's grid, on its domain alone, as one of `dims` dimensions: its own
 * from number `first` on; the coordinates along the others are 0. */
static __isl_give isl_multi_union_pw_aff *
padded_grid(const struct pacc_plan *kernel, int dims, int first) {
  int own = grid_dims(kernel);
  isl_multi_union_pw_aff *grid = NULL;
  for (int d = 0; d < dims; d += d == first && own ? own : 1) {
    isl_multi_union_pw_aff *next;
    if (d == first && own) {
      next = isl_multi_union_pw_aff_intersect_domain(
          isl_multi_union_pw_aff_copy(kernel->loop),
          isl_union_set_copy(kernel->domain));
    } else {
      isl_val *zero = isl_val_zero(isl_union_set_get_ctx(kernel->domain));
      next = isl_multi_union_pw_aff_from_union_pw_aff(
          isl_union_pw_aff_val_on_domain(isl_union_set_copy(kernel->domain),
                                         zero));
    }
    grid = grid ? isl_multi_union_pw_aff_flat_range_product(grid, next) : next;
  }
  return grid;
}

static __isl_give isl_union_map *between(__isl_keep isl_union_map *deps,
                                         __isl_keep isl_union_set *from,
                                         __isl_keep isl_union_set *to,
                                         __isl_keep isl_union_map *prefix) {
  isl_union_map *some = isl_union_map_copy(deps);
  some = isl_union_map_intersect_domain(some, isl_union_set_copy(from));
  some = isl_union_map_intersect_range(some, isl_union_set_copy(to));
  return pacc_within(some, prefix);
}

/* Is every instance of `second` after those instances of `first` that it
 * depends on, if threads of `grid` (NULL: a single one) execute their part of
 * `first` and then their part of `second`? */
static bool is_legal(const struct pacc_planner *planner,
                     const struct pacc_plan *first,
                     const struct pacc_plan *second,
                     __isl_keep isl_multi_union_pw_aff *grid,
                     __isl_keep isl_union_map *prefix) {
  /* Scalars are private, and a thread that has one still keeps it in order. */
  isl_union_map *wrong =
      between(planner->deps->order, second->domain, first->domain, prefix);
  if (grid) {
    isl_union_map *forward =
        between(planner->deps->parallel, first->domain, second->domain, prefix);
    isl_union_map *same = isl_union_map_eq_at_multi_union_pw_aff(
        isl_union_map_copy(forward), isl_multi_union_pw_aff_copy(grid));
    wrong = isl_union_map_eq_at_multi_union_pw_aff(
        wrong, isl_multi_union_pw_aff_copy(grid));
    wrong = isl_union_map_union(wrong, isl_union_map_subtract(forward, same));
  }
  bool legal = isl_union_map_is_empty(wrong) == isl_bool_true;
  isl_union_map_free(wrong);
  return legal;
}

/*===-- Is it worth it? -------------------------------------------------===*/

/* Instances of `domain` halfway through each of the host's loops; all of them
 * if there are none. */
static __isl_give isl_union_set *halfway(const struct pacc_planner *planner,
                                         __isl_keep isl_union_set *domain,
                                         __isl_keep isl_union_map *prefix) {
  isl_union_set *some = isl_union_set_intersect_params(
      isl_union_set_copy(domain), isl_set_copy(planner->nominal));
  if (!prefix)
    return some;
  isl_set *at = isl_set_from_union_set(
      isl_union_set_apply(some, isl_union_map_copy(prefix)));
  isl_size n = isl_set_dim(at, isl_dim_set);
  for (int d = 0; d < n; ++d) {
    isl_val *sum = isl_val_add(isl_set_dim_min_val(isl_set_copy(at), d),
                               isl_set_dim_max_val(isl_set_copy(at), d));
    sum = isl_val_floor(isl_val_div_ui(sum, 2));
    at = isl_set_fix_val(at, isl_dim_set, (unsigned)d, sum);
  }
  isl_union_set *instances =
      isl_union_set_apply(isl_union_set_from_set(at),
                          isl_union_map_reverse(isl_union_map_copy(prefix)));
  return isl_union_set_intersect(instances, isl_union_set_copy(domain));
}

static double threads_of(const struct pacc_planner *planner,
                         const struct pacc_plan *kernel,
                         __isl_keep isl_union_set *instances) {
  if (!kernel->loop)
    return 1;
  isl_union_map *grid = pacc_loop_map(kernel->loop);
  isl_union_set *own = isl_union_set_intersect(
      isl_union_set_copy(instances), isl_union_set_copy(kernel->domain));
  double threads = pacc_nominal_trips(planner->nominal, own, grid, NULL);
  isl_union_set_free(own);
  isl_union_map_free(grid);
  return threads;
}

/* Does the fused kernel take no longer by the model, and does it have no more
 * threads than the larger of the two? A grid around two that lie apart has many
 * with nothing to do. */
static bool pays(const struct pacc_planner *planner,
                 const struct pacc_plan *fused, const struct pacc_plan *first,
                 const struct pacc_plan *second,
                 __isl_keep isl_union_map *prefix) {
  if (pacc_plan_cost(planner, fused, prefix) >
      TOLERANCE * (pacc_plan_cost(planner, first, prefix) +
                   pacc_plan_cost(planner, second, prefix)))
    return false;
  isl_union_set *instances = halfway(planner, fused->domain, prefix);
  double threads = threads_of(planner, fused, instances);
  double most = threads_of(planner, first, instances);
  double other = threads_of(planner, second, instances);
  if (most < other)
    most = other;
  isl_union_set_free(instances);
  return threads <= TOLERANCE * most;
}

static __isl_give isl_union_set *arrays_of(__isl_keep isl_union_map *accesses,
                                           __isl_keep isl_union_set *domain) {
  return isl_union_set_universe(
      isl_union_map_range(isl_union_map_intersect_domain(
          isl_union_map_copy(accesses), isl_union_set_copy(domain))));
}

static bool has_loop(const struct pacc_plan *body) {
  if (body->type == PLAN_LOOP)
    return true;
  for (int i = 0; i < body->n; ++i)
    if (has_loop(body->child[i]))
      return true;
  return false;
}

/* Do grids of the same dimensions write the same arrays, or does one thing need
 * another? Others have nothing to pass on. Threads that run through loops keep
 * their own best blocks. */
static bool work_together(const struct pacc_planner *planner,
                          const struct pacc_plan *first,
                          const struct pacc_plan *second) {
  if (grid_dims(first) == 0 || grid_dims(first) != grid_dims(second) ||
      (has_loop(first->child[0]) && has_loop(second->child[0])))
    return false;
  isl_union_map *flow =
      between(planner->deps->order, first->domain, second->domain, NULL);
  isl_union_set *both = isl_union_set_intersect(
      arrays_of(planner->scop->may_write, first->domain),
      arrays_of(planner->scop->may_write, second->domain));
  bool result = isl_union_map_is_empty(flow) == isl_bool_false ||
                isl_union_set_is_empty(both) == isl_bool_false;
  isl_union_map_free(flow);
  isl_union_set_free(both);
  return result;
}

/*===-- Sequences -------------------------------------------------------===*/

/* Moves the children of `plan` to into[at] on, those of a sequence among them
 * one by one; counts them only if `into` is NULL. */
static int gather(struct pacc_plan *plan, struct pacc_plan **into, int at) {
  for (int i = 0; i < plan->n; ++i) {
    struct pacc_plan *child = plan->child[i];
    if (child->type == PLAN_SEQUENCE) {
      at = gather(child, into, at);
      if (into)
        pacc_plan_free(child);
    } else if (into) {
      into[at++] = child;
    } else {
      ++at;
    }
  }
  if (into)
    plan->n = 0;
  return at;
}

/* A sequence within a sequence becomes a part of it, if there is memory. */
static void flatten(struct pacc_plan *sequence) {
  int n = gather(sequence, NULL, 0);
  struct pacc_plan **child =
      n == sequence->n ? NULL : calloc((size_t)n, sizeof(*child));
  if (!child)
    return;
  gather(sequence, child, 0);
  free(sequence->child);
  sequence->child = child;
  sequence->n = n;
}

/* One kernel whose threads, those of `grid`, do their part of `first`, then
 * that of `second`. Both are consumed if that is possible and costs less; NULL,
 * and both as they were, if not. */
static struct pacc_plan *fuse_on_grid(const struct pacc_planner *planner,
                                      struct pacc_plan *first,
                                      struct pacc_plan *second,
                                      __isl_take isl_multi_union_pw_aff *grid,
                                      __isl_keep isl_union_map *prefix) {
  if (!is_legal(planner, first, second, grid, prefix)) {
    isl_multi_union_pw_aff_free(grid);
    return NULL;
  }
  isl_union_set *domain = isl_union_set_union(
      isl_union_set_copy(first->domain), isl_union_set_copy(second->domain));
  struct pacc_plan *body =
      pacc_plan_alloc(PLAN_SEQUENCE, isl_union_set_copy(domain), NULL, 2);
  struct pacc_plan *fused = pacc_plan_alloc(PLAN_KERNEL, domain, grid, 1);
  if (!body || !fused || !pays(planner, fused, first, second, prefix)) {
    if (body)
      body->n = 0;
    if (fused)
      fused->n = 0;
    pacc_plan_free(body);
    pacc_plan_free(fused);
    return NULL;
  }
  body->child[0] = first->child[0];
  body->child[1] = second->child[0];
  fused->child[0] = body;
  flatten(body);
  first->n = second->n = 0;
  pacc_plan_free(first);
  pacc_plan_free(second);
  return fused;
}

/* The same on any grid on which the kernels fit together: the dimensions of the
 * one that has fewer are neighbours of the other's. */
static struct pacc_plan *fuse_pair(const struct pacc_planner *planner,
                                   struct pacc_plan *first,
                                   struct pacc_plan *second,
                                   __isl_keep isl_union_map *prefix) {
  if (first->type != PLAN_KERNEL || second->type != PLAN_KERNEL ||
      (!prefix && !work_together(planner, first, second)))
    return NULL;
  int dims_first = grid_dims(first), dims_second = grid_dims(second);
  int dims = dims_first > dims_second ? dims_first : dims_second;
  if (dims == 0)
    return fuse_on_grid(planner, first, second, NULL, prefix);
  struct pacc_plan *fused = NULL;
  /* Without own dimensions all places are the same. */
  int places = dims_first && dims_second ? abs(dims_first - dims_second) : 0;
  for (int place = 0; place <= places && !fused; ++place) {
    isl_multi_union_pw_aff *grid = isl_multi_union_pw_aff_union_add(
        padded_grid(first, dims, dims_first < dims ? place : 0),
        padded_grid(second, dims, dims_second < dims ? place : 0));
    if (!grid)
      return NULL;
    fused = fuse_on_grid(planner, first, second, grid, prefix);
  }
  return fused;
}

/* May `second` run before `first`, which it follows? */
static bool can_swap(const struct pacc_planner *planner,
                     const struct pacc_plan *first,
                     const struct pacc_plan *second,
                     __isl_keep isl_union_map *prefix) {
  isl_union_map *needed =
      between(planner->deps->order, first->domain, second->domain, prefix);
  bool free_to = isl_union_map_is_empty(needed) == isl_bool_true;
  isl_union_map_free(needed);
  return free_to;
}

/* A kernel joins the last one before it, past those that it does not depend
 * on. */
static void fuse_sequence(const struct pacc_planner *planner,
                          struct pacc_plan *plan,
                          __isl_keep isl_union_map *prefix) {
  flatten(plan);
  int last = 0;
  for (int i = 1; i < plan->n; ++i) {
    struct pacc_plan *fused = NULL;
    for (int at = last; at >= 0 && !fused; --at) {
      fused = fuse_pair(planner, plan->child[at], plan->child[i], prefix);
      if (fused)
        plan->child[at] = fused;
      else if (!can_swap(planner, plan->child[at], plan->child[i], prefix))
        break;
    }
    if (!fused)
      plan->child[++last] = plan->child[i];
  }
  /* isl's schedules of nothing are sequences of nothing. */
  if (plan->n)
    plan->n = last + 1;
}

void pacc_plan_fuse(const struct pacc_planner *planner, struct pacc_plan *plan,
                    __isl_keep isl_union_map *prefix) {
  if (plan->type == PLAN_LOOP) {
    isl_union_map *inner = pacc_append(prefix, plan->loop);
    pacc_plan_fuse(planner, plan->child[0], inner);
    isl_union_map_free(inner);
  } else if (plan->type == PLAN_SEQUENCE) {
    for (int i = 0; i < plan->n; ++i)
      pacc_plan_fuse(planner, plan->child[i], prefix);
    if (plan->n > 1)
      fuse_sequence(planner, plan, prefix);
  }
}
