/* snapshot.c: copies of elements that a loop reads before it overwrites them.
 *
 *   for i: a[i] = a[i + 1] * b[i];       iteration i must read a[i + 1] before
 *                                        iteration i + 1 writes it
 *
 * With the values from before the loop in an array of their own, nothing is
 * overwritten that others still need:
 *
 *   for i: s[i + 1] = a[i + 1];
 *   for i: a[i] = s[i + 1] * b[i];
 *
 * A read may take such a copy if no iteration of the loop has written the
 * element by then. Inside a loop of the host (step k of all shortest paths,
 * say) there is one copy for each of its iterations, one after the other in the
 * same memory.
 */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/flow.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each copy is a kernel or a part of one. */
enum { MAX_SNAPSHOTS = 8 };

/*===-- What a loop accesses --------------------------------------------===*/

/* A band of the original schedule.
 *
 * node        the band
 * domain      the instances below it
 * prefix      { Stmt[i] -> [h] }: the loops around it
 * loop        { Stmt[i] -> [v] }: its own value
 */
struct place {
  isl_schedule_node *node;
  isl_union_set *domain;
  isl_union_map *prefix;
  isl_union_map *loop;
};

static void place_clear(struct place *place) {
  isl_schedule_node_free(place->node);
  isl_union_set_free(place->domain);
  isl_union_map_free(place->prefix);
  isl_union_map_free(place->loop);
}

struct count_down {
  unsigned left;
  isl_schedule_node *found;
};

static isl_bool find_band(__isl_keep isl_schedule_node *node, void *user) {
  struct count_down *count = user;
  if (count->found)
    return isl_bool_false;
  if (isl_schedule_node_get_type(node) == isl_schedule_node_band &&
      count->left-- == 0)
    count->found = isl_schedule_node_copy(node);
  return isl_bool_true;
}

/* Band number `place`, outer ones first. False: there is none. */
static bool place_init(struct place *place, const struct pacc_scop *scop,
                       unsigned number) {
  struct count_down count = {number, NULL};
  isl_schedule_foreach_schedule_node_top_down(scop->schedule, find_band,
                                              &count);
  *place = (struct place){.node = count.found};
  if (!count.found)
    return false;
  place->domain = isl_schedule_node_get_domain(count.found);
  place->prefix = isl_union_map_intersect_domain(
      isl_schedule_node_get_prefix_schedule_union_map(count.found),
      isl_union_set_copy(place->domain));
  place->loop = isl_union_map_intersect_domain(
      isl_union_map_from_multi_union_pw_aff(
          isl_multi_union_pw_aff_reset_tuple_id(
              isl_schedule_node_band_get_partial_schedule(count.found),
              isl_dim_set)),
      isl_union_set_copy(place->domain));
  return true;
}

/* Those accesses that instances below the place make of one array. */
static __isl_give isl_union_map *accesses_at(const struct place *place,
                                             __isl_keep isl_union_map *accesses,
                                             __isl_keep isl_space *array,
                                             __isl_keep isl_set *context) {
  return isl_union_map_intersect_domain(
      pacc_accesses_of(accesses, array, context),
      isl_union_set_copy(place->domain));
}

/* { S[i] -> A[j] } as { S[i] -> [[h] -> A[j]] }. */
static __isl_give isl_union_map *tag(const struct place *place,
                                     __isl_keep isl_union_map *accesses) {
  return isl_union_map_range_product(isl_union_map_copy(place->prefix),
                                     isl_union_map_copy(accesses));
}

/* Those of `reads` that may see a write of an iteration of the place, in the
 * same iteration of the loops around it. */
static __isl_give isl_union_map *
reads_of_new_values(const struct pacc_scop *scop, const struct place *place,
                    __isl_keep isl_union_map *reads,
                    __isl_keep isl_union_map *may,
                    __isl_keep isl_union_map *must) {
  isl_union_flow *flow = pacc_flow_compute(reads, must, may, scop->schedule);
  /* { Source -> [Sink -> A] } as { [Source -> Sink] -> A }, and back. */
  isl_union_map *full =
      isl_union_map_uncurry(isl_union_flow_get_full_may_dependence(flow));
  isl_union_flow_free(flow);
  full = isl_union_map_intersect_domain(
      full, isl_union_map_wrap(pacc_same(place->prefix)));
  full = isl_union_map_curry(full);
  return isl_union_set_unwrap(isl_union_map_range(full));
}

/* Does an instance that reads a new value still have to run before one of a
 * later iteration of the place, which writes the element again? */
