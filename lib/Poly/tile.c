/* tile.c: several points of a kernel in one thread.
 *
 * Neighbours along y of a product of matrices read the same row of B. A thread
 * that computes F of them, statement by statement, loads its elements once, has
 * F independent sums, and needs F times fewer of the loads that they share.
 */
#include "poly_private.h"

#include <isl/aff.h>
#include <isl/id.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/val.h>
#include <stdlib.h>
#include <string.h>

enum { Y = PACC_TILE_DIM };

/* Threads that a large GPU has at least to be given for its schedulers to be
 * full: 16 warps for each of some 128 multiprocessors. */
static const double MIN_THREADS = 65536;

/* Accumulators and addresses of more points fill the registers. */
enum { MAX_TILE = 8 };

/* A tile must save a quarter of what the loads cost. */
static const double MAX_COST = 0.75;

/* Cycles of the load unit for the requests of one point: of those that every
 * point of a tile makes, and those that one makes for all. */
struct requests {
  double own, shared;
};

/* The cycles of one request of a warp: elements are taken to have 8 bytes, of
 * which 128 are delivered in a cycle if they lie side by side. What is apart
 * takes a cycle for each lane or two. */
static double request_cycles(const struct pacc_access_step *step) {
  const double uniform = 1, contiguous = 2, apart = 16;
  if (!step->affine)
    return apart;
  const long *x = step->step[0];
  for (unsigned k = 0; k + 1 < step->n_indices; ++k)
    if (x[k] != 0)
      return apart;
  long last = step->n_indices ? labs(x[step->n_indices - 1]) : 0;
  return last == 0 ? uniform : last == 1 ? contiguous : apart;
}

static void add_request(const struct pacc_access_step *step, void *user) {
  struct requests *requests = user;
  /* An address that the thread's loop does not move stays in a register. */
  bool kept =
      step->affine && step->sequential && !pacc_step_moves(step, PACC_MAX_DIMS);
  double cycles = request_cycles(step) * (kept ? 1 : step->count);
  if (step->affine && !pacc_step_moves(step, Y))
    requests->shared += cycles;
  else
    requests->own += cycles;
}

/* The largest tile that leaves the GPU enough threads. */
static unsigned widest_tile(const struct pacc_kernel_plan *kernel) {
  double threads = 1;
  for (unsigned d = 0; d < kernel->n_dims; ++d)
    threads *= kernel->extent[d];
  unsigned long y = (unsigned long)kernel->extent[Y];
  unsigned long tile = 1;
  while (2 * tile <= MAX_TILE && threads / (double)(2 * tile) >= MIN_THREADS &&
         y >= 2 * tile)
    tile *= 2;
  /* What is left of the grid behind the last tile takes long. */
  if (tile > 2 && y % tile != 0 && y % (tile / 2) == 0)
    tile /= 2;
  return (unsigned)tile;
}

/* The points of a tile: `given` or, if that is 0, as many as are good. 1 where
 * tiles save too little. */
static unsigned choose_tile(const struct pacc_kernel_plan *kernel,
                            const struct pacc_scop *scop, unsigned given) {
  /* In a loop of the host an access may move along y without naming it: where
   * j = h - 2y, say. */
  if (kernel->n_dims <= Y || kernel->host)
    return 1;
  struct requests requests = {0, 0};
  pacc_kernel_foreach_access(kernel, scop, add_request, &requests);
  unsigned tile = given ? given : widest_tile(kernel);
  double plain = requests.own + requests.shared;
  double tiled = requests.own + requests.shared / tile;
  return tiled <= MAX_COST * plain ? tile : 1;
}

static __isl_give isl_union_pw_aff *floor_of(__isl_keep isl_union_pw_aff *upa,
                                             unsigned divisor) {
  isl_val *by = isl_val_int_from_ui(isl_union_pw_aff_get_ctx(upa),
                                    (unsigned long)divisor);
  return isl_union_pw_aff_floor(
      isl_union_pw_aff_scale_down_val(isl_union_pw_aff_copy(upa), by));
}

static __isl_give isl_union_pw_aff *times(__isl_take isl_union_pw_aff *upa,
                                          unsigned factor) {
  isl_ctx *ctx = isl_union_pw_aff_get_ctx(upa);
  return isl_union_pw_aff_scale_val(
      upa, isl_val_int_from_ui(ctx, (unsigned long)factor));
}

/* The place of a point in its tile: y - tile * floor(y / tile). */
static __isl_give isl_union_pw_aff *
place_in_tile(const struct pacc_kernel_plan *kernel) {
  return isl_union_pw_aff_sub(
      isl_union_pw_aff_copy(kernel->point),
      times(isl_union_pw_aff_copy(kernel->dim[Y]), kernel->tile));
}

