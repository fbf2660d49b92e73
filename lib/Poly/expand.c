/* expand.c: arrays that hold values within one iteration of some loops only.
 *
 *   for r
 *     for q {
 *       for p: sum[p] = ...           every (r, q) overwrites what the one
 *       for p: A[r][q][p] = sum[p];   before has left in sum
 *     }
 *
 * With a copy of `sum` for each (r, q), nothing is overwritten, and the
 * iterations are independent. An array can have copies if
 *
 * - each read finds a write of the same iteration, and no value from before;
 * - the last iteration certainly writes every element that any of them may
 *   write: its copy is what the program leaves in the array. Loops along which
 *   each iteration has elements of its own do not count here.
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
#include <stdlib.h>

/* Copies may take as many elements as all other arrays together, times four,
 * or eight million (PACC_EXPANSION_FACTOR and PACC_EXPANSION_FREE of abi.h are
 * the same in bytes, for the sizes of a run). */
static const double MAX_FACTOR = 4, MAX_FREE = 8 << 20;

/*===-- Loops and accesses ----------------------------------------------===*/

/* The child of a sequence that contains all of `domain`; NULL if none does. */
static __isl_give isl_schedule_node *
child_with(__isl_take isl_schedule_node *sequence,
           __isl_keep isl_union_set *domain) {
  isl_size n = isl_schedule_node_n_children(sequence);
  isl_schedule_node *found = NULL;
  for (int i = 0; i < n && !found; ++i) {
    isl_schedule_node *child = isl_schedule_node_get_child(sequence, i);
    isl_union_set *filter = isl_schedule_node_filter_get_filter(child);
    if (isl_union_set_is_subset(domain, filter) == isl_bool_true)
      found = child;
    else
      isl_schedule_node_free(child);
    isl_union_set_free(filter);
  }
  isl_schedule_node_free(sequence);
  return found;
}

/* The loops around all of `domain`, outermost first; NULL if there are none. */
static __isl_give isl_multi_union_pw_aff *
common_loops(__isl_keep isl_schedule *schedule,
             __isl_keep isl_union_set *domain) {
  isl_multi_union_pw_aff *loops = NULL;
  isl_schedule_node *node = isl_schedule_get_root(schedule);
  while (node) {
    enum isl_schedule_node_type type = isl_schedule_node_get_type(node);
    if (type == isl_schedule_node_sequence || type == isl_schedule_node_set) {
      node = child_with(node, domain);
      continue;
    }
    if (type != isl_schedule_node_domain && type != isl_schedule_node_filter &&
        type != isl_schedule_node_mark && type != isl_schedule_node_context &&
        type != isl_schedule_node_band)
      break;
    if (type == isl_schedule_node_band) {
      isl_multi_union_pw_aff *band = isl_multi_union_pw_aff_reset_tuple_id(
          isl_schedule_node_band_get_partial_schedule(node), isl_dim_set);
      loops =
          loops ? isl_multi_union_pw_aff_flat_range_product(loops, band) : band;
    }
    node = isl_schedule_node_child(node, 0);
  }
  isl_schedule_node_free(node);
  if (!loops)
    return NULL;
  return isl_multi_union_pw_aff_intersect_domain(loops,
                                                 isl_union_set_copy(domain));
}

/*===-- May an array have copies? ---------------------------------------===*/

struct uses {
  isl_union_map *read, *may_write, *must_write, *all;
};

static void uses_clear(struct uses *uses) {
  isl_union_map_free(uses->read);
  isl_union_map_free(uses->may_write);
  isl_union_map_free(uses->must_write);
  isl_union_map_free(uses->all);
}

static struct uses uses_of(const struct pacc_scop *scop,
                           __isl_keep isl_space *array) {
  struct uses uses = {pacc_accesses_of(scop->read, array, scop->context),
                      pacc_accesses_of(scop->may_write, array, scop->context),
                      pacc_accesses_of(scop->must_write, array, scop->context),
                      NULL};
  uses.all = isl_union_map_union(isl_union_map_copy(uses.read),
                                 isl_union_map_copy(uses.may_write));
  return uses;
}

