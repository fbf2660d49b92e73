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

/* Where the host's loops and the grid, but for x, have an instance. */
static __isl_give isl_union_map *row_of(const struct pacc_kernel_plan *kernel) {
  isl_union_map *row =
      isl_union_map_from_domain(isl_union_set_copy(kernel->domain));
  if (kernel->host)
    row = isl_union_map_range_product(row, isl_union_map_copy(kernel->host));
  for (unsigned d = 1; d < kernel->n_dims; ++d)
    row = isl_union_map_range_product(
        row,
        isl_union_map_from_union_pw_aff(isl_union_pw_aff_copy(kernel->dim[d])));
  return row;
}

struct row_updates {
  const struct pacc_kernel_plan *kernel;
  isl_union_map *row;
  isl_union_map *found;
};

static isl_bool is_single_valued(__isl_take isl_union_map *map) {
  isl_bool single = isl_union_map_is_single_valued(map);
  isl_union_map_free(map);
  return single;
}

static isl_stat add_row_update(__isl_take isl_map *map, void *user) {
  struct row_updates *rows = user;
  isl_union_map *update = isl_union_map_from_map(map);
  isl_union_map *instances = isl_union_map_intersect_range(
      isl_union_map_reverse(isl_union_map_copy(rows->row)),
      isl_union_map_domain(isl_union_map_copy(update)));
  isl_union_map *x = isl_union_map_from_union_pw_aff(
      isl_union_pw_aff_copy(rows->kernel->dim[0]));
  isl_bool one_element = is_single_valued(isl_union_map_apply_range(
      isl_union_map_copy(instances), isl_union_map_copy(update)));
  isl_bool one_thread =
      is_single_valued(isl_union_map_apply_range(instances, x));
  if (one_element == isl_bool_true && one_thread == isl_bool_false)
    rows->found = isl_union_map_union(rows->found, update);
  else
    isl_union_map_free(update);
  return one_element < 0 || one_thread < 0 ? isl_stat_error : isl_stat_ok;
}

__isl_give isl_union_map *
pacc_kernel_row_updates(const struct pacc_kernel_plan *kernel,
                        __isl_keep isl_union_map *updates) {
  struct row_updates rows = {
      kernel, row_of(kernel),
      isl_union_map_empty(isl_union_map_get_space(updates))};
  if (isl_union_map_foreach_map(updates, add_row_update, &rows) < 0)
    rows.found = isl_union_map_free(rows.found);
  isl_union_map_free(rows.row);
  return rows.found;
}
