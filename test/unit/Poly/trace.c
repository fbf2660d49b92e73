/* trace.c: lists the instances of a region, their accesses and places. */
#include "trace.h"

#include "support.h"

#include <isl/map.h>
#include <isl/point.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*===-- Points and times --------------------------------------------------===*/

static int compare(const long *a, int n_a, const long *b, int n_b) {
  for (int i = 0; i < n_a || i < n_b; ++i) {
    long left = i < n_a ? a[i] : 0, right = i < n_b ? b[i] : 0;
    if (left != right)
      return left < right ? -1 : 1;
  }
  return 0;
}

int time_compare(const struct time *a, const struct time *b) {
  return compare(a->at, a->n, b->at, b->n);
}

int point_compare(const struct point *a, const struct point *b) {
  if (a->name != b->name)
    return a->name < b->name ? -1 : 1;
  return compare(a->at, a->n, b->at, b->n);
}

bool same_launch(const struct instance *a, const struct instance *b) {
  return a->kernel == b->kernel && !time_compare(&a->host, &b->host);
}

bool same_thread(const struct instance *a, const struct instance *b) {
  return same_launch(a, b) && !memcmp(a->grid, b->grid, sizeof(a->grid));
}

bool is_before(const struct instance *a, const struct instance *b) {
  int order = time_compare(&a->host, &b->host);
  if (order && a->loop >= 0 && a->loop == b->loop)
    return a->barriers < b->barriers;
  if (order)
    return order < 0;
  return same_thread(a, b) && time_compare(&a->thread, &b->thread) < 0;
}

const char *point_text(const struct trace *trace, const struct point *point) {
  static char buffer[8][256];
  static int next;
  char *text = buffer[next++ % 8];
  size_t at = (size_t)snprintf(text, sizeof(buffer[0]), "%s[",
                               trace->name[point->name]);
  for (int i = 0; i < point->n; ++i)
    at += (size_t)snprintf(text + at, sizeof(buffer[0]) - at, "%s%ld",
                           i ? "," : "", point->at[i]);
  snprintf(text + at, sizeof(buffer[0]) - at, "]");
  return text;
}

/*===-- Parameters --------------------------------------------------------===*/

struct values values_of(const struct pacc_scop *scop) {
  struct values values = {0};
  isl_union_set *domain = isl_schedule_get_domain(scop->schedule);
  isl_space *space = isl_union_set_get_space(domain);
  space = isl_space_align_params(space, isl_set_get_space(scop->context));
  isl_union_set_free(domain);
  values.n = isl_space_dim(space, isl_dim_param);
  assert_in_range(values.n, 0, MAX_PARAMS);
  for (int i = 0; i < values.n; ++i)
    snprintf(values.name[i], NAME_SIZE, "%s",
             isl_space_get_dim_name(space, isl_dim_param, (unsigned)i));
  isl_space_free(space);
  return values;
}

/* Fixes the parameters of `set`; those without a value can have any. */
static __isl_give isl_set *fix(__isl_take isl_set *set,
                               const struct values *values) {
  for (int i = 0; i < values->n; ++i) {
    int at = isl_set_find_dim_by_name(set, isl_dim_param, values->name[i]);
    if (at >= 0)
      set = isl_set_fix_si(set, isl_dim_param, (unsigned)at,
                           (int)values->value[i]);
  }
  isl_size n = isl_set_dim(set, isl_dim_param);
  return isl_set_project_out(set, isl_dim_param, 0, n < 0 ? 0 : (unsigned)n);
}

bool values_are_possible(const struct pacc_scop *scop,
                         const struct values *values) {
  isl_set *set = fix(isl_set_copy(scop->context), values);
  bool result = isl_set_is_empty(set) == isl_bool_false;
  isl_set_free(set);
  return result;
}

/*===-- Listing -----------------------------------------------------------===*/

static int name_of(struct trace *trace, const char *name) {
  for (int i = 0; i < trace->n_names; ++i)
    if (!strcmp(trace->name[i], name))
      return i;
  assert_true(trace->n_names < MAX_NAMES);
  snprintf(trace->name[trace->n_names], NAME_SIZE, "%s", name);
  return trace->n_names++;
}

/* One pair of a relation; `to` has no name if the relation has none there. */
struct row {
  struct point from;
  int n_to;
  int to_name;
  long to[MAX_TIME];
};
typedef bool row_fn(struct row *row, void *user);