/* The instances of threads all of whose points run through the same loops: at
 * each position of the thread's schedule `inner`, all points have an instance
 * or none has. */
static __isl_give isl_union_set *
full_tiles(const struct pacc_kernel_plan *kernel,
           __isl_take isl_union_map *inner) {
  isl_union_map *thread = pacc_thread_of(kernel);
  isl_union_map *position =
      isl_union_map_range_product(isl_union_map_copy(thread), inner);
  isl_union_pw_aff *within = place_in_tile(kernel);
  isl_union_set *any = NULL, *all = NULL;
  for (unsigned c = 0; c < kernel->tile; ++c) {
    isl_val *value =
        isl_val_int_from_ui(isl_union_pw_aff_get_ctx(within), (unsigned long)c);
    isl_union_pw_aff *other = isl_union_pw_aff_val_on_domain(
        isl_union_set_universe(isl_union_set_copy(kernel->domain)), value);
    isl_union_set *point = isl_union_pw_aff_zero_union_set(
        isl_union_pw_aff_sub(isl_union_pw_aff_copy(within), other));
    isl_union_set *at = isl_union_map_range(
        isl_union_map_intersect_domain(isl_union_map_copy(position), point));
    all = all ? isl_union_set_intersect(all, isl_union_set_copy(at))
              : isl_union_set_copy(at);
    any = any ? isl_union_set_union(any, at) : at;
  }
  isl_union_pw_aff_free(within);
  isl_union_set *some = isl_union_set_subtract(isl_union_set_coalesce(any),
                                               isl_union_set_coalesce(all));
  isl_union_set *ragged = isl_union_set_apply(
      some, isl_union_map_reverse(position)); /* instances */
  ragged = isl_union_set_apply(ragged, isl_union_map_copy(thread));
  ragged = isl_union_set_apply(isl_union_set_coalesce(ragged),
                               isl_union_map_reverse(thread));
  return isl_union_set_coalesce(isl_union_set_subtract(
      isl_union_set_copy(kernel->domain), isl_union_set_coalesce(ragged)));
}

unsigned pacc_tile_point(const struct pacc_kernel_plan *kernel,
                         __isl_keep isl_union_set *instances) {
  isl_union_map *place = isl_union_map_from_union_pw_aff(place_in_tile(kernel));
  place = isl_union_map_intersect_domain(place, isl_union_set_copy(instances));
  isl_set *value = isl_set_from_union_set(isl_union_map_range(place));
  unsigned point = 0;
  while (point + 1 < kernel->tile) {
    isl_set *at =
        isl_set_fix_si(isl_set_copy(value), isl_dim_set, 0, (int)point);
    isl_bool other = isl_set_is_empty(at);
    isl_set_free(at);
    if (other == isl_bool_false)
      break;
    ++point;
  }
  isl_set_free(value);
  return point;
}

bool pacc_tile_keeps_apart(const struct pacc_kernel_plan *kernel,
                           const struct pacc_scop *scop,
                           __isl_keep isl_space *array) {
  isl_union_map *element = isl_union_map_union(
      isl_union_map_copy(scop->read), isl_union_map_copy(scop->may_write));
  element = isl_union_map_intersect_range(
      element, isl_union_set_from_set(isl_set_universe(isl_space_copy(array))));
  isl_union_map *x =
      isl_union_map_from_union_pw_aff(isl_union_pw_aff_copy(kernel->dim[0]));
  isl_union_map *touched = isl_union_map_range_product(
      isl_union_map_intersect_domain(x, isl_union_set_copy(kernel->domain)),
      element);
  isl_union_map *place = isl_union_map_from_union_pw_aff(place_in_tile(kernel));
  isl_union_map *places =
      isl_union_map_apply_range(isl_union_map_reverse(touched), place);
  bool apart = isl_union_map_is_single_valued(places) == isl_bool_true;
  isl_union_map_free(places);
  return apart;
}

/* Bands of one member: the points of a tile, unrolled at a leaf. */
struct points {
  isl_union_pw_aff *within;
  bool unroll;
};

static __isl_give isl_schedule_node *
insert_points(__isl_take isl_schedule_node *node, const struct points *points) {
  node = isl_schedule_node_insert_partial_schedule(
      node, isl_multi_union_pw_aff_from_union_pw_aff(
                isl_union_pw_aff_copy(points->within)));
  return points->unroll ? isl_schedule_node_band_member_set_ast_loop_type(
                              node, 0, isl_ast_loop_unroll)
                        : node;
}