static bool keeps_order(const struct place *place,
                        __isl_keep isl_union_map *new_reads,
                        __isl_keep isl_union_map *writes) {
  isl_union_map *conflicts = isl_union_map_apply_range(
      tag(place, new_reads), isl_union_map_reverse(tag(place, writes)));
  isl_union_map *later = isl_union_map_lex_lt_union_map(
      isl_union_map_copy(place->loop), isl_union_map_copy(place->loop));
  conflicts = isl_union_map_intersect(conflicts, later);
  bool any = isl_union_map_is_empty(conflicts) != isl_bool_true;
  isl_union_map_free(conflicts);
  return any;
}

/* What reads of an array at a place see.
 *
 * old     reads of values from before the place
 * lost    those of them whose element another instance overwrites
 */
struct reads {
  isl_union_map *old;
  isl_union_map *lost;
};

static void reads_clear(struct reads *reads) {
  isl_union_map_free(reads->old);
  isl_union_map_free(reads->lost);
}

/* False: copies would be of no use. */
static bool reads_init(struct reads *reads, const struct pacc_scop *scop,
                       const struct place *place, __isl_keep isl_space *array) {
  isl_union_map *read = accesses_at(place, scop->read, array, scop->context);
  isl_union_map *may =
      accesses_at(place, scop->may_write, array, scop->context);
  isl_union_map *must =
      accesses_at(place, scop->must_write, array, scop->context);
  isl_union_map *updates =
      scop->reduce ? accesses_at(place, scop->reduce, array, scop->context)
                   : isl_union_map_empty(isl_union_map_get_space(read));
  bool useful = isl_union_map_is_empty(updates) == isl_bool_true &&
                isl_union_map_is_empty(read) == isl_bool_false &&
                isl_union_map_is_empty(may) == isl_bool_false;
  if (useful) {
    isl_union_map *now = reads_of_new_values(scop, place, read, may, must);
    /* An instance may read what it has written itself. */
    reads->old =
        isl_union_map_subtract(isl_union_map_subtract(isl_union_map_copy(read),
                                                      isl_union_map_copy(now)),
                               isl_union_map_copy(may));
    isl_union_map *lost = isl_union_map_intersect_range(
        tag(place, reads->old), isl_union_map_range(tag(place, may)));
    reads->lost = isl_union_map_range_factor_range(lost);
    useful = isl_union_map_is_empty(reads->lost) == isl_bool_false &&
             !keeps_order(place, now, may);
    isl_union_map_free(now);
  }
  isl_union_map_free(read);
  isl_union_map_free(may);
  isl_union_map_free(must);
  isl_union_map_free(updates);
  return useful;
}

/*===-- The list --------------------------------------------------------===*/

static void snapshot_clear(struct pacc_snapshot *snapshot) {
  isl_space_free(snapshot->array);
  isl_union_set_free(snapshot->domain);
  isl_map_free(snapshot->elements);
  isl_map_free(snapshot->index);
  isl_map_free(snapshot->source);
  isl_map_free(snapshot->target);
  for (unsigned r = 0; r < snapshot->n_reads; ++r)
    isl_map_free(snapshot->reads[r].map);
  free(snapshot->reads);
  isl_id_free(snapshot->statement);
  isl_id_free(snapshot->copy);
  *snapshot = (struct pacc_snapshot){0};
}

void pacc_snapshots_clear(struct pacc_snapshots *list) {
  for (unsigned i = 0; i < list->n; ++i)
    snapshot_clear(&list->at[i]);
  free(list->at);
  *list = (struct pacc_snapshots){0};
}

/* The elements, with the iteration in front: [h, j]. */
static __isl_give isl_set *flat(__isl_keep isl_map *elements) {
  return isl_set_flatten(isl_map_wrap(isl_map_copy(elements)));
}

/* Which dimensions of the elements follow from h and from those before. */
static void fixed_dims(__isl_keep isl_map *elements,
                       bool fixed[PACC_MAX_SET_DIMS]) {
  isl_size outer = isl_map_dim(elements, isl_dim_in);
  isl_size n = isl_map_dim(elements, isl_dim_out);
  bool determined[PACC_MAX_SET_DIMS];
  isl_set *set = flat(elements);
  pacc_determined_dims(set, determined);
  isl_set_free(set);
  for (int d = 0; d < PACC_MAX_SET_DIMS; ++d)
    fixed[d] = d < n && outer + d < PACC_MAX_SET_DIMS && determined[outer + d];
}