/* Does each read find a write of its own iteration? */
static bool flows_within(const struct pacc_scop *scop, const struct uses *uses,
                         __isl_keep isl_union_map *iteration) {
  isl_union_flow *flow = pacc_flow_compute(uses->read, uses->must_write,
                                           uses->may_write, scop->schedule);
  isl_union_map *exposed = isl_union_flow_get_may_no_source(flow);
  isl_union_map *deps = isl_union_flow_get_may_dependence(flow);
  isl_union_flow_free(flow);
  deps = isl_union_map_subtract(deps, pacc_same(iteration));
  bool result = isl_union_map_is_empty(exposed) == isl_bool_true &&
                isl_union_map_is_empty(deps) == isl_bool_true;
  isl_union_map_free(exposed);
  isl_union_map_free(deps);
  return result;
}

/* Does the last iteration of the loops write all that any one may write? */
static bool last_writes_all(const struct uses *uses,
                            __isl_keep isl_multi_union_pw_aff *loops) {
  isl_union_map *iteration = pacc_loop_map(loops);
  isl_union_set *instances =
      isl_union_map_domain(isl_union_map_copy(uses->all));
  isl_union_set *last = isl_union_set_lexmax(
      isl_union_set_apply(instances, isl_union_map_copy(iteration)));
  isl_union_set *of_last =
      isl_union_set_apply(last, isl_union_map_reverse(iteration));
  isl_union_set *left = isl_union_map_range(isl_union_map_intersect_domain(
      isl_union_map_copy(uses->must_write), of_last));
  isl_union_set *written =
      isl_union_map_range(isl_union_map_copy(uses->may_write));
  bool result = isl_union_set_is_subset(written, left) == isl_bool_true;
  isl_union_set_free(left);
  isl_union_set_free(written);
  return result;
}

/* The members of `loops` along which iterations differ that access the same
 * element; NULL if there are none. They alone say which of an element's values
 * is the later one. */
static __isl_give isl_multi_union_pw_aff *
conflicting_loops(const struct uses *uses,
                  __isl_keep isl_multi_union_pw_aff *loops) {
  isl_union_map *conflicts = pacc_same(uses->all);
  isl_size n = isl_multi_union_pw_aff_dim(loops, isl_dim_set);
  isl_multi_union_pw_aff *result = NULL;
  bool failed = n < 0;
  for (int i = 0; i < n; ++i) {
    isl_multi_union_pw_aff *one = pacc_loop_members(loops, i, 1);
    isl_union_map *value = pacc_loop_map(one);
    isl_union_map *equal = pacc_same(value);
    isl_union_map_free(value);
    isl_bool agree = isl_union_map_is_subset(conflicts, equal);
    failed |= agree < 0;
    if (agree != isl_bool_false)
      isl_multi_union_pw_aff_free(one);
    else
      result =
          result ? isl_multi_union_pw_aff_flat_range_product(result, one) : one;
    isl_union_map_free(equal);
  }
  isl_union_map_free(conflicts);
  return failed ? isl_multi_union_pw_aff_free(result) : result;
}

/* The loops of whose iterations each can have a copy of the array: as many of
 * those around all accesses as possible; NULL if there are none. */
static __isl_give isl_multi_union_pw_aff *
private_loops(const struct pacc_scop *scop, const struct uses *uses) {
  isl_union_set *instances =
      isl_union_map_domain(isl_union_map_copy(uses->all));
  isl_multi_union_pw_aff *loops = common_loops(scop->schedule, instances);
  isl_union_set_free(instances);
  isl_size n = loops ? isl_multi_union_pw_aff_dim(loops, isl_dim_set) : 0;
  isl_multi_union_pw_aff *result = NULL;
  for (int depth = n; depth > 0 && !result; --depth) {
    isl_multi_union_pw_aff *outer = pacc_loop_members(loops, 0, depth);
    isl_union_map *iteration = pacc_loop_map(outer);
    if (flows_within(scop, uses, iteration))
      result = conflicting_loops(uses, outer);
    if (result && !last_writes_all(uses, result))
      result = isl_multi_union_pw_aff_free(result);
    isl_union_map_free(iteration);
    isl_multi_union_pw_aff_free(outer);
  }
  isl_multi_union_pw_aff_free(loops);
  return result;
}

