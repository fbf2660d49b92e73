/* reduction.c: updates of elements that threads share. */
#include "poly_private.h"

#include <isl/union_map.h>

__isl_give isl_union_map *
pacc_thread_of(const struct pacc_kernel_plan *kernel) {
  isl_union_map *thread = NULL;
  for (unsigned d = 0; d < kernel->n_dims; ++d) {
    isl_union_map *coordinate =
        isl_union_map_from_union_pw_aff(isl_union_pw_aff_copy(kernel->dim[d]));
    thread =
        thread ? isl_union_map_range_product(thread, coordinate) : coordinate;
  }
  return isl_union_map_intersect_domain(thread,
                                        isl_union_set_copy(kernel->domain));
}

/* Pairs of instances with the same image. */
static __isl_give isl_union_map *same(__isl_take isl_union_map *image) {
  isl_union_map *inverse = isl_union_map_reverse(isl_union_map_copy(image));
  return isl_union_map_apply_range(image, inverse);
}

__isl_give isl_union_map *
pacc_kernel_shared_updates(const struct pacc_kernel_plan *kernel,
                           const struct pacc_scop *scop) {
  isl_union_map *updates =
      scop->reduce ? isl_union_map_copy(scop->reduce)
                   : isl_union_map_empty(isl_union_map_get_space(scop->read));
  updates = isl_union_map_intersect_domain(updates,
                                           isl_union_set_copy(kernel->domain));
  if (kernel->n_dims == 0 || isl_union_map_is_empty(updates) == isl_bool_true) {
    isl_space *space = isl_union_map_get_space(updates);
    isl_union_map_free(updates);
    return isl_union_map_empty(space);
  }
  isl_union_map *shared = isl_union_map_subtract(
      same(isl_union_map_copy(updates)), same(pacc_thread_of(kernel)));
  return isl_union_map_intersect_domain(updates, isl_union_map_domain(shared));
}