/* Elements of another read join the copy if they lie in the same plane. */
static bool join(struct pacc_snapshot *snapshot, __isl_keep isl_map *elements) {
  bool own[PACC_MAX_SET_DIMS], both[PACC_MAX_SET_DIMS];
  isl_map *all =
      isl_map_union(isl_map_copy(snapshot->elements), isl_map_copy(elements));
  fixed_dims(snapshot->elements, own);
  fixed_dims(all, both);
  bool joined = memcmp(own, both, sizeof(own)) == 0;
  fixed_dims(elements, own);
  joined &= memcmp(own, both, sizeof(own)) == 0;
  if (joined) {
    isl_map_free(snapshot->elements);
    snapshot->elements = isl_map_coalesce(all);
  } else {
    isl_map_free(all);
  }
  return joined;
}

static int add_read(struct pacc_snapshot *snapshot, unsigned access,
                    __isl_take isl_map *map) {
  struct pacc_snapshot_read *reads =
      realloc(snapshot->reads, (snapshot->n_reads + 1) * sizeof(*reads));
  if (!reads || !map) {
    isl_map_free(map);
    snapshot->reads = reads ? reads : snapshot->reads;
    return -1;
  }
  reads[snapshot->n_reads++] = (struct pacc_snapshot_read){access, map};
  snapshot->reads = reads;
  return 0;
}

/* The copy among those from `first` on that the elements can join, or a new
 * one; NULL if there are too many. */
static struct pacc_snapshot *snapshot_for(struct pacc_snapshots *list,
                                          unsigned first,
                                          const struct place *place,
                                          __isl_keep isl_space *array,
                                          __isl_take isl_map *elements) {
  for (unsigned i = first; i < list->n; ++i)
    if (isl_space_has_equal_tuples(list->at[i].array, array) == isl_bool_true &&
        join(&list->at[i], elements)) {
      isl_map_free(elements);
      return &list->at[i];
    }
  if (list->n == MAX_SNAPSHOTS) {
    isl_map_free(elements);
    return NULL;
  }
  isl_size depth = isl_schedule_node_get_schedule_depth(place->node);
  list->at[list->n] =
      (struct pacc_snapshot){.array = isl_space_copy(array),
                             .domain = isl_union_set_copy(place->domain),
                             .depth = depth < 0 ? 0 : (unsigned)depth,
                             .elements = elements};
  return &list->at[list->n++];
}

/* What of the read takes the copy: all of it if that is possible. */
static __isl_give isl_map *part_of_read(__isl_keep isl_map *read,
                                        const struct place *place,
                                        const struct reads *reads,
                                        __isl_keep isl_set *context) {
  isl_union_map *map = isl_union_map_from_map(isl_map_copy(read));
  map = isl_union_map_intersect_domain(map, isl_union_set_copy(place->domain));
  map = isl_union_map_intersect_params(map, isl_set_copy(context));
  isl_union_map *lost = isl_union_map_intersect(
      isl_union_map_copy(map), isl_union_map_copy(reads->lost));
  if (isl_union_map_is_empty(lost) == isl_bool_false &&
      isl_union_map_is_subset(map, reads->old) == isl_bool_true) {
    isl_union_map_free(lost);
    lost = isl_union_map_copy(map);
  }
  isl_union_map_free(map);
  isl_map *part = isl_union_map_extract_map(lost, isl_map_get_space(read));
  isl_union_map_free(lost);
  return isl_map_gist_params(part, isl_set_copy(context));
}

static int add_array(struct pacc_snapshots *list, unsigned first,
                     const struct pacc_scop *scop,
                     __isl_keep isl_map_list *accesses,
                     const struct place *place, __isl_keep isl_space *array) {
  struct reads reads = {NULL, NULL};
  int status = 0;
  if (reads_init(&reads, scop, place, array)) {
    isl_size n = isl_map_list_n_map(accesses);
    for (int a = 0; a < n && !status; ++a) {
      isl_map *read = isl_map_list_get_map(accesses, a);
      isl_space *space = isl_space_range(isl_map_get_space(read));
      isl_map *part = NULL;
      if (isl_space_has_equal_tuples(space, array) == isl_bool_true)
        part = part_of_read(read, place, &reads, scop->context);
      isl_space_free(space);
      isl_map_free(read);
      if (!part || isl_map_is_empty(part) == isl_bool_true) {
        isl_map_free(part);
        continue;
      }
      isl_union_map *one = isl_union_map_from_map(isl_map_copy(part));
      isl_union_set *elements = isl_union_map_range(tag(place, one));
      isl_union_map_free(one);
      isl_map *by_iteration =
          isl_map_gist_params(isl_set_unwrap(isl_set_from_union_set(elements)),
                              isl_set_copy(scop->context));
      struct pacc_snapshot *snapshot =
          snapshot_for(list, first, place, array, by_iteration);
      if (snapshot)
        status = add_read(snapshot, (unsigned)a, part);
      else
        isl_map_free(part);
      if (!snapshot)
        status = -1;
    }
  }
  reads_clear(&reads);
  return status;
}