struct lister {
  struct trace *trace;
  const struct values *values;
  struct row row;
  row_fn *fn;
  void *user;
};

static isl_stat list_point(__isl_take isl_point *point, void *user) {
  struct lister *lister = user;
  struct row *row = &lister->row;
  for (int i = 0; i < row->from.n + row->n_to; ++i) {
    isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, i);
    long number = isl_val_get_num_si(value);
    isl_val_free(value);
    if (i < row->from.n)
      row->from.at[i] = number;
    else
      row->to[i - row->from.n] = number;
  }
  isl_point_free(point);
  return lister->fn(row, lister->user) ? isl_stat_ok : isl_stat_error;
}

static isl_stat list_map(__isl_take isl_map *map, void *user) {
  struct lister *lister = user;
  struct row *row = &lister->row;
  row->from.n = isl_map_dim(map, isl_dim_in);
  row->n_to = isl_map_dim(map, isl_dim_out);
  assert_in_range(row->from.n, 0, MAX_COORDS);
  assert_in_range(row->n_to, 0, MAX_TIME);
  row->from.name =
      name_of(lister->trace, isl_map_get_tuple_name(map, isl_dim_in));
  row->to_name = -1;
  if (isl_map_has_tuple_name(map, isl_dim_out) == isl_bool_true)
    row->to_name =
        name_of(lister->trace, isl_map_get_tuple_name(map, isl_dim_out));
  isl_set *set = fix(isl_map_wrap(map), lister->values);
  isl_stat status = isl_set_foreach_point(set, list_point, lister);
  isl_set_free(set);
  return status;
}

static bool foreach_row(struct trace *trace, __isl_keep isl_union_map *map,
                        const struct values *values, row_fn *fn, void *user) {
  struct lister lister = {trace, values, {{0}, 0, 0, {0}}, fn, user};
  return isl_union_map_foreach_map(map, list_map, &lister) == isl_stat_ok;
}

struct element_lister {
  point_fn *fn;
  void *user;
};

static bool row_to_element(struct row *row, void *user) {
  struct element_lister *lister = user;
  return lister->fn(&row->from, lister->user);
}

bool foreach_element(struct trace *trace, __isl_keep isl_union_set *set,
                     const struct values *values, point_fn *fn, void *user) {
  struct element_lister lister = {fn, user};
  isl_union_map *map = isl_union_map_from_domain(isl_union_set_copy(set));
  bool result = foreach_row(trace, map, values, row_to_element, &lister);
  isl_union_map_free(map);
  return result;
}

/*===-- The original program ----------------------------------------------===*/

struct filler {
  struct trace *trace;
  int limit;
  int capacity;
  enum access_kind kind;
};

/* Grows an array with room for one element more. */
static void *grow(void *array, int n, int *capacity, size_t size) {
  if (n < *capacity)
    return array;
  *capacity = *capacity ? 2 * *capacity : 64;
  return must(realloc(array, (size_t)*capacity * size));
}

static bool add_instance(struct row *row, void *user) {
  struct filler *filler = user;
  struct trace *trace = filler->trace;
  if (trace->n_instances >= filler->limit)
    return false;
  trace->instance = grow(trace->instance, trace->n_instances, &filler->capacity,
                         sizeof(*trace->instance));
  struct instance *instance = &trace->instance[trace->n_instances++];
  *instance = (struct instance){.point = row->from, .kernel = -1};
  instance->original.n = row->n_to;
  memcpy(instance->original.at, row->to, sizeof(row->to));
  return true;
}

static int compare_instances(const void *a, const void *b) {
  const struct instance *left = a, *right = b;
  return point_compare(&left->point, &right->point);
}

static int compare_points(const void *a, const void *b) {
  return point_compare(a, b);
}

static struct instance *find_instance(const struct trace *trace,
                                      const struct point *point) {
  struct instance key = {.point = *point};
  return bsearch(&key, trace->instance, (size_t)trace->n_instances, sizeof(key),
                 compare_instances);
}

static struct point element_of(const struct row *row) {
  struct point element = {.name = row->to_name, .n = row->n_to};
  assert_in_range(element.n, 0, MAX_COORDS);
  memcpy(element.at, row->to, sizeof(element.at));
  return element;
}

