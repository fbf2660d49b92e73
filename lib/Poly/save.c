/* save.c: the region with the copies that snapshot.c finds: their statements in
 * the schedule, the reads that take them, and code that does both.
 */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

/*===-- The statements of the copies ------------------------------------===*/

static __isl_give isl_map *source_of(const struct pacc_snapshot *snapshot) {
  return isl_map_set_tuple_id(isl_map_copy(snapshot->source), isl_dim_in,
                              isl_id_copy(snapshot->statement));
}

static __isl_give isl_map *target_of(const struct pacc_snapshot *snapshot) {
  isl_map *target =
      isl_map_set_tuple_id(isl_map_copy(snapshot->target), isl_dim_in,
                           isl_id_copy(snapshot->statement));
  return isl_map_set_tuple_id(target, isl_dim_out, isl_id_copy(snapshot->copy));
}

__isl_give isl_map *pacc_snapshot_index(const struct pacc_snapshot *snapshot) {
  return isl_map_set_tuple_id(isl_map_copy(snapshot->index), isl_dim_out,
                              isl_id_copy(snapshot->copy));
}

/* { Copy[h, j] -> [dimensions first, first + 1, ...] } */
static __isl_give isl_multi_union_pw_aff *
coordinates(const struct pacc_snapshot *snapshot, unsigned first,
            unsigned count) {
  isl_set *domain = isl_map_domain(source_of(snapshot));
  isl_size n = isl_set_dim(domain, isl_dim_set);
  isl_multi_aff *some =
      isl_multi_aff_project_out_map(isl_set_get_space(domain), isl_dim_set,
                                    first + count, (unsigned)n - first - count);
  some = isl_multi_aff_drop_dims(some, isl_dim_out, 0, first);
  some = isl_multi_aff_reset_tuple_id(some, isl_dim_out);
  isl_multi_pw_aff *all = isl_multi_pw_aff_intersect_domain(
      isl_multi_pw_aff_from_multi_aff(some), domain);
  return isl_multi_union_pw_aff_from_multi_pw_aff(all);
}

/* The statement of the copy in loops over the elements. */
static __isl_give isl_schedule *
schedule_copy(const struct pacc_snapshot *snapshot) {
  isl_set *domain = isl_map_domain(source_of(snapshot));
  isl_size n = isl_set_dim(domain, isl_dim_set);
  isl_schedule *schedule =
      isl_schedule_from_domain(isl_union_set_from_set(domain));
  for (int d = n - 1; d >= (int)snapshot->depth; --d)
    schedule = isl_schedule_insert_partial_schedule(
        schedule, coordinates(snapshot, (unsigned)d, 1));
  return schedule;
}

/* The schedule of the subtree with the copies that are made below `node`, or
 * right before it if it is a band. */
static __isl_give isl_schedule *rebuild(__isl_keep isl_schedule_node *node,
                                        const struct pacc_snapshots *list);

static __isl_give isl_schedule *
rebuild_child(__isl_keep isl_schedule_node *node, int pos,
              const struct pacc_snapshots *list) {
  isl_schedule_node *child = isl_schedule_node_get_child(node, pos);
  isl_schedule *schedule = rebuild(child, list);
  isl_schedule_node_free(child);
  return schedule;
}

static __isl_give isl_schedule *
rebuild_sequence(__isl_keep isl_schedule_node *node,
                 const struct pacc_snapshots *list) {
  isl_size n = isl_schedule_node_n_children(node);
  isl_schedule *schedule = rebuild_child(node, 0, list);
  for (int i = 1; i < n; ++i)
    schedule = isl_schedule_sequence(schedule, rebuild_child(node, i, list));
  return schedule;
}

static __isl_give isl_schedule *
rebuild_band(__isl_keep isl_schedule_node *band,
             const struct pacc_snapshots *list) {
  isl_union_set *domain = isl_schedule_node_get_domain(band);
  isl_multi_union_pw_aff *loop = isl_multi_union_pw_aff_reset_tuple_id(
      isl_schedule_node_band_get_partial_schedule(band), isl_dim_set);
  loop =
      isl_multi_union_pw_aff_intersect_domain(loop, isl_union_set_copy(domain));
  isl_size depth = isl_schedule_node_get_schedule_depth(band);
  isl_size n = isl_multi_union_pw_aff_dim(loop, isl_dim_set);
  isl_schedule *before = NULL;
  for (unsigned i = 0; i < list->n && depth >= 0 && n >= 0; ++i) {
    const struct pacc_snapshot *snapshot = &list->at[i];
    if (isl_union_set_is_subset(snapshot->domain, domain) != isl_bool_true)
      continue;
    if (snapshot->depth > (unsigned)depth) {
      loop = isl_multi_union_pw_aff_union_add(
          loop, coordinates(snapshot, (unsigned)depth, (unsigned)n));
    } else if (snapshot->depth == (unsigned)depth) {
      isl_schedule *copy = schedule_copy(snapshot);
      before = before ? isl_schedule_sequence(before, copy) : copy;
    }
  }
  isl_union_set_free(domain);
  isl_schedule *schedule =
      isl_schedule_insert_partial_schedule(rebuild_child(band, 0, list), loop);
  return before ? isl_schedule_sequence(before, schedule) : schedule;
}

