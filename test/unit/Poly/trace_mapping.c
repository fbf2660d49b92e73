/* trace_mapping.c: where a mapping executes the instances of a region. */
#include "trace_private.h"

#include "support.h"

#include <isl/map.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  struct instance *instance = trace_find_instance(mapper->trace, &row->from);
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
      trace_foreach_row(mapper->trace, times, mapper->values, set_host, mapper);
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
    result = trace_foreach_row(mapper->trace, parents, mapper->values, set_grid,
                               mapper);
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
      result = trace_foreach_row(mapper->trace, times, mapper->values,
                                 set_thread, mapper);
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