static bool add_element(struct row *row, void *user) {
  struct filler *filler = user;
  struct trace *trace = filler->trace;
  if (trace->n_elements >= 10 * filler->limit)
    return false;
  trace->element = grow(trace->element, trace->n_elements, &filler->capacity,
                        sizeof(*trace->element));
  trace->element[trace->n_elements++] = element_of(row);
  return true;
}

int trace_find_element(const struct trace *trace, const struct point *element) {
  const struct point *found =
      bsearch(element, trace->element, (size_t)trace->n_elements,
              sizeof(*element), compare_points);
  return found ? (int)(found - trace->element) : -1;
}

static bool add_access(struct row *row, void *user) {
  struct filler *filler = user;
  struct trace *trace = filler->trace;
  struct accesses *list = &trace->access[filler->kind];
  struct point element = element_of(row);
  const struct instance *instance = find_instance(trace, &row->from);
  int at = trace_find_element(trace, &element);
  /* Accesses of what is no instance: an error of the region's text. */
  if (!instance || at < 0)
    fail_msg("%s accesses %s", point_text(trace, &row->from),
             point_text(trace, &element));
  list->at = grow(list->at, list->n, &list->capacity, sizeof(*list->at));
  list->at[list->n++] = (struct access){(int)(instance - trace->instance), at};
  return true;
}

static const struct trace *sorted_trace;

static int compare_accesses(const void *a, const void *b) {
  const struct access *left = a, *right = b;
  if (left->element != right->element)
    return left->element < right->element ? -1 : 1;
  return time_compare(&sorted_trace->instance[left->instance].original,
                      &sorted_trace->instance[right->instance].original);
}

static __isl_give isl_union_map *original_order(const struct pacc_scop *scop) {
  isl_union_map *order = isl_schedule_get_map(scop->schedule);
  return isl_union_map_intersect_domain(
      order, isl_schedule_get_domain(scop->schedule));
}

static bool list_elements(struct trace *trace, const struct values *values,
                          isl_union_map *const relations[N_ACCESS_KINDS],
                          int limit) {
  struct filler filler = {trace, limit, 0, ACCESS_READ};
  for (int kind = 0; kind < N_ACCESS_KINDS; ++kind)
    if (!foreach_row(trace, relations[kind], values, add_element, &filler))
      return false;
  if (!trace->n_elements)
    return true;
  qsort(trace->element, (size_t)trace->n_elements, sizeof(*trace->element),
        compare_points);
  int n = 1;
  for (int i = 1; i < trace->n_elements; ++i)
    if (point_compare(&trace->element[i], &trace->element[n - 1]))
      trace->element[n++] = trace->element[i];
  trace->n_elements = n;
  return true;
}

struct trace *trace_of(const struct pacc_scop *scop,
                       const struct values *values, int limit) {
  struct trace *trace = must(calloc(1, sizeof(*trace)));
  struct filler filler = {trace, limit, 0, ACCESS_READ};
  isl_union_map *order = original_order(scop);
  bool fits = foreach_row(trace, order, values, add_instance, &filler);
  isl_union_map_free(order);
  isl_union_map *const relations[N_ACCESS_KINDS] = {
      scop->read, scop->may_write, scop->must_write, scop->local_read,
      scop->local_write};
  if (!fits || !list_elements(trace, values, relations, limit)) {
    trace_free(trace);
    return NULL;
  }
  if (trace->n_instances)
    qsort(trace->instance, (size_t)trace->n_instances, sizeof(*trace->instance),
          compare_instances);
  for (int kind = 0; kind < N_ACCESS_KINDS; ++kind) {
    filler.kind = (enum access_kind)kind;
    assert_true(
        foreach_row(trace, relations[kind], values, add_access, &filler));
    sorted_trace = trace;
    if (trace->access[kind].n)
      qsort(trace->access[kind].at, (size_t)trace->access[kind].n,
            sizeof(struct access), compare_accesses);
  }
  return trace;
}

void trace_free(struct trace *trace) {
  if (!trace)
    return;
  for (int kind = 0; kind < N_ACCESS_KINDS; ++kind)
    free(trace->access[kind].at);
  free(trace->instance);
  free(trace->element);
  free(trace);
}

/*===-- The mapping -------------------------------------------------------===*/

struct mapper {
  struct trace *trace;
  const struct pacc_mapping *mapping;
  const struct values *values;
  int kernel;
  struct marks marks;
  bool in_tile;
};