/*===-- The list --------------------------------------------------------===*/

static void expansion_clear(struct pacc_expansion *expansion) {
  isl_space_free(expansion->array);
  isl_union_map_free(expansion->iteration);
  isl_pw_multi_aff_free(expansion->last);
  isl_pw_aff_list_free(expansion->counts);
  *expansion = (struct pacc_expansion){0};
}

void pacc_expansions_clear(struct pacc_expansions *list) {
  for (unsigned i = 0; i < list->n; ++i)
    expansion_clear(&list->at[i]);
  free(list->at);
  *list = (struct pacc_expansions){0};
}

/* Fills in everything from the loops. -1 after a failure. */
static int expansion_init(struct pacc_expansion *expansion,
                          __isl_keep isl_space *array, const struct uses *uses,
                          __isl_keep isl_multi_union_pw_aff *loops) {
  isl_union_map *iteration = isl_union_map_intersect_domain(
      pacc_loop_map(loops),
      isl_union_map_domain(isl_union_map_copy(uses->all)));
  isl_set *at = isl_set_from_union_set(
      isl_union_map_range(isl_union_map_copy(iteration)));
  isl_size n = isl_multi_union_pw_aff_dim(loops, isl_dim_set);
  *expansion = (struct pacc_expansion){
      .array = isl_space_copy(array),
      .iteration = iteration,
      .last = isl_set_lexmax_pw_multi_aff(isl_set_copy(at)),
      .counts = isl_pw_aff_list_alloc(isl_set_get_ctx(at), n < 0 ? 0 : n)};
  for (int d = 0; d < n; ++d) {
    struct pacc_range range;
    if (pacc_range_compute(&range, isl_map_from_range(isl_set_copy(at)),
                           (unsigned)d))
      break;
    isl_pw_aff_free(range.first);
    expansion->counts = isl_pw_aff_list_add(
        expansion->counts, isl_pw_aff_project_domain_on_params(range.count));
  }
  isl_set_free(at);
  if (expansion->array && expansion->iteration && expansion->last && n > 0 &&
      isl_pw_aff_list_n_pw_aff(expansion->counts) == n)
    return 0;
  expansion_clear(expansion);
  return -1;
}

struct search {
  const struct pacc_scop *scop;
  struct pacc_expansions *list;
  isl_set *nominal;
};

/* Elements of all arrays but `array`. */
static double elements_beside(const struct search *search,
                              __isl_keep isl_space *array) {
  isl_union_set *elements = isl_union_map_range(
      isl_union_map_union(isl_union_map_copy(search->scop->read),
                          isl_union_map_copy(search->scop->may_write)));
  isl_set *own = isl_set_universe(isl_space_copy(array));
  elements = isl_union_set_subtract(elements, isl_union_set_from_set(own));
  double n = pacc_nominal_instances(search->nominal, elements);
  isl_union_set_free(elements);
  return n;
}

/* Are copies for all iterations within the bounds of memory? */
static bool is_affordable(const struct search *search,
                          const struct pacc_expansion *expansion,
                          const struct uses *uses) {
  isl_union_set *elements = isl_union_map_range(isl_union_map_copy(uses->all));
  isl_union_set *instances =
      isl_union_map_domain(isl_union_map_copy(uses->all));
  double size = pacc_nominal_instances(search->nominal, elements) *
                pacc_nominal_trips(search->nominal, instances,
                                   expansion->iteration, NULL);
  isl_union_set_free(elements);
  isl_union_set_free(instances);
  return size <= MAX_FREE ||
         size <= MAX_FACTOR * elements_beside(search, expansion->array);
}

