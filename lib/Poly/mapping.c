/* mapping.c: from a plan to the schedule that code is generated from. */
#include "poly_private.h"

#include "pacc/cost.h"

#include <isl/aff.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/schedule_node.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <stdlib.h>
#include <string.h>

static const char *const PARAM_NAMES[PACC_MAX_DIMS] = {"pacc_x", "pacc_y",
                                                       "pacc_z"};

static unsigned count_kernels(const struct pacc_plan *plan) {
  if (plan->type == PLAN_KERNEL)
    return 1;
  unsigned n = 0;
  for (int i = 0; i < plan->n; ++i)
    n += count_kernels(plan->child[i]);
  return n;
}

/* Loops of the host with none around. */
static unsigned count_loops(const struct pacc_plan *plan) {
  if (plan->type != PLAN_SEQUENCE)
    return plan->type == PLAN_LOOP;
  unsigned n = 0;
  for (int i = 0; i < plan->n; ++i)
    n += count_loops(plan->child[i]);
  return n;
}

static void fill_kernel(struct pacc_kernel_plan *kernel,
                        const struct pacc_planner *planner,
                        const struct pacc_plan *plan,
                        __isl_keep isl_union_map *prefix) {
  isl_ctx *ctx = isl_union_set_get_ctx(plan->domain);
  kernel->domain = isl_union_set_copy(plan->domain);
  kernel->host = prefix ? isl_union_map_copy(prefix) : NULL;
  kernel->launches =
      prefix ? pacc_nominal_trips(planner->expected, plan->domain, prefix, NULL)
             : 1;
  kernel->work = pacc_nominal_instances(planner->expected, plan->domain) /
                 kernel->launches;
  for (int i = 0; i < PACC_MAX_DIMS; ++i)
    kernel->extent[i] = 1;
  kernel->tile = 1;
  kernel->active = 1;
  if (!plan->loop)
    return;
  isl_size n = isl_multi_union_pw_aff_dim(plan->loop, isl_dim_set);
  kernel->n_dims = n < 0 ? 0 : (unsigned)n;
  for (unsigned i = 0; i < kernel->n_dims; ++i) {
    kernel->dim[i] =
        isl_multi_union_pw_aff_get_union_pw_aff(plan->loop, (int)i);
    kernel->param[i] = isl_id_alloc(ctx, PARAM_NAMES[i], NULL);
  }
  isl_union_map *grid = pacc_loop_map(plan->loop);
  pacc_nominal_trips(planner->expected, plan->domain, grid, kernel->extent);
  kernel->active =
      pacc_nominal_active(planner->expected, plan->domain, prefix, grid);
  isl_union_map_free(grid);
}

__isl_give isl_union_set *
pacc_thread_filter(const struct pacc_kernel_plan *kernel) {
  isl_union_set *filter = isl_union_set_copy(kernel->domain);
  for (unsigned i = 0; i < kernel->n_dims; ++i) {
    isl_union_set *domain =
        isl_union_set_universe(isl_union_set_copy(kernel->domain));
    isl_union_pw_aff *param = isl_union_pw_aff_param_on_domain_id(
        domain, isl_id_copy(kernel->param[i]));
    isl_union_pw_aff *difference =
        isl_union_pw_aff_sub(isl_union_pw_aff_copy(kernel->dim[i]), param);
    filter = isl_union_set_intersect(
        filter, isl_union_pw_aff_zero_union_set(difference));
  }
  return isl_union_set_gist(filter, isl_union_set_copy(kernel->domain));
}

/* The threads' coordinates enter the schedule as parameters. The set is one of
 * points of the `depth` schedule dimensions outside of it. */
static __isl_give isl_set *thread_context(const struct pacc_kernel_plan *kernel,
                                          isl_size depth) {
  isl_ctx *ctx = isl_union_set_get_ctx(kernel->domain);
  isl_space *space =
      isl_space_set_alloc(ctx, kernel->n_dims, depth < 0 ? 0 : (unsigned)depth);
  for (unsigned i = 0; i < kernel->n_dims; ++i)
    space = isl_space_set_dim_id(space, isl_dim_param, i,
                                 isl_id_copy(kernel->param[i]));
  return isl_set_universe(space);
}

/* path    loops of the host around, by dimension; n_path of them
 * n_dims  dimensions of the host's loops so far, each with a number */
struct emitter {
  const struct pacc_planner *planner;
  struct pacc_mapping *mapping;
  unsigned next;
  unsigned next_loop;
  bool in_kernel;
  unsigned path[PACC_MAX_HOST_DIMS];
  unsigned n_path;
  unsigned n_dims;
};

/* Replaces the leaf at `node` by the plan; returns the node at that place. */
static __isl_give isl_schedule_node *emit(struct emitter *e,
                                          const struct pacc_plan *plan,
                                          __isl_take isl_schedule_node *node,
                                          __isl_keep isl_union_map *prefix);