static struct instance *instance_at(struct mapper *mapper,
                                    const struct row *row) {
  struct instance *instance = find_instance(mapper->trace, &row->from);
  if (!instance)
    snprintf(mapper->trace->problem, sizeof(mapper->trace->problem),
             "%s is executed and no instance",
             point_text(mapper->trace, &row->from));
  return instance;
}

static bool set_host(struct row *row, void *user) {
  struct mapper *mapper = user;
  struct instance *instance = instance_at(mapper, row);
  if (!instance)
    return false;
  instance->n_hosts++;
  instance->kernel = mapper->kernel;
  instance->host.n = row->n_to;
  memcpy(instance->host.at, row->to, sizeof(row->to));
  return true;
}

static bool set_grid(struct row *row, void *user) {
  struct mapper *mapper = user;
  struct instance *instance = instance_at(mapper, row);
  if (!instance)
    return false;
  instance->n_grids++;
  memcpy(instance->grid, row->to, (size_t)row->n_to * sizeof(long));
  return true;
}

static bool set_thread(struct row *row, void *user) {
  struct mapper *mapper = user;
  struct instance *instance = instance_at(mapper, row);
  if (!instance)
    return false;
  instance->n_threads++;
  if (mapper->in_tile)
    instance->grid[PACC_MAX_DIMS] = row->to[row->n_to - 1];
  instance->thread.n = row->n_to;
  memcpy(instance->thread.at, row->to, sizeof(row->to));
  return true;
}

static __isl_give isl_union_map *append(__isl_take isl_union_map *times,
                                        __isl_take isl_union_map *next) {
  return isl_union_map_flat_range_product(times, next);
}

/* { S[i] -> [] } */
static __isl_give isl_union_map *no_time(__isl_keep isl_schedule_node *node) {
  isl_ctx *ctx = isl_schedule_node_get_ctx(node);
  isl_set *empty = isl_set_universe(isl_space_set_alloc(ctx, 0, 0));
  return isl_union_map_from_domain_and_range(isl_schedule_node_get_domain(node),
                                             isl_union_set_from_set(empty));
}

static __isl_give isl_union_map *constant_time(__isl_keep isl_union_set *domain,
                                               int value) {
  isl_ctx *ctx = isl_union_set_get_ctx(domain);
  isl_set *point = isl_set_universe(isl_space_set_alloc(ctx, 0, 1));
  point = isl_set_fix_si(point, isl_dim_set, 0, value);
  return isl_union_map_from_domain_and_range(isl_union_set_copy(domain),
                                             isl_union_set_from_set(point));
}

/* S -> [x, y, z] where a map's domain is bound to these parameters; NULL if it
 * is not. */
static __isl_give isl_map *bound_grid(__isl_take isl_map *map,
                                      const struct pacc_kernel_plan *kernel) {
  for (unsigned d = 0; d < kernel->n_dims; ++d) {
    int at = isl_map_find_dim_by_id(map, isl_dim_param, kernel->param[d]);
    if (at < 0 || isl_map_involves_dims(map, isl_dim_param, (unsigned)at, 1) !=
                      isl_bool_true)
      return isl_map_free(map);
    map =
        isl_map_move_dims(map, isl_dim_out, d, isl_dim_param, (unsigned)at, 1);
  }
  return map;
}

/* The dimensions of the grid that a filter determines: { S[i] -> [x, y, z] }
 * from { S[i] : pacc_x = ..., ... }; NULL if it determines none. */
static __isl_give isl_union_map *
grid_of(__isl_keep isl_union_set *filter,
        const struct pacc_kernel_plan *kernel) {
  if (!kernel || !kernel->n_dims)
    return NULL;
  isl_union_map *all = isl_union_map_from_domain(isl_union_set_copy(filter));
  isl_union_map *grid = isl_union_map_empty(isl_union_map_get_space(all));
  isl_map_list *list = isl_union_map_get_map_list(all);
  isl_union_map_free(all);
  for (int i = 0; grid && i < isl_map_list_n_map(list); ++i) {
    isl_map *map = bound_grid(isl_map_list_get_map(list, i), kernel);
    grid = map ? isl_union_map_union(grid, isl_union_map_from_map(map))
               : isl_union_map_free(grid);
  }
  isl_map_list_free(list);
  return grid;
}