static __isl_give isl_schedule *rebuild(__isl_keep isl_schedule_node *node,
                                        const struct pacc_snapshots *list) {
  switch (isl_schedule_node_get_type(node)) {
  case isl_schedule_node_leaf:
    return isl_schedule_from_domain(isl_schedule_node_get_domain(node));
  case isl_schedule_node_sequence:
  case isl_schedule_node_set:
    return rebuild_sequence(node, list);
  case isl_schedule_node_band:
    return rebuild_band(node, list);
  case isl_schedule_node_domain:
  case isl_schedule_node_filter:
  case isl_schedule_node_mark:
  case isl_schedule_node_context:
    return rebuild_child(node, 0, list);
  default:
    return NULL;
  }
}

/*===-- Accesses --------------------------------------------------------===*/

/* The accesses in the list but those parts of them that take a copy. */
static __isl_give isl_union_map *other_reads(__isl_keep isl_map_list *accesses,
                                             const struct pacc_snapshots *list,
                                             __isl_keep isl_set *context) {
  isl_size n = isl_map_list_n_map(accesses);
  isl_union_map *result =
      isl_union_map_empty_ctx(isl_map_list_get_ctx(accesses));
  for (int a = 0; a < n; ++a) {
    isl_map *read = isl_map_intersect_params(isl_map_list_get_map(accesses, a),
                                             isl_set_copy(context));
    for (unsigned i = 0; i < list->n; ++i)
      for (unsigned r = 0; r < list->at[i].n_reads; ++r)
        if (list->at[i].reads[r].access == (unsigned)a)
          read = isl_map_subtract(read, isl_map_copy(list->at[i].reads[r].map));
    read = isl_map_gist_params(read, isl_set_copy(context));
    result = isl_union_map_union(result, isl_union_map_from_map(read));
  }
  return result;
}

int pacc_scop_snapshot(struct pacc_scop *scop, __isl_keep isl_map_list *reads,
                       const struct pacc_snapshots *list) {
  if (!list->n)
    return 0;
  isl_schedule_node *root = isl_schedule_get_root(scop->schedule);
  isl_schedule_free(scop->schedule);
  scop->schedule = rebuild(root, list);
  isl_schedule_node_free(root);
  isl_union_map_free(scop->read);
  scop->read = other_reads(reads, list, scop->context);
  for (unsigned i = 0; i < list->n; ++i) {
    const struct pacc_snapshot *snapshot = &list->at[i];
    isl_union_map *write = isl_union_map_from_map(target_of(snapshot));
    scop->may_write =
        isl_union_map_union(scop->may_write, isl_union_map_copy(write));
    scop->must_write = isl_union_map_union(scop->must_write, write);
    scop->read = isl_union_map_union(
        scop->read, isl_union_map_from_map(source_of(snapshot)));
    for (unsigned r = 0; r < snapshot->n_reads; ++r)
      scop->read = isl_union_map_union(
          scop->read, isl_union_map_from_map(isl_map_apply_range(
                          isl_map_copy(snapshot->reads[r].map),
                          pacc_snapshot_index(snapshot))));
  }
  scop->read = isl_union_map_coalesce(scop->read);
  return scop->schedule && scop->read && scop->may_write && scop->must_write
             ? 0
             : -1;
}

/*===-- Code ------------------------------------------------------------===*/

/* Splits a leaf into what is in the set, which says nothing of threads, and
 * what is not. */
static __isl_give isl_schedule_node *
split_leaf(__isl_take isl_schedule_node *node, void *user) {
  isl_union_set *part = user;
  if (isl_schedule_node_get_type(node) != isl_schedule_node_leaf)
    return node;
  isl_union_set *domain = isl_schedule_node_get_domain(node);
  isl_union_set *inside = isl_union_set_intersect(
      isl_union_set_universe(isl_union_set_copy(domain)),
      isl_union_set_copy(part));
  isl_union_set *outside =
      isl_union_set_subtract(isl_union_set_universe(isl_union_set_copy(domain)),
                             isl_union_set_copy(part));
  bool mixed = isl_union_set_is_disjoint(domain, inside) == isl_bool_false &&
               isl_union_set_is_disjoint(domain, outside) == isl_bool_false;
  isl_union_set_free(domain);
  isl_union_set_list *filters =
      isl_union_set_list_alloc(isl_schedule_node_get_ctx(node), 2);
  filters = isl_union_set_list_add(filters, inside);
  filters = isl_union_set_list_add(filters, outside);
  if (mixed)
    return isl_schedule_node_insert_sequence(node, filters);
  isl_union_set_list_free(filters);
  return node;
}

int pacc_mapping_separate(struct pacc_mapping *mapping,
                          const struct pacc_snapshots *list) {
  for (unsigned i = 0; i < list->n; ++i)
    for (unsigned r = 0; r < list->at[i].n_reads; ++r) {
      isl_union_set *part = isl_union_set_from_set(
          isl_map_domain(isl_map_copy(list->at[i].reads[r].map)));
      part =
          isl_union_set_gist(part, isl_schedule_get_domain(mapping->schedule));
      mapping->schedule = isl_schedule_map_schedule_node_bottom_up(
          mapping->schedule, split_leaf, part);
      isl_union_set_free(part);
    }
  return mapping->schedule ? 0 : -1;
}
