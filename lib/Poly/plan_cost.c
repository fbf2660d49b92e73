/* plan_cost.c: what a plan would take, roughly. */
#include "poly_private.h"

#include "pacc/cost.h"

#include <isl/aff.h>
#include <isl/union_map.h>

/* `work` instances and `threads` of one launch. */
static double cost_of(double launches, double threads, double work) {
  double wait = work / threads * PACC_SECONDS_INSTANCE;
  /* Threads without work still have to find that out. */
  double busy = (work > threads ? work : threads) * PACC_SECONDS_INSTANCE_SM /
                PACC_USUAL_SMS;
  /* Kernels depend on each other as a rule: nothing hides a launch. */
  return launches * (PACC_SECONDS_LAUNCH + PACC_SECONDS_KERNEL +
                     (wait > busy ? wait : busy));
}

double pacc_kernel_threads(const struct pacc_kernel_plan *kernel) {
  double threads = kernel->n_dims ? kernel->active : 1;
  for (unsigned d = 0; d < kernel->n_dims; ++d)
    threads *= kernel->extent[d];
  return threads;
}

double pacc_kernel_cost(const struct pacc_kernel_plan *kernel) {
  return cost_of(kernel->launches, pacc_kernel_threads(kernel), kernel->work);
}

static double kernel_cost(const struct pacc_planner *planner,
                          const struct pacc_plan *plan,
                          __isl_keep isl_union_map *prefix) {
  double launches =
      prefix ? pacc_nominal_trips(planner->nominal, plan->domain, prefix, NULL)
             : 1;
  double threads = 1;
  if (plan->loop) {
    isl_union_map *grid = pacc_loop_map(plan->loop);
    threads = pacc_nominal_trips(planner->nominal, plan->domain, grid, NULL);
    isl_union_map_free(grid);
  }
  double work =
      pacc_nominal_instances(planner->nominal, plan->domain) / launches;
  return cost_of(launches, threads, work);
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

struct pacc_plan *pacc_plan_cheaper(const struct pacc_planner *planner,
                                    __isl_keep isl_union_map *prefix,
                                    struct pacc_plan *a, struct pacc_plan *b) {
  if (!a || !b)
    return a ? a : b;
  /* Sums of the same terms in another order are equal. */
  bool keep = pacc_plan_cost(planner, a, prefix) <=
              (1 + 1e-9) * pacc_plan_cost(planner, b, prefix);
  pacc_plan_free(keep ? b : a);
  return keep ? a : b;
}
