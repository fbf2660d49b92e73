/* phases.c: a loop of launches as one kernel. Between the launches, which are
 * its phases then, some have to wait for others.
 */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/map.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

/* { S[i] -> [h] }: the first n loops of the host around the kernel. */
static __isl_give isl_union_map *
host_loops(const struct pacc_kernel_plan *kernel, unsigned n) {
  isl_ctx *ctx = isl_union_set_get_ctx(kernel->domain);
  isl_space *space = isl_space_set_alloc(ctx, 0, kernel->n_path);
  isl_map *outer = isl_map_from_multi_aff(
      isl_multi_aff_project_out_map(space, isl_dim_set, n, kernel->n_path - n));
  return isl_union_map_apply_range(isl_union_map_copy(kernel->host),
                                   isl_union_map_from_map(outer));
}

/* How many loops of the host are around both. */
static unsigned common_loops(const struct pacc_kernel_plan *a,
                             const struct pacc_kernel_plan *b) {
  unsigned n = 0;
  while (n < a->n_path && n < b->n_path && a->path[n] == b->path[n])
    ++n;
  return n;
}

static __isl_give isl_union_map *between(__isl_keep isl_union_map *deps,
                                         const struct pacc_kernel_plan *from,
                                         const struct pacc_kernel_plan *to) {
  isl_union_map *some = isl_union_map_intersect_domain(
      isl_union_map_copy(deps), isl_union_set_copy(from->domain));
  return isl_union_map_intersect_range(some, isl_union_set_copy(to->domain));
}

/* Those of deps whose ends are in the same iteration of the loops around both
 * kernels. */
static __isl_give isl_union_map *
within_iteration(__isl_take isl_union_map *deps,
                 const struct pacc_kernel_plan *from,
                 const struct pacc_kernel_plan *to) {
  unsigned n = common_loops(from, to);
  isl_union_map *same = isl_union_map_apply_range(
      host_loops(from, n), isl_union_map_reverse(host_loops(to, n)));
  return isl_union_map_intersect(deps, same);
}

/* Unknown means that there are some. */
static bool has_any(__isl_take isl_union_map *deps) {
  bool any = isl_union_map_is_empty(deps) != isl_bool_true;
  isl_union_map_free(deps);
  return any;
}

/* Which phases wait when iteration follows iteration. */
static void find_waits(struct pacc_phase_plan *phases, unsigned n) {
  uint64_t same = 0, earlier = 0;
  for (int round = 0; round < 2; ++round) {
    earlier |= same;
    same = 0;
    for (unsigned q = 0; q < n; ++q) {
      phases[q].waits =
          (phases[q].same & same) || (phases[q].earlier & earlier);
      if (phases[q].waits)
        same = earlier = 0;
      same |= UINT64_C(1) << q;
    }
  }
}

static bool has_updates(const struct pacc_scop *scop,
                        const struct pacc_kernel_plan *kernel) {
  return scop->reduce && has_any(isl_union_map_intersect_domain(
                             isl_union_map_copy(scop->reduce),
                             isl_union_set_copy(kernel->domain)));
}

const char *pacc_loop_phases_compute(struct pacc_phase_plan *phases,
                                     const struct pacc_loop_plan *loop,
                                     const struct pacc_mapping *mapping,
                                     const struct pacc_scop *scop,
                                     const struct pacc_dependences *deps) {
  const struct pacc_kernel_plan *kernels = mapping->kernels + loop->first;
  if (loop->n_phases > PACC_MAX_PHASES)
    return "it has more than 64 launches";
  for (unsigned q = 0; q < loop->n_phases; ++q) {
    if (kernels[q].n_path > PACC_MAX_HOST_DIMS)
      return "there are more than 8 loops around a launch";
    if (has_updates(scop, &kernels[q]))
      return "it updates elements in any order";
  }
  for (unsigned q = 0; q < loop->n_phases; ++q) {
    phases[q] = (struct pacc_phase_plan){0};
    for (unsigned p = 0; p < loop->n_phases; ++p) {
      uint64_t bit = UINT64_C(1) << p;
      isl_union_map *some = between(deps->parallel, &kernels[p], &kernels[q]);
      /* isl may take a kernel apart: parts of it wait for earlier ones. */
      if (p <= q && has_any(within_iteration(isl_union_map_copy(some),
                                             &kernels[p], &kernels[q])))
        phases[q].same |= bit;
      if (has_any(some))
        phases[q].earlier |= bit;
    }
  }
  find_waits(phases, loop->n_phases);
  return NULL;
}
