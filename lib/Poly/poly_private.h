/* poly_private.h: what the files of lib/Poly share. */
#ifndef PACC_POLY_PRIVATE_H
#define PACC_POLY_PRIVATE_H

#include "pacc/poly.h"

#include <isl/flow.h>
#include <isl/schedule_node.h>
#include <stdbool.h>

/* A plan is a schedule tree that knows who executes its loops.
 *
 * LEAF        one statement instance after the other (no loop left)
 * SEQUENCE    the children in order
 * LOOP        `loop`'s members as sequential loops: of the host above a
 *             kernel, of the thread inside one
 * KERNEL      one launch; `loop`'s members (x first, at most PACC_MAX_DIMS)
 *             are the grid, NULL for a single thread; the child runs inside
 *
 * domain      the statement instances below
 */
enum pacc_plan_type { PLAN_LEAF, PLAN_SEQUENCE, PLAN_LOOP, PLAN_KERNEL };

struct pacc_plan {
  enum pacc_plan_type type;
  isl_union_set *domain;
  isl_multi_union_pw_aff *loop;
  int n;
  struct pacc_plan **child;
};

struct pacc_plan *pacc_plan_alloc(enum pacc_plan_type type,
                                  __isl_take isl_union_set *domain,
                                  __isl_take isl_multi_union_pw_aff *loop,
                                  int n_children);
void pacc_plan_free(struct pacc_plan *plan);

/* A plan with one child; NULL (and nothing leaked) if the child is NULL. */
struct pacc_plan *pacc_plan_wrap(enum pacc_plan_type type,
                                 __isl_take isl_multi_union_pw_aff *loop,
                                 struct pacc_plan *child);
struct pacc_plan *pacc_plan_leaf(__isl_take isl_union_set *domain);

/* Does the plan launch each of its kernels once, every one of them parallel? */
bool pacc_plan_is_fully_parallel(const struct pacc_plan *plan);

/* Who wrote what `sink` reads: isl's dataflow analysis in the order of a
 * schedule. must, may: writes that certainly happen, and those that may (NULL:
 * none). */
__isl_give isl_union_flow *pacc_flow_compute(__isl_keep isl_union_map *sink,
                                             __isl_keep isl_union_map *must,
                                             __isl_keep isl_union_map *may,
                                             __isl_keep isl_schedule *order);

/* The accesses of one array, in the context. */
__isl_give isl_union_map *pacc_accesses_of(__isl_keep isl_union_map *accesses,
                                           __isl_keep isl_space *array,
                                           __isl_keep isl_set *context);

/* { a -> b : image(a) and image(b) meet } */
__isl_give isl_union_map *pacc_same(__isl_keep isl_union_map *image);

/* { S -> [v] }: the loop's values. */
__isl_give isl_union_map *
pacc_loop_map(__isl_keep isl_multi_union_pw_aff *loop);

/* Members first, first + 1, ... (count of them) of a multi-dimensional loop. */
__isl_give isl_multi_union_pw_aff *
pacc_loop_members(__isl_keep isl_multi_union_pw_aff *loop, int first,
                  int count);

/* The members order[0], ..., order[count - 1]. */
__isl_give isl_multi_union_pw_aff *
pacc_loop_pick(__isl_keep isl_multi_union_pw_aff *loop, const int *order,
               int count);

/* Is member `pos` the same at both ends of every dependence? */
bool pacc_loop_is_parallel(__isl_keep isl_union_map *deps,
                           __isl_keep isl_multi_union_pw_aff *loop, int pos);

/* What a plan is made for.
 * nominal     the context with every parameter at a typical value
 * expected    the same, from what the arrays allow: for the sizes of kernels
 */
struct pacc_planner {
  const struct pacc_scop *scop;
  const struct pacc_dependences *deps;
  isl_set *nominal;
  isl_set *expected;
};

/* The best plan found for the whole region. */
struct pacc_plan *pacc_plan_compute(struct pacc_planner *planner);

/* Seconds for the plan at the nominal size, every loop in `prefix` (S -> [i],
 * NULL for none) around it being a loop of the host. */
double pacc_plan_cost(const struct pacc_planner *planner,
                      const struct pacc_plan *plan,
                      __isl_keep isl_union_map *prefix);

/* The cheaper of two plans, of which either may be NULL; frees the other. */
struct pacc_plan *pacc_plan_cheaper(const struct pacc_planner *planner,
                                    __isl_keep isl_union_map *prefix,
                                    struct pacc_plan *a, struct pacc_plan *b);

/* The plan that a schedule tree describes: its parallel bands become kernels,
 * or, in_kernel, all of it becomes loops of one thread. */
struct pacc_plan *pacc_plan_from_node(const struct pacc_planner *planner,
                                      __isl_keep isl_schedule_node *node,
                                      __isl_keep isl_union_map *prefix,
                                      bool in_kernel);

/* A kernel whose grid is made of the parallel members of `loop`. The rest of
 * the members run inside the thread, in their order, and then `inner`. */