static __isl_give isl_schedule_node *
insert_at_leaf(__isl_take isl_schedule_node *node, void *user) {
  return isl_schedule_node_get_type(node) == isl_schedule_node_leaf
             ? insert_points(node, user)
             : node;
}

/* The body of a kernel, for full tiles and for the rest. */
static __isl_give isl_schedule_node *
tile_body(__isl_take isl_schedule_node *body, struct points *points,
          __isl_take isl_union_set *full, __isl_take isl_union_set *rest) {
  isl_ctx *ctx = isl_schedule_node_get_ctx(body);
  isl_union_set_list *filters = isl_union_set_list_alloc(ctx, 2);
  filters = isl_union_set_list_add(filters, full);
  filters = isl_union_set_list_add(filters, rest);
  body = isl_schedule_node_insert_sequence(body, filters);

  body = isl_schedule_node_grandchild(body, 0, 0);
  points->unroll = true;
  body =
      isl_schedule_node_map_descendant_bottom_up(body, insert_at_leaf, points);
  body = isl_schedule_node_insert_mark(body,
                                       isl_id_alloc(ctx, PACC_TILE_MARK, NULL));
  body = isl_schedule_node_ancestor(body, 2);

  body = isl_schedule_node_grandchild(body, 1, 0);
  points->unroll = false;
  body = insert_points(body, points);
  return isl_schedule_node_ancestor(body, 2);
}

struct tiler {
  const struct pacc_scop *scop;
  isl_set *expected;
  unsigned given;
};

/* `mark` is that of the kernel, with a context and a filter below it. */
static __isl_give isl_schedule_node *
tile_kernel(__isl_take isl_schedule_node *mark, const struct tiler *tiler,
            struct pacc_kernel_plan *kernel) {
  unsigned tile = choose_tile(kernel, tiler->scop, tiler->given);
  if (tile == 1)
    return mark;
  isl_schedule_node *body = isl_schedule_node_grandchild(mark, 0, 0);
  body = isl_schedule_node_child(body, 0);
  kernel->tile = tile;
  kernel->point = kernel->dim[Y];
  kernel->dim[Y] = floor_of(kernel->point, tile);
  isl_union_set *full = full_tiles(
      kernel, isl_schedule_node_get_subtree_schedule_union_map(body));
  /* Both parts are code; the one for the rest is slow. */
  const double most_of_it = 0.5;
  if (!full || pacc_nominal_instances(tiler->expected, full) <
                   most_of_it * pacc_nominal_instances(tiler->expected,
                                                       kernel->domain)) {
    isl_union_set_free(full);
    isl_union_pw_aff_free(kernel->dim[Y]);
    kernel->dim[Y] = kernel->point;
    kernel->point = NULL;
    kernel->tile = 1;
    return isl_schedule_node_ancestor(body, 3);
  }
  isl_union_set *rest = isl_union_set_subtract(
      isl_union_set_copy(kernel->domain), isl_union_set_copy(full));
  struct points points = {place_in_tile(kernel), true};
  body = tile_body(body, &points, full, rest);
  isl_union_pw_aff_free(points.within);
  kernel->extent[Y] = (double)(long)((kernel->extent[Y] + tile - 1) / tile);

  isl_schedule_node *filter = isl_schedule_node_parent(body);
  filter = isl_schedule_node_delete(filter);
  filter = isl_schedule_node_insert_filter(filter, pacc_thread_filter(kernel));
  return isl_schedule_node_ancestor(filter, 2);
}

static __isl_give isl_schedule_node *
visit_mark(__isl_take isl_schedule_node *node, void *user) {
  if (isl_schedule_node_get_type(node) != isl_schedule_node_mark)
    return node;
  isl_id *id = isl_schedule_node_mark_get_id(node);
  struct pacc_kernel_plan *kernel =
      strcmp(isl_id_get_name(id), PACC_KERNEL_MARK) == 0 ? isl_id_get_user(id)
                                                         : NULL;
  isl_id_free(id);
  return kernel ? tile_kernel(node, user, kernel) : node;
}

int pacc_mapping_tile(struct pacc_mapping *mapping,
                      const struct pacc_scop *scop, unsigned tile) {
  struct tiler tiler = {scop, pacc_expected_sizes(scop), tile};
  isl_schedule *tiled = isl_schedule_map_schedule_node_bottom_up(
      isl_schedule_copy(mapping->schedule), visit_mark, &tiler);
  isl_set_free(tiler.expected);
  if (!tiled)
    return -1;
  isl_schedule_free(mapping->schedule);
  mapping->schedule = tiled;
  return 0;
}
