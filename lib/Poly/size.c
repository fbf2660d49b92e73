/* size.c: how much there is of something, as functions of the parameters. */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/ilp.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/val.h>
#include <stdlib.h>

/* max - min + 1, and 0 outside of `any`. */
static __isl_give isl_pw_aff *count_of(__isl_keep isl_pw_aff *min,
                                       __isl_take isl_pw_aff *max,
                                       __isl_take isl_set *any) {
  isl_pw_aff *count = isl_pw_aff_sub(max, isl_pw_aff_copy(min));
  isl_set *some = isl_pw_aff_domain(isl_pw_aff_copy(count));
  isl_val *one = isl_val_one(isl_set_get_ctx(any));
  count = isl_pw_aff_add(count, isl_pw_aff_val_on_domain(some, one));
  isl_pw_aff *zero = isl_pw_aff_zero_on_domain(
      isl_local_space_from_space(isl_set_get_space(any)));
  zero = isl_pw_aff_intersect_domain(zero, isl_set_complement(any));
  return isl_pw_aff_coalesce(isl_pw_aff_union_max(count, zero));
}

int pacc_range_compute(struct pacc_range *range, __isl_take isl_map *map,
                       unsigned pos) {
  map = isl_map_coalesce(map);
  isl_set *any = isl_map_domain(isl_map_copy(map));
  isl_pw_aff *max =
      isl_pw_aff_coalesce(isl_map_dim_max(isl_map_copy(map), (int)pos));
  range->first = isl_pw_aff_coalesce(isl_map_dim_min(map, (int)pos));
  range->count = count_of(range->first, max, any);
  if (range->first && range->count)
    return 0;
  isl_pw_aff_free(range->first);
  isl_pw_aff_free(range->count);
  return -1;
}

bool pacc_range_is_at_most(const struct pacc_range *range,
                           __isl_keep isl_set *context, int64_t most) {
  isl_set *counts =
      isl_map_range(isl_map_from_pw_aff(isl_pw_aff_copy(range->count)));
  counts = isl_set_intersect_params(counts, isl_set_copy(context));
  isl_val *max = isl_set_dim_max_val(counts, 0);
  bool known = isl_val_is_int(max) == isl_bool_true &&
               isl_val_cmp_si(max, (long)most) <= 0;
  isl_val_free(max);
  return known;
}

/* The box around `set`, without the dimensions that follow from others. */
static __isl_give isl_pw_aff_list *box_of(__isl_take isl_set *set) {
  isl_size n = isl_set_dim(set, isl_dim_set);
  isl_pw_aff_list *box = isl_pw_aff_list_alloc(isl_set_get_ctx(set), n);
  bool determined[PACC_MAX_SET_DIMS];
  pacc_determined_dims(set, determined);
  for (int d = 0; d < n; ++d) {
    if (d < PACC_MAX_SET_DIMS && determined[d])
      continue;
    struct pacc_range range;
    isl_map *map = isl_map_from_range(isl_set_copy(set));
    if (pacc_range_compute(&range, map, (unsigned)d)) {
      isl_set_free(set);
      isl_pw_aff_list_free(box);
      return NULL;
    }
    isl_pw_aff_free(range.first);
    box = isl_pw_aff_list_add(box,
                              isl_pw_aff_project_domain_on_params(range.count));
  }
  isl_set_free(set);
  return box;
}

static __isl_give isl_pw_aff_list *box_of_points(__isl_take isl_union_map *at) {
  return box_of(isl_set_from_union_set(isl_union_map_range(at)));
}

static isl_stat add_instances(__isl_take isl_set *set, void *user) {
  struct pacc_kernel_size *size = user;
  isl_pw_aff_list *box = box_of(set);
  if (!box)
    return isl_stat_error;
  size->instances[size->n_boxes++] = box;
  return isl_stat_ok;
}

static isl_stat add_statement(__isl_take isl_set *set, void *user) {
  return pacc_foreach_flat_part(set, add_instances, user);
}

static isl_stat count_pieces(__isl_take isl_set *set, void *user) {
  size_t *n = user;
  isl_size pieces = isl_set_n_basic_set(set);
  *n += pieces > 1 ? (size_t)pieces : 1;
  isl_set_free(set);
  return isl_stat_ok;
}

int pacc_kernel_size_compute(struct pacc_kernel_size *size,
                             const struct pacc_kernel_plan *kernel) {
  isl_ctx *ctx = isl_union_set_get_ctx(kernel->domain);
  *size = (struct pacc_kernel_size){0};
  size_t n = 0;
  isl_union_set_foreach_set(kernel->domain, count_pieces, &n);
  if (n > 0)
    size->instances = calloc(n, sizeof(*size->instances));

  isl_union_map *at = NULL;
  if (kernel->host)
    at = isl_union_map_intersect_domain(isl_union_map_copy(kernel->host),
                                        isl_union_set_copy(kernel->domain));
  size->launches = at ? box_of_points(isl_union_map_copy(at))
                      : isl_pw_aff_list_alloc(ctx, 0);
  for (unsigned d = 0; d < kernel->n_dims; ++d) {
    isl_union_map *dim =
        isl_union_map_from_union_pw_aff(isl_union_pw_aff_copy(kernel->dim[d]));
    dim =
        isl_union_map_intersect_domain(dim, isl_union_set_copy(kernel->domain));
    at = at ? isl_union_map_flat_range_product(at, dim) : dim;
  }
  size->threads = at ? box_of_points(at) : isl_pw_aff_list_alloc(ctx, 0);
  if (size->instances && size->launches && size->threads &&
      isl_union_set_foreach_set(kernel->domain, add_statement, size) >= 0)
    return 0;
  pacc_kernel_size_clear(size);
  return -1;
}

void pacc_kernel_size_clear(struct pacc_kernel_size *size) {
  isl_pw_aff_list_free(size->launches);
  isl_pw_aff_list_free(size->threads);
  for (unsigned s = 0; s < size->n_boxes; ++s)
    isl_pw_aff_list_free(size->instances[s]);
  free(size->instances);
  *size = (struct pacc_kernel_size){0};
}