/* Lists what is below `node`, where `times` has come to. */
static bool walk(struct mapper *mapper, __isl_keep isl_schedule_node *node,
                 __isl_take isl_union_map *times);

static bool walk_child(struct mapper *mapper,
                       __isl_keep isl_schedule_node *node, int number,
                       __isl_take isl_union_map *times) {
  isl_schedule_node *child = isl_schedule_node_get_child(node, number);
  bool result = walk(mapper, child, times);
  isl_schedule_node_free(child);
  return result;
}

static int length_of(__isl_keep isl_union_map *times) {
  isl_map_list *list = isl_union_map_get_map_list(times);
  int length = 0;
  if (isl_map_list_n_map(list) > 0) {
    isl_map *one = isl_map_list_get_map(list, 0);
    length = isl_map_dim(one, isl_dim_out);
    isl_map_free(one);
  }
  isl_map_list_free(list);
  return length;
}

static bool walk_iteration(struct mapper *mapper,
                           __isl_keep isl_schedule_node *node,
                           __isl_take isl_union_map *times) {
  mapper->marks.at[mapper->marks.n++] = length_of(times);
  bool result = walk_child(mapper, node, 0, times);
  mapper->marks.n--;
  return result;
}

static bool walk_tile(struct mapper *mapper, __isl_keep isl_schedule_node *node,
                      __isl_take isl_union_map *times) {
  mapper->in_tile = true;
  bool result = walk_child(mapper, node, 0, times);
  mapper->in_tile = false;
  return result;
}

static bool walk_mark(struct mapper *mapper, __isl_keep isl_schedule_node *node,
                      __isl_take isl_union_map *times) {
  isl_id *id = isl_schedule_node_mark_get_id(node);
  const struct pacc_kernel_plan *plan = isl_id_get_user(id);
  bool is_loop = strcmp(isl_id_get_name(id), PACC_LOOP_MARK) == 0;
  bool is_kernel = strcmp(isl_id_get_name(id), PACC_KERNEL_MARK) == 0;
  bool is_tile = strcmp(isl_id_get_name(id), PACC_TILE_MARK) == 0;
  isl_id_free(id);
  if (is_loop)
    return walk_child(mapper, node, 0, times);
  if (is_tile)
    return walk_tile(mapper, node, times);
  if (!is_kernel)
    return walk_iteration(mapper, node, times);
  assert_int_equal(mapper->kernel, -1);
  mapper->kernel = (int)(plan - mapper->mapping->kernels);
  assert_in_range(mapper->kernel, 0, mapper->mapping->n_kernels - 1);
  assert_true(mapper->kernel < MAX_KERNELS);
  mapper->trace->marks[mapper->kernel] = mapper->marks;
  bool result =
      foreach_row(mapper->trace, times, mapper->values, set_host, mapper);
  isl_union_map_free(times);
  result = result && walk_child(mapper, node, 0, no_time(node));
  mapper->kernel = -1;
  return result;
}

static bool walk_filter(struct mapper *mapper,
                        __isl_keep isl_schedule_node *node,
                        __isl_take isl_union_map *times) {
  isl_union_set *filter = isl_schedule_node_filter_get_filter(node);
  isl_union_map *grid = grid_of(
      filter,
      mapper->kernel < 0 ? NULL : &mapper->mapping->kernels[mapper->kernel]);
  bool result = true;
  if (grid) {
    isl_union_map *parents = isl_union_map_intersect_domain(
        grid, isl_schedule_node_get_domain(node));
    result =
        foreach_row(mapper->trace, parents, mapper->values, set_grid, mapper);
    isl_union_map_free(parents);
  } else {
    times = isl_union_map_intersect_domain(times, isl_union_set_copy(filter));
  }
  isl_union_set_free(filter);
  if (result)
    return walk_child(mapper, node, 0, times);
  isl_union_map_free(times);
  return false;
}

static bool walk_sequence(struct mapper *mapper,
                          __isl_keep isl_schedule_node *node,
                          __isl_take isl_union_map *times) {
  bool result = true;
  for (int i = 0; result && i < isl_schedule_node_n_children(node); ++i) {
    isl_schedule_node *child = isl_schedule_node_get_child(node, i);
    isl_union_set *filter = isl_schedule_node_filter_get_filter(child);
    isl_union_map *number = constant_time(filter, i);
    isl_union_set_free(filter);
    result = walk(mapper, child, append(isl_union_map_copy(times), number));
    isl_schedule_node_free(child);
  }
  isl_union_map_free(times);
  return result;
}