static __isl_give isl_schedule_node *
emit_below(struct emitter *e, const struct pacc_plan *plan,
           __isl_take isl_schedule_node *node,
           __isl_keep isl_union_map *prefix) {
  node = isl_schedule_node_child(node, 0);
  node = emit(e, plan, node, prefix);
  return isl_schedule_node_parent(node);
}

static __isl_give isl_schedule_node *
emit_sequence(struct emitter *e, const struct pacc_plan *plan,
              __isl_take isl_schedule_node *node,
              __isl_keep isl_union_map *prefix) {
  if (plan->n == 1)
    return emit(e, plan->child[0], node, prefix);
  isl_ctx *ctx = isl_schedule_node_get_ctx(node);
  isl_union_set_list *filters = isl_union_set_list_alloc(ctx, plan->n);
  for (int i = 0; i < plan->n; ++i)
    filters = isl_union_set_list_add(
        filters, isl_union_set_copy(plan->child[i]->domain));
  node = isl_schedule_node_insert_sequence(node, filters);
  for (int i = 0; i < plan->n; ++i) {
    node = isl_schedule_node_child(node, i);
    node = emit_below(e, plan->child[i], node, prefix);
    node = isl_schedule_node_parent(node);
  }
  return node;
}

static __isl_give isl_schedule_node *
emit_kernel(struct emitter *e, const struct pacc_plan *plan,
            __isl_take isl_schedule_node *node,
            __isl_keep isl_union_map *prefix) {
  isl_ctx *ctx = isl_schedule_node_get_ctx(node);
  struct pacc_kernel_plan *kernel = &e->mapping->kernels[e->next++];
  fill_kernel(kernel, e->planner, plan, prefix);
  memcpy(kernel->path, e->path, sizeof(e->path));
  kernel->n_path = e->n_path;

  /* From the inside out: body, filter, context, mark. */
  e->in_kernel = true;
  node = emit(e, plan->child[0], node, NULL);
  e->in_kernel = false;
  if (kernel->n_dims) {
    node = isl_schedule_node_insert_filter(node, pacc_thread_filter(kernel));
    isl_size depth = isl_schedule_node_get_schedule_depth(node);
    node =
        isl_schedule_node_insert_context(node, thread_context(kernel, depth));
  }
  return isl_schedule_node_insert_mark(
      node, isl_id_alloc(ctx, PACC_KERNEL_MARK, kernel));
}

static __isl_give isl_schedule_node *
emit_band(struct emitter *e, const struct pacc_plan *plan,
          __isl_take isl_schedule_node *node,
          __isl_keep isl_union_map *prefix) {
  isl_union_map *inner = pacc_append(prefix, plan->loop);
  node = isl_schedule_node_insert_partial_schedule(
      node, isl_multi_union_pw_aff_copy(plan->loop));
  node = emit_below(e, plan->child[0], node, inner);
  isl_union_map_free(inner);
  return node;
}

static __isl_give isl_schedule_node *
emit_host_loop(struct emitter *e, const struct pacc_plan *plan,
               __isl_take isl_schedule_node *node,
               __isl_keep isl_union_map *prefix) {
  isl_ctx *ctx = isl_schedule_node_get_ctx(node);
  struct pacc_loop_plan *loop =
      e->n_path ? NULL : &e->mapping->loops[e->next_loop++];
  if (loop)
    loop->first = e->next;
  unsigned outer = e->n_path;
  isl_size n = isl_multi_union_pw_aff_dim(plan->loop, isl_dim_set);
  for (int d = 0; d < n; ++d, ++e->n_path, ++e->n_dims)
    if (e->n_path < PACC_MAX_HOST_DIMS)
      e->path[e->n_path] = e->n_dims;
  node = emit_band(e, plan, node, prefix);
  e->n_path = outer;

  node = isl_schedule_node_child(node, 0);
  node = isl_schedule_node_insert_mark(
      node, isl_id_alloc(ctx, PACC_ITERATION_MARK, NULL));
  node = isl_schedule_node_parent(node);
  if (!loop)
    return node;
  loop->n_phases = e->next - loop->first;
  return isl_schedule_node_insert_mark(node,
                                       isl_id_alloc(ctx, PACC_LOOP_MARK, loop));
}

static __isl_give isl_schedule_node *emit(struct emitter *e,
                                          const struct pacc_plan *plan,
                                          __isl_take isl_schedule_node *node,
                                          __isl_keep isl_union_map *prefix) {
  switch (plan->type) {
  case PLAN_LEAF:
    return node;
  case PLAN_SEQUENCE:
    return emit_sequence(e, plan, node, prefix);
  case PLAN_LOOP:
    return e->in_kernel ? emit_band(e, plan, node, prefix)
                        : emit_host_loop(e, plan, node, prefix);
  case PLAN_KERNEL:
    return emit_kernel(e, plan, node, prefix);
  }
  return node;
}