static isl_stat consider(__isl_take isl_set *elements, void *user) {
  struct search *search = user;
  isl_space *array = isl_set_get_space(elements);
  isl_set_free(elements);
  struct uses uses = uses_of(search->scop, array);
  isl_multi_union_pw_aff *loops = private_loops(search->scop, &uses);
  isl_stat status = isl_stat_ok;
  struct pacc_expansion *next = &search->list->at[search->list->n];
  if (loops) {
    if (expansion_init(next, array, &uses, loops))
      status = isl_stat_error;
    else if (is_affordable(search, next, &uses))
      search->list->n++;
    else
      expansion_clear(next);
  }
  isl_multi_union_pw_aff_free(loops);
  uses_clear(&uses);
  isl_space_free(array);
  return status;
}

int pacc_expansions_find(struct pacc_expansions *list,
                         const struct pacc_scop *scop) {
  *list = (struct pacc_expansions){0};
  isl_union_set *written =
      isl_union_map_range(isl_union_map_copy(scop->may_write));
  isl_size n = isl_union_set_n_set(written);
  struct search search = {scop, list, pacc_nominal_sizes(scop)};
  list->at = calloc(n < 1 ? 1 : (size_t)n, sizeof(*list->at));
  int status = -1;
  if (n >= 0 && list->at && search.nominal &&
      isl_union_set_foreach_set(written, consider, &search) >= 0)
    status = 0;
  isl_union_set_free(written);
  isl_set_free(search.nominal);
  if (status)
    pacc_expansions_clear(list);
  return status;
}

/*===-- The region with copies ------------------------------------------===*/

struct renaming {
  isl_union_map *result;
  isl_id *id;
};

static isl_stat rename_array(__isl_take isl_map *map, void *user) {
  struct renaming *renaming = user;
  map = isl_map_set_tuple_id(map, isl_dim_out, isl_id_copy(renaming->id));
  renaming->result = isl_union_map_add_map(renaming->result, map);
  return isl_stat_ok;
}

/* { S[i] -> Array[j] } as { S[i] -> Array[iteration, j] }, if it is one of the
 * expanded array. */
static __isl_give isl_union_map *
expand_accesses(__isl_take isl_union_map *accesses,
                const struct pacc_expansion *expansion) {
  if (!accesses)
    return NULL;
  isl_union_set *array = isl_union_set_from_set(
      isl_set_universe(isl_space_copy(expansion->array)));
  isl_union_map *own = isl_union_map_intersect_range(
      isl_union_map_copy(accesses), isl_union_set_copy(array));
  own = isl_union_map_flat_range_product(
      isl_union_map_copy(expansion->iteration), own);
  struct renaming renaming = {
      isl_union_map_subtract_range(accesses, array),
      isl_space_get_tuple_id(expansion->array, isl_dim_set)};
  if (isl_union_map_foreach_map(own, rename_array, &renaming) < 0)
    renaming.result = isl_union_map_free(renaming.result);
  isl_union_map_free(own);
  isl_id_free(renaming.id);
  return renaming.result;
}

int pacc_scop_expand(struct pacc_scop *scop,
                     const struct pacc_expansions *list) {
  isl_union_map **relations[] = {&scop->read, &scop->may_write,
                                 &scop->must_write, &scop->reduce,
                                 &scop->maybe};
  for (unsigned i = 0; i < list->n; ++i)
    for (size_t r = 0; r < sizeof(relations) / sizeof(relations[0]); ++r) {
      if (!*relations[r])
        continue;
      *relations[r] = expand_accesses(*relations[r], &list->at[i]);
      if (!*relations[r])
        return -1;
    }
  return 0;
}

const struct pacc_expansion *
pacc_expansion_of(const struct pacc_expansions *list,
                  __isl_keep isl_space *array) {
  for (unsigned i = 0; i < list->n; ++i)
    if (isl_space_has_equal_tuples(list->at[i].array, array) == isl_bool_true)
      return &list->at[i];
  return NULL;
}