static bool walk(struct mapper *mapper, __isl_keep isl_schedule_node *node,
                 __isl_take isl_union_map *times) {
  switch (isl_schedule_node_get_type(node)) {
  case isl_schedule_node_leaf: {
    bool result = true;
    if (mapper->kernel >= 0)
      result =
          foreach_row(mapper->trace, times, mapper->values, set_thread, mapper);
    isl_union_map_free(times);
    return result;
  }
  case isl_schedule_node_band: {
    isl_multi_union_pw_aff *loop =
        isl_schedule_node_band_get_partial_schedule(node);
    loop = isl_multi_union_pw_aff_reset_tuple_id(loop, isl_dim_set);
    times = append(times, isl_union_map_from_multi_union_pw_aff(loop));
    return walk_child(mapper, node, 0, times);
  }
  case isl_schedule_node_sequence:
    return walk_sequence(mapper, node, times);
  case isl_schedule_node_filter:
    return walk_filter(mapper, node, times);
  case isl_schedule_node_mark:
    return walk_mark(mapper, node, times);
  case isl_schedule_node_context:
    return walk_child(mapper, node, 0, times);
  default:
    isl_union_map_free(times);
    snprintf(mapper->trace->problem, sizeof(mapper->trace->problem),
             "a node of a kind that is not expected");
    return false;
  }
}

static bool is_executed_once(const struct instance *instance,
                             const struct pacc_mapping *mapping) {
  if (instance->kernel < 0 || instance->n_hosts != 1 ||
      instance->n_threads != 1)
    return false;
  return instance->n_grids == (mapping->kernels[instance->kernel].n_dims > 0);
}

bool trace_map(struct trace *trace, const struct pacc_mapping *mapping,
               const struct values *values) {
  for (int i = 0; i < trace->n_instances; ++i) {
    struct instance *instance = &trace->instance[i];
    instance->kernel = instance->loop = -1;
    instance->n_hosts = instance->n_grids = instance->n_threads = 0;
    memset(instance->grid, 0, sizeof(instance->grid));
  }
  struct mapper mapper = {
      .trace = trace, .mapping = mapping, .values = values, .kernel = -1};
  isl_schedule_node *node =
      isl_schedule_node_child(isl_schedule_get_root(mapping->schedule), 0);
  bool result = walk(&mapper, node, no_time(node));
  isl_schedule_node_free(node);
  if (!result) {
    if (!trace->problem[0])
      snprintf(trace->problem, sizeof(trace->problem), "isl failed: %s",
               isl_ctx_last_error_msg(isl_schedule_get_ctx(mapping->schedule)));
    return false;
  }
  for (int i = 0; i < trace->n_instances; ++i) {
    const struct instance *instance = &trace->instance[i];
    if (is_executed_once(instance, mapping))
      continue;
    snprintf(trace->problem, sizeof(trace->problem),
             "%s is executed by kernel %d in %d launches, %d threads, at %d "
             "times",
             point_text(trace, &instance->point), instance->kernel,
             instance->n_hosts, instance->n_grids, instance->n_threads);
    return false;
  }
  return true;
}

static const struct instance *launch_of(const void *pointer) {
  return *(const struct instance *const *)pointer;
}

static int compare_launches(const void *a, const void *b) {
  const struct instance *left = launch_of(a), *right = launch_of(b);
  if (left->kernel != right->kernel)
    return left->kernel < right->kernel ? -1 : 1;
  return time_compare(&left->host, &right->host);
}

int trace_launches(const struct trace *trace) {
  if (!trace->n_instances)
    return 0;
  const struct instance **sorted =
      must(calloc((size_t)trace->n_instances, sizeof(*sorted)));
  for (int i = 0; i < trace->n_instances; ++i)
    sorted[i] = &trace->instance[i];
  qsort(sorted, (size_t)trace->n_instances, sizeof(*sorted), compare_launches);
  int n = 1;
  for (int i = 1; i < trace->n_instances; ++i)
    n += compare_launches(&sorted[i - 1], &sorted[i]) != 0;
  free(sorted);
  return n;
}
