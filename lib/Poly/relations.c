/* relations.c: relations of instances that many analyses are made of. */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

__isl_give isl_union_flow *pacc_flow_compute(__isl_keep isl_union_map *sink,
                                             __isl_keep isl_union_map *must,
                                             __isl_keep isl_union_map *may,
                                             __isl_keep isl_schedule *order) {
  isl_union_access_info *info =
      isl_union_access_info_from_sink(isl_union_map_copy(sink));
  info = isl_union_access_info_set_must_source(info, isl_union_map_copy(must));
  if (may)
    info = isl_union_access_info_set_may_source(info, isl_union_map_copy(may));
  info = isl_union_access_info_set_schedule(info, isl_schedule_copy(order));
  return isl_union_access_info_compute_flow(info);
}

__isl_give isl_union_map *pacc_accesses_of(__isl_keep isl_union_map *accesses,
                                           __isl_keep isl_space *array,
                                           __isl_keep isl_set *context) {
  isl_set *elements = isl_set_universe(isl_space_copy(array));
  isl_union_map *some = isl_union_map_intersect_range(
      isl_union_map_copy(accesses), isl_union_set_from_set(elements));
  return isl_union_map_intersect_params(some, isl_set_copy(context));
}

__isl_give isl_union_map *pacc_same(__isl_keep isl_union_map *image) {
  return isl_union_map_apply_range(
      isl_union_map_copy(image),
      isl_union_map_reverse(isl_union_map_copy(image)));
}

__isl_give isl_union_map *
pacc_loop_map(__isl_keep isl_multi_union_pw_aff *loop) {
  return isl_union_map_from_multi_union_pw_aff(
      isl_multi_union_pw_aff_copy(loop));
}