struct pacc_mapping *pacc_mapping_compute(const struct pacc_scop *scop,
                                          const struct pacc_dependences *deps) {
  struct pacc_planner planner = {scop, deps, pacc_nominal_sizes(scop),
                                 pacc_expected_sizes(scop)};
  struct pacc_plan *plan = pacc_plan_compute(&planner);
  struct pacc_mapping *mapping = plan ? calloc(1, sizeof(*mapping)) : NULL;
  if (mapping) {
    mapping->n_kernels = count_kernels(plan);
    mapping->kernels =
        calloc(mapping->n_kernels, sizeof(struct pacc_kernel_plan));
    mapping->n_loops = count_loops(plan);
    mapping->loops =
        calloc(mapping->n_loops + 1, sizeof(struct pacc_loop_plan));
    mapping->cost = pacc_plan_cost(&planner, plan, NULL);
    mapping->host_cost = PACC_SECONDS_HOST_INSTANCE *
                         pacc_nominal_instances(planner.nominal, plan->domain);
  }
  if (mapping && mapping->kernels && mapping->loops) {
    struct emitter e = {.planner = &planner, .mapping = mapping};
    isl_schedule *schedule =
        isl_schedule_from_domain(isl_schedule_get_domain(scop->schedule));
    isl_schedule_node *root = isl_schedule_get_root(schedule);
    isl_schedule_free(schedule);
    root = emit_below(&e, plan, root, NULL);
    mapping->schedule = isl_schedule_node_get_schedule(root);
    isl_schedule_node_free(root);
  }
  pacc_plan_free(plan);
  isl_set_free(planner.nominal);
  isl_set_free(planner.expected);
  if (mapping && !mapping->schedule) {
    pacc_mapping_free(mapping);
    return NULL;
  }
  return mapping;
}

void pacc_mapping_free(struct pacc_mapping *mapping) {
  if (!mapping)
    return;
  isl_schedule_free(mapping->schedule);
  for (unsigned k = 0; mapping->kernels && k < mapping->n_kernels; ++k) {
    struct pacc_kernel_plan *kernel = &mapping->kernels[k];
    isl_union_set_free(kernel->domain);
    isl_union_map_free(kernel->host);
    isl_union_pw_aff_free(kernel->point);
    for (unsigned i = 0; i < PACC_MAX_DIMS; ++i) {
      isl_union_pw_aff_free(kernel->dim[i]);
      isl_id_free(kernel->param[i]);
    }
  }
  free(mapping->kernels);
  free(mapping->loops);
  free(mapping);
}

/* S -> [host loops around its kernel, grid]: instances with the same value
 * are executed by the same thread of the same launch. */
struct place {
  isl_union_map *map;
  int n_kernels;
};

static isl_bool add_place(__isl_keep isl_schedule_node *node, void *user) {
  struct place *place = user;
  if (isl_schedule_node_get_type(node) != isl_schedule_node_mark)
    return isl_bool_true;
  isl_id *id = isl_schedule_node_mark_get_id(node);
  const struct pacc_kernel_plan *kernel = isl_id_get_user(id);
  bool is_kernel = strcmp(isl_id_get_name(id), PACC_KERNEL_MARK) == 0;
  isl_id_free(id);
  if (!is_kernel)
    return isl_bool_true;
  isl_union_map *where = isl_schedule_node_get_prefix_schedule_union_map(node);
  where =
      isl_union_map_intersect_domain(where, isl_union_set_copy(kernel->domain));
  for (unsigned i = 0; i < kernel->n_dims; ++i)
    where = isl_union_map_flat_range_product(
        where,
        isl_union_map_from_union_pw_aff(isl_union_pw_aff_copy(kernel->dim[i])));
  /* Number the kernels, so that two of them never share a place. */
  isl_ctx *ctx = isl_union_map_get_ctx(where);
  isl_set *number = isl_set_universe(isl_space_set_alloc(ctx, 0, 1));
  number = isl_set_fix_si(number, isl_dim_set, 0, place->n_kernels++);
  isl_union_map *tag = isl_union_map_from_domain_and_range(
      isl_union_set_copy(kernel->domain), isl_union_set_from_set(number));
  where = isl_union_map_flat_range_product(where, tag);
  place->map = isl_union_map_union(place->map, where);
  return isl_bool_false;
}

__isl_give isl_union_set *
pacc_mapping_crossing_scalars(const struct pacc_mapping *mapping,
                              const struct pacc_scop *scop,
                              const struct pacc_dependences *deps) {
  struct place place = {
      isl_union_map_empty(isl_union_map_get_space(deps->local_flow)), 0};
  isl_schedule_foreach_schedule_node_top_down(mapping->schedule, add_place,
                                              &place);
  isl_union_map *same = pacc_same(place.map);
  isl_union_map_free(place.map);
  isl_union_map *crossing =
      isl_union_map_subtract(isl_union_map_copy(deps->local_flow), same);
  isl_union_map *reads = isl_union_map_intersect_domain(
      isl_union_map_copy(scop->local_read), isl_union_map_range(crossing));
  return isl_union_map_range(reads);
}
