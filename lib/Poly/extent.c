/* extent.c: which bytes of an array a region needs and which it changes. */
#include "pacc/poly.h"

#include <isl/aff.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdlib.h>

static void extent_clear(struct pacc_extent *extent) {
  isl_set_free(extent->when);
  isl_pw_multi_aff_free(extent->first);
  isl_pw_multi_aff_free(extent->last);
  *extent = (struct pacc_extent){0};
}

/* The corner of the box around `set` with the smallest (or largest) indices. */
static __isl_give isl_pw_multi_aff *corner(__isl_keep isl_set *set, int max) {
  isl_size n = isl_set_dim(set, isl_dim_set);
  isl_multi_pw_aff *result = NULL;
  isl_pw_aff_list *list =
      isl_pw_aff_list_alloc(isl_set_get_ctx(set), n < 0 ? 0 : n);
  for (int i = 0; i < n; ++i)
    list =
        isl_pw_aff_list_add(list, max ? isl_set_dim_max(isl_set_copy(set), i)
                                      : isl_set_dim_min(isl_set_copy(set), i));
  result = isl_multi_pw_aff_from_pw_aff_list(isl_set_get_space(set), list);
  isl_pw_multi_aff *pma = isl_pw_multi_aff_from_multi_pw_aff(result);
  return isl_pw_multi_aff_coalesce(pma);
}

static __isl_give isl_set *set_of(__isl_keep isl_pw_multi_aff *point) {
  return isl_set_from_pw_multi_aff(isl_pw_multi_aff_copy(point));
}

/* All elements of the box from `first` to `last`, in parameters. */
static __isl_give isl_set *box_of(const struct pacc_extent *extent) {
  isl_set *first = set_of(extent->first), *last = set_of(extent->last);
  isl_size n = isl_set_dim(first, isl_dim_set);
  isl_space *space = isl_set_get_space(first);
  isl_set *box = isl_set_universe(isl_space_copy(space));
  /* first[d] <= i[d] <= last[d] for every d. */
  for (int d = 0; d < n; ++d) {
    isl_map *le =
        isl_map_universe(isl_space_map_from_set(isl_space_copy(space)));
    le = isl_map_order_le(le, isl_dim_in, d, isl_dim_out, d);
    box = isl_set_intersect(
        box, isl_set_apply(isl_set_copy(first), isl_map_copy(le)));
    box = isl_set_intersect(
        box, isl_set_apply(isl_set_copy(last), isl_map_reverse(le)));
  }
  isl_space_free(space);
  isl_set_free(first);
  isl_set_free(last);
  return box;
}

/* Fills `extent` with the tightest shape that never leaves the array: the box
 * if both of its corners are elements of the set (every byte of it then lies
 * between two that may be accessed), else everything from the first to the last
 * element in memory. */
static int extent_of(struct pacc_extent *extent, __isl_take isl_set *set) {
  set = isl_set_coalesce(set);
  isl_size n = isl_set_dim(set, isl_dim_set);
  extent->when = isl_set_params(isl_set_copy(set));
  if (n <= 2) {
    extent->first = corner(set, 0);
    extent->last = corner(set, 1);
    isl_set *corners =
        isl_set_union(set_of(extent->first), set_of(extent->last));
    extent->box = isl_set_is_subset(corners, set) == isl_bool_true;
    isl_set_free(corners);
  }
  if (!extent->box) {
    isl_pw_multi_aff_free(extent->first);
    isl_pw_multi_aff_free(extent->last);
    extent->first = isl_pw_multi_aff_coalesce(
        isl_set_lexmin_pw_multi_aff(isl_set_copy(set)));
    extent->last = isl_pw_multi_aff_coalesce(
        isl_set_lexmax_pw_multi_aff(isl_set_copy(set)));
  }
  isl_set_free(set);
  return extent->when && extent->first && extent->last ? 0 : -1;
}

/* Does the region certainly write everything that copying `extent` out would
 * overwrite? */
static int is_overwritten(const struct pacc_extent *extent,
                          __isl_keep isl_set *written) {
  if (!extent->box)
    return 0;
  isl_set *box = box_of(extent);
  int result = isl_set_is_subset(box, written) == isl_bool_true;
  isl_set_free(box);
  return result;
}

static __isl_give isl_set *accessed(__isl_keep isl_union_map *accesses,
                                    __isl_keep isl_union_set *domain,
                                    __isl_keep isl_set *context,
                                    __isl_keep isl_space *array) {
  isl_union_map *in_domain = isl_union_map_intersect_domain(
      isl_union_map_copy(accesses), isl_union_set_copy(domain));
  isl_union_set *elements = isl_union_map_range(in_domain);
  elements = isl_union_set_intersect_params(elements, isl_set_copy(context));
  isl_set *set = isl_union_set_extract_set(elements, isl_space_copy(array));
  isl_union_set_free(elements);
  return set;
}

int pacc_array_plan_compute(struct pacc_array_plan *plan,
                            const struct pacc_scop *scop,
                            const struct pacc_dependences *deps,
                            __isl_take isl_space *array) {
  *plan = (struct pacc_array_plan){0};
  isl_union_set *domain = isl_schedule_get_domain(scop->schedule);
  isl_set *written = accessed(scop->may_write, domain, scop->context, array);
  isl_set *certain = accessed(scop->must_write, domain, scop->context, array);
  isl_set *read = accessed(scop->read, domain, scop->context, array);
  isl_set *needed = accessed(deps->exposed, domain, scop->context, array);
  isl_set *maybe = scop->maybe
                       ? accessed(scop->maybe, domain, scop->context, array)
                       : isl_set_empty(isl_space_copy(array));
  isl_union_set_free(domain);
  isl_space_free(array);

  plan->maybe = isl_set_is_empty(maybe) != isl_bool_true;
  int status =
      extent_of(&plan->touched, isl_set_union(read, isl_set_copy(written)));
  isl_bool empty = isl_set_is_empty(written);
  status |= empty < 0 ? -1 : 0;
  if (!status && !empty) {
    plan->has_out = true;
    status = extent_of(&plan->out, isl_set_copy(written));
    /* What is copied out without having been written must be what the host
     * had there. */
    plan->changes = !status && !is_overwritten(&plan->out, certain);
    plan->in_is_out =
        plan->changes && isl_set_is_subset(needed, written) == isl_bool_true;
    if (plan->changes)
      needed = isl_set_union(needed, isl_set_copy(written));
  }
  empty = isl_set_is_empty(needed);
  status |= empty < 0 ? -1 : 0;
  if (!status && !empty) {
    plan->has_in = true;
    status = extent_of(&plan->in, isl_set_copy(needed));
    /* The shape of what goes in must cover the shape of what comes out. */
    if (!status && plan->has_out && !plan->out.box && plan->in.box) {
      extent_clear(&plan->in);
      isl_set *hull =
          isl_set_union(isl_set_copy(needed), isl_set_copy(written));
      plan->in.when = isl_set_params(isl_set_copy(hull));
      plan->in.first = isl_set_lexmin_pw_multi_aff(isl_set_copy(hull));
      plan->in.last = isl_set_lexmax_pw_multi_aff(hull);
    }
  }
  isl_set_free(written);
  isl_set_free(certain);
  isl_set_free(needed);
  isl_set_free(maybe);
  if (status)
    pacc_array_plan_clear(plan);
  return status;
}

void pacc_array_plan_clear(struct pacc_array_plan *plan) {
  extent_clear(&plan->touched);
  extent_clear(&plan->in);
  extent_clear(&plan->out);
}