/* Fills in what follows from `elements`. */
static int complete(struct pacc_snapshot *snapshot, unsigned number) {
  isl_ctx *ctx = isl_map_get_ctx(snapshot->elements);
  bool fixed[PACC_MAX_SET_DIMS];
  fixed_dims(snapshot->elements, fixed);
  isl_size n = isl_map_dim(snapshot->elements, isl_dim_out);
  if (n < 1 || n > PACC_MAX_INDICES)
    return -1;
  /* One element has an index, too. */
  for (int d = 0; d < n; ++d)
    if (!fixed[d] || (d == n - 1 && !snapshot->n_kept))
      snapshot->kept[snapshot->n_kept++] = (unsigned)d;
  isl_space *space =
      isl_space_add_dims(isl_space_from_domain(isl_space_copy(snapshot->array)),
                         isl_dim_out, snapshot->n_kept);
  snapshot->index = isl_map_universe(space);
  for (unsigned k = 0; k < snapshot->n_kept; ++k)
    snapshot->index = isl_map_equate(snapshot->index, isl_dim_out, (int)k,
                                     isl_dim_in, (int)snapshot->kept[k]);

  /* { [[h] -> A[j]] -> [h, index of j] } */
  isl_map *iteration = isl_map_domain_map(isl_map_copy(snapshot->elements));
  isl_map *element = isl_map_range_map(isl_map_copy(snapshot->elements));
  isl_map *index =
      isl_map_apply_range(isl_map_copy(element), isl_map_copy(snapshot->index));
  isl_map *instance =
      isl_map_flat_range_product(iteration, isl_map_copy(index));
  snapshot->source =
      isl_map_coalesce(isl_map_apply_domain(element, isl_map_copy(instance)));
  snapshot->target = isl_map_apply_domain(index, instance);
  char name[32];
  snprintf(name, sizeof(name), "pacc_save%u", number);
  snapshot->statement = isl_id_alloc(ctx, name, NULL);
  snprintf(name, sizeof(name), "pacc_saved%u", number);
  snapshot->copy = isl_id_alloc(ctx, name, NULL);
  return snapshot->source && snapshot->target && snapshot->statement &&
                 snapshot->copy
             ? 0
             : -1;
}

int pacc_snapshots_add(struct pacc_snapshots *list,
                       const struct pacc_scop *scop,
                       __isl_keep isl_map_list *reads, unsigned number) {
  struct place place;
  if (!place_init(&place, scop, number))
    return -1;
  /* Inside of a place with copies all reads may have taken one. */
  for (unsigned i = 0; i < list->n; ++i)
    if (isl_union_set_is_subset(place.domain, list->at[i].domain) !=
        isl_bool_false) {
      place_clear(&place);
      return 0;
    }
  if (!list->at)
    list->at = calloc(MAX_SNAPSHOTS, sizeof(*list->at));
  unsigned first = list->n;
  isl_union_set *written = isl_union_map_range(isl_union_map_intersect_domain(
      isl_union_map_copy(scop->may_write), isl_union_set_copy(place.domain)));
  isl_set_list *arrays = isl_union_set_get_set_list(written);
  isl_union_set_free(written);
  isl_size n = isl_set_list_n_set(arrays);
  int status = n < 0 || !list->at ? -1 : 0;
  for (int i = 0; i < n && !status; ++i) {
    isl_set *elements = isl_set_list_get_set(arrays, i);
    isl_space *array = isl_set_get_space(elements);
    isl_set_free(elements);
    status = add_array(list, first, scop, reads, &place, array);
    isl_space_free(array);
  }
  for (unsigned i = first; i < list->n && !status; ++i)
    status = complete(&list->at[i], i);
  /* All copies of a place, or none. */
  while (status && list->n > first)
    snapshot_clear(&list->at[--list->n]);
  isl_set_list_free(arrays);
  place_clear(&place);
  return 0;
}