struct pacc_plan *pacc_plan_kernel(const struct pacc_planner *planner,
                                   __isl_keep isl_schedule_node *inner,
                                   __isl_keep isl_multi_union_pw_aff *loop,
                                   const bool *parallel);

/* The plan from isl's schedule for the instances of `domain` within one
 * iteration of the host's loops. */
struct pacc_plan *pacc_plan_with_isl(const struct pacc_planner *planner,
                                     __isl_keep isl_union_set *domain,
                                     __isl_keep isl_union_map *prefix);

/* Makes neighbouring kernels of the plan's sequences one, where that is legal
 * and costs less: those that loops of the host launch again and again. */
void pacc_plan_fuse(const struct pacc_planner *planner, struct pacc_plan *plan,
                    __isl_keep isl_union_map *prefix);

/* The plan without the host's loops of a single iteration, in place of `plan`.
 * isl would take the statements of a kernel in such a loop apart, since it
 * knows their order: each would be a launch of its own. */
struct pacc_plan *pacc_plan_drop_fixed_loops(struct pacc_plan *plan,
                                             __isl_keep isl_union_map *prefix);

/* { Stmt[i] -> [x, y, z] }: the thread that executes an instance of a kernel
 * with a grid. */
__isl_give isl_union_map *pacc_thread_of(const struct pacc_kernel_plan *kernel);

/* Is the element another one along dimension `dim` of the steps? */
bool pacc_step_moves(const struct pacc_access_step *step, unsigned dim);

/* The dimension of the grid along which a thread has a tile: y. */
enum { PACC_TILE_DIM = 1 };

/* { S[i] : dim(S[i]) = param for every dimension of the grid } */
__isl_give isl_union_set *
pacc_thread_filter(const struct pacc_kernel_plan *kernel);

/* A set of parameter values that stands for a typical run. */
__isl_give isl_set *pacc_nominal_context(__isl_keep isl_set *context,
                                         __isl_keep isl_union_set *domain);

/* The same for a region. */
__isl_give isl_set *pacc_nominal_sizes(const struct pacc_scop *scop);

/* The parameter values that a program with these arrays has, most likely: those
 * that its calls show, the largest that the context allows otherwise, typical
 * ones where it sets no limit. */
__isl_give isl_set *pacc_expected_sizes(const struct pacc_scop *scop);

/* The iterator of `stmt` that member `pos` of `loop` follows, if possible one
 * that no other member follows; -1 if there is none. */
int pacc_followed_iterator(__isl_keep isl_multi_union_pw_aff *loop, int pos,
                           __isl_keep isl_set *stmt);

/* Trips of each member of `loop` over `domain` at the nominal size: the
 * product of the extents, written one by one to extent[] if that is not NULL.
 */
double pacc_nominal_trips(__isl_keep isl_set *nominal,
                          __isl_keep isl_union_set *domain,
                          __isl_keep isl_union_map *loop, double *extent);

/* Share of the box around the points of `grid` that have an instance, in the
 * larger of the first and the last launch (NULL: there is one). */
double pacc_nominal_active(__isl_keep isl_set *nominal,
                           __isl_keep isl_union_set *domain,
                           __isl_keep isl_union_map *launch,
                           __isl_keep isl_union_map *grid);

/* Statement instances of `domain` at the nominal size, each statement's
 * (or flat part's) counted as its bounding box. */
double pacc_nominal_instances(__isl_keep isl_set *nominal,
                              __isl_keep isl_union_set *domain);

enum { PACC_MAX_SET_DIMS = 32 };

/* Which dimensions of `set` follow from those before them by an equality, like
 * j in { [i, j] : j = i + 1 }; only the first PACC_MAX_SET_DIMS are looked at.
 */
void pacc_determined_dims(__isl_keep isl_set *set,
                          bool determined[PACC_MAX_SET_DIMS]);

/* Calls fn with parts of `set`, one after the other: those that each lie in a
 * plane where the whole does not, like a row and a column, or else the set. The
 * boxes around parts like these are small. */
isl_stat pacc_foreach_flat_part(__isl_take isl_set *set,
                                isl_stat (*fn)(__isl_take isl_set *set,
                                               void *user),
                                void *user);

/* The expression of any one piece, which stands for the whole in estimates;
 * NULL if there is none. */
__isl_give isl_multi_aff *pacc_first_piece(__isl_take isl_pw_multi_aff *pieces);

/* How well member `pos` of `loop` walks memory as x of a thread block: the
 * higher, the more of the accesses of `domain` are contiguous along it. */
double pacc_member_contiguity(const struct pacc_planner *planner,
                              __isl_keep isl_union_set *domain,
                              __isl_keep isl_multi_union_pw_aff *loop, int pos);

/* { a -> b : both at the same point of `prefix` } of deps; deps itself if
 * prefix is NULL. */
__isl_give isl_union_map *pacc_within(__isl_take isl_union_map *deps,
                                      __isl_keep isl_union_map *prefix);

/* prefix followed by the members of loop, S -> [i, j]. */
__isl_give isl_union_map *pacc_append(__isl_keep isl_union_map *prefix,
                                      __isl_keep isl_multi_union_pw_aff *loop);

#endif
