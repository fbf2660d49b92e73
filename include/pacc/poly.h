/* poly.h: from the polyhedral description of a region to kernels.
 *
 * lib/Poly decides, on isl objects alone, which loops become the grid of a
 * kernel, which stay loops of the host and which run inside a thread. It
 * includes no LLVM header. isl's conventions hold: __isl_take arguments are
 * consumed, NULL in gives NULL out, and "out of quota" is NULL, never "yes".
 */
#ifndef PACC_POLY_H
#define PACC_POLY_H

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/id.h>
#include <isl/schedule.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PACC_MAX_DIMS 3
#define PACC_MAX_INDICES 8
#define PACC_MAX_HOST_DIMS 8
#define PACC_MAX_PHASES 64

/* A region as the front end sees it.
 *
 * schedule    the original execution order; its domain is that of all
 *             statements. Bands are in program order.
 * context     what holds for the parameters wherever the kernels run
 * sizes       a superset of it: what the parameters may be in general, from
 *             which typical values are taken (a test program's small arrays
 *             say nothing about the sizes that the loops are meant for);
 *             NULL: context
 * expected    values that some of the parameters have in this program, as far
 *             as it can be seen; NULL: none
 * read, may_write, must_write
 *             accesses of memory: { Stmt[i] -> Array[j] }. must_write is a
 *             subset of may_write.
 * local_read, local_write
 *             accesses of scalars that every thread can keep for itself
 *             (temporaries and the values that a loop carries)
 * reduce      accesses that update an element by an operation whose order does
 *             not matter (s += x): each is in read and in must_write, all
 *             updates of an array are by one operation, and their statements
 *             access the array in no other way. Updates of one element may
 *             run in any order, and in several threads at a time if these
 *             are atomic. NULL: none
 * maybe       those of read and may_write that an instance does not always
 *             make; NULL: none
 */
struct pacc_scop {
  isl_schedule *schedule;
  isl_set *context;
  isl_set *sizes;
  isl_set *expected;
  isl_union_map *read;
  isl_union_map *may_write;
  isl_union_map *must_write;
  isl_union_map *local_read;
  isl_union_map *local_write;
  isl_union_map *reduce;
  isl_union_map *maybe;
};

void pacc_scop_clear(struct pacc_scop *scop);

/* A copy of the region; its members are NULL where memory is out. */
struct pacc_scop pacc_scop_copy(const struct pacc_scop *scop);

/* An array of which every iteration of some loops can have a copy of its own:
 * it holds no values from one iteration to the next, and what the region leaves
 * in it is the copy of the last iteration.
 *
 * array       the space of its elements
 * iteration   { Stmt[i] -> [h] }, of the statements that access it
 * last        the last iteration, a function of the parameters; undefined where
 *             there is none
 * counts      how many values h has along each dimension, holes counted. With
 *             iterations numbered along the box of these, h[0] outermost, the
 *             last one has the largest number.
 */
struct pacc_expansion {
  isl_space *array;
  isl_union_map *iteration;
  isl_pw_multi_aff *last;
  isl_pw_aff_list *counts;
};

struct pacc_expansions {
  unsigned n;
  struct pacc_expansion *at;
};

/* Lists the arrays whose copies free iterations of loops from waiting for each
 * other, and would take no undue memory. -1 after a failure, with nothing to
 * clear. */
int pacc_expansions_find(struct pacc_expansions *list,
                         const struct pacc_scop *scop);
void pacc_expansions_clear(struct pacc_expansions *list);

/* The array's entry, or NULL. */
const struct pacc_expansion *
pacc_expansion_of(const struct pacc_expansions *list,
                  __isl_keep isl_space *array);

/* Makes accesses of listed arrays those of a copy: { Stmt[i] -> Array[h, j] }.
 * What pacc_array_plan_compute says is about the arrays as they were: it takes
 * the region before this. -1 after a failure. */
int pacc_scop_expand(struct pacc_scop *scop,
                     const struct pacc_expansions *list);

/* A copy of elements that a loop of the region reads before other iterations of
 * it overwrite them, made right before that loop.
 *
 * array       the space of the elements
 * domain      the statement instances of the loop
 * depth       how many dimensions h of loops around it there are
 * elements    { [h] -> Array[j] }: what is copied in their iteration h
 * index       { Array[j] -> [k] }: where an element's copy is; k are the
 *             dimensions of j in kept[0 .. n_kept - 1]
 * source, target
 *             { [h, k] -> Array[j] }, { [h, k] -> [k] }: the statement of the
 *             copy
 * reads       accesses that take the copy: which (a number in the list of
 *             reads), and the part of it that does
 * statement, copy
 *             the ids of the statement and of the array of copies; the caller
 *             may put others here
 */
struct pacc_snapshot_read {
  unsigned access;
  isl_map *map;
};

struct pacc_snapshot {
  isl_space *array;
  isl_union_set *domain;
  unsigned depth;
  isl_map *elements;
  isl_map *index;
  unsigned n_kept;
  unsigned kept[PACC_MAX_INDICES];
  isl_map *source;
  isl_map *target;
  unsigned n_reads;
  struct pacc_snapshot_read *reads;
  isl_id *statement;
  isl_id *copy;
};

struct pacc_snapshots {
  unsigned n;
  struct pacc_snapshot *at;
};

/* Adds the copies to the list that free the iterations of a loop from waiting
 * until others have read what they overwrite: that of band number `place` of
 * the schedule, outer ones first. Adds none if there are none, or the loop is
 * within one that has copies. `reads` are the accesses of scop->read, one by
 * one, each with one element for an instance. -1: there is no such band. */
int pacc_snapshots_add(struct pacc_snapshots *list,
                       const struct pacc_scop *scop,
                       __isl_keep isl_map_list *reads, unsigned place);
void pacc_snapshots_clear(struct pacc_snapshots *list);

/* `index` of the snapshot as { Array[j] -> Copy[k] }. */
__isl_give isl_map *pacc_snapshot_index(const struct pacc_snapshot *snapshot);

/* Makes the copies statements of the region, and the reads those of copies. -1
 * after a failure. */
int pacc_scop_snapshot(struct pacc_scop *scop, __isl_keep isl_map_list *reads,
                       const struct pacc_snapshots *list);

/* Dependences between statement instances, source to sink.
 *
 * order       everything whose order must be kept; not that among updates
 * parallel    what instances that run in parallel must not have between them:
 *             order without the false dependences of local scalars
 * local_flow  from the write of a local scalar to its reads
 * exposed     { Stmt[i] -> Array[j] }: reads of values from before the region
 */
struct pacc_dependences {
  isl_union_map *order;
  isl_union_map *parallel;
  isl_union_map *local_flow;
  isl_union_map *exposed;
};

/* Memory-based dependences (isl's dataflow analysis): the last writes before
 * a read, and the reads and writes that a write overwrites. -1 after a
 * failure. */
int pacc_dependences_compute(struct pacc_dependences *deps,
                             const struct pacc_scop *scop);
void pacc_dependences_clear(struct pacc_dependences *deps);

/* One kernel of a mapping.
 *
 * domain      the statement instances that it executes
 * host        the host's loops around it, { Stmt[i] -> [h] }; NULL for none
 * path        for each of the first PACC_MAX_HOST_DIMS dimensions of h, which
 *             of the mapping's loops that is
 * n_path      how many dimensions h has
 * n_dims      how many dimensions of the grid it uses, 0 to 3; with none it
 *             is one thread
 * dim         the schedule dimension that runs along x, y and z
 * param       the parameter of the mapped schedule that stands for the
 *             thread's coordinate along x, y and z (pacc_x, ...)
 * tile        how many points along y a thread computes; 1: one
 * point       with a tile, the schedule dimension of which dim[1] is the
 *             quotient by `tile`
 * launches    how often the host launches it, at the expected sizes: the
 *             largest that the context allows, 1,000 where it sets no limit
 * extent      threads along x, y and z, at the expected sizes
 * active      share of these threads that have an instance: 0.5 for a triangle
 * work        statement instances of one launch, at the expected sizes
 */
struct pacc_kernel_plan {
  isl_union_set *domain;
  isl_union_map *host;
  unsigned path[PACC_MAX_HOST_DIMS];
  unsigned n_path;
  unsigned n_dims;
  isl_union_pw_aff *dim[PACC_MAX_DIMS];
  isl_id *param[PACC_MAX_DIMS];
  unsigned tile;
  isl_union_pw_aff *point;
  double launches;
  double extent[PACC_MAX_DIMS];
  double active;
  double work;
};

/* Threads of one launch that have an instance, at the expected sizes. */
double pacc_kernel_threads(const struct pacc_kernel_plan *kernel);

/* Seconds of all launches of the kernel, at the expected sizes, by the rough
 * model of plan_cost.c. */
double pacc_kernel_cost(const struct pacc_kernel_plan *kernel);

/* A loop of the host that no other is around: what it launches are its phases.
 *
 * first       number of its first kernel in the mapping
 * n_phases    of its kernels
 */
struct pacc_loop_plan {
  unsigned first;
  unsigned n_phases;
};

/* The schedule of a region with its kernels. In `schedule` every kernel is
 * the subtree below a mark named PACC_KERNEL_MARK whose user pointer is the
 * kernel's plan; everything above is executed by the host. PACC_LOOP_MARK with
 * a loop's plan stands above the bands of that loop, and PACC_ITERATION_MARK
 * below each band of the host.
 *
 * cost        seconds at the nominal size, by the rough model of plan_cost.c
 * host_cost   the same for the original loops on the host
 */
struct pacc_mapping {
  isl_schedule *schedule;
  unsigned n_kernels;
  struct pacc_kernel_plan *kernels;
  unsigned n_loops;
  struct pacc_loop_plan *loops;
  double cost;
  double host_cost;
};

#define PACC_KERNEL_MARK "pacc_kernel"
#define PACC_LOOP_MARK "pacc_loop"
#define PACC_ITERATION_MARK "pacc_iteration"

/* Chooses the mapping of a region. NULL: isl gave up (see isl_ctx_last_error)
 * or nothing can be mapped. */
struct pacc_mapping *pacc_mapping_compute(const struct pacc_scop *scop,
                                          const struct pacc_dependences *deps);
void pacc_mapping_free(struct pacc_mapping *mapping);

/* Takes instances apart, where they are executed, of which an access takes the
 * copy of a snapshot for some and not for others. -1 after a failure. */
int pacc_mapping_separate(struct pacc_mapping *mapping,
                          const struct pacc_snapshots *list);

/* Gives threads tiles of some points along y, where many of a kernel's loads
 * are the same for these: of `tile` points, or as many as leave a GPU enough
 * threads if that is 0. What threads with a full tile execute stands below a
 * mark named PACC_TILE_MARK: every statement for one point after the other,
 * unrolled, so that local scalars need a place for each point. -1 after a
 * failure; the mapping is of no use then. */
int pacc_mapping_tile(struct pacc_mapping *mapping,
                      const struct pacc_scop *scop, unsigned tile);

#define PACC_TILE_MARK "pacc_tile"

/* The number of the point in its tile, from 0 on, that `instances` are of:
 * those of one unrolled statement, with the thread's coordinates as parameters.
 */
unsigned pacc_tile_point(const struct pacc_kernel_plan *kernel,
                         __isl_keep isl_union_set *instances);

/* Does the place of a point in its tile follow from an element of the array
 * that it accesses? Points of different places, of any tile of a launch with
 * the same x, then never touch the same element. `array` is the space of its
 * elements. */
bool pacc_tile_keeps_apart(const struct pacc_kernel_plan *kernel,
                           const struct pacc_scop *scop,
                           __isl_keep isl_space *array);

/* The local scalars of `scop` (elements of the range of local_read) whose
 * values cross from one thread or launch to another under `mapping`: these
 * must live in memory. Empty if the mapping is fine as it is. */
__isl_give isl_union_set *
pacc_mapping_crossing_scalars(const struct pacc_mapping *mapping,
                              const struct pacc_scop *scop,
                              const struct pacc_dependences *deps);

/* What a phase of a loop waits for if one kernel runs the whole loop.
 *
 * Bit p of a set stands for kernel loop->first + p. While the kernel runs, it
 * keeps two sets of launches that may still be under way: those made since the
 * last PACC_ITERATION_MARK, and those made before, into which the first set
 * goes at each mark. Before a launch there must be a barrier, after which both
 * sets are empty, if `same` meets the first set or `earlier` the second.
 *
 * same        launches of the iteration that the phase depends on
 * earlier     the same, of any iteration
 * waits       at a phase like this there is a barrier, most of the time
 */
struct pacc_phase_plan {
  uint64_t same;
  uint64_t earlier;
  bool waits;
};

/* Fills in phases[0 .. loop->n_phases - 1]. Returns NULL, or why one kernel
 * can't run the loop. */
const char *pacc_loop_phases_compute(struct pacc_phase_plan *phases,
                                     const struct pacc_loop_plan *loop,
                                     const struct pacc_mapping *mapping,
                                     const struct pacc_scop *scop,
                                     const struct pacc_dependences *deps);

/* The values that one dimension takes, as functions of the parameters (and of
 * a map's domain): `count` of them from `first` on, holes counted. Where there
 * is none, count is 0 and first is undefined. */
struct pacc_range {
  isl_pw_aff *first;
  isl_pw_aff *count;
};

/* The values of output dimension `pos` for each point of the domain. -1 after
 * a failure. */
int pacc_range_compute(struct pacc_range *range, __isl_take isl_map *map,
                       unsigned pos);

/* Is `count` never more than `most` for the parameters in `context`? */
bool pacc_range_is_at_most(const struct pacc_range *range,
                           __isl_keep isl_set *context, int64_t most);

/* How much a kernel has to do in a whole region. Each list is a box whose size
 * is the product of the list's values.
 *
 * launches    of the kernel
 * threads     of all its launches
 * instances   statement instances, one box per statement or flat part of its
 *             instances (n_boxes)
 */
struct pacc_kernel_size {
  isl_pw_aff_list *launches;
  isl_pw_aff_list *threads;
  isl_pw_aff_list **instances;
  unsigned n_boxes;
};

/* -1 after a failure, with nothing to clear. */
int pacc_kernel_size_compute(struct pacc_kernel_size *size,
                             const struct pacc_kernel_plan *kernel);
void pacc_kernel_size_clear(struct pacc_kernel_size *size);

/* The updates of the kernel (a part of scop->reduce) whose elements several of
 * its threads update: these must be atomic. Every other update of an element
 * has its thread for itself. */
__isl_give isl_union_map *
pacc_kernel_shared_updates(const struct pacc_kernel_plan *kernel,
                           const struct pacc_scop *scop);

/* Those of `updates`, of the kernel, by which all threads that differ only in x
 * update one element. */
__isl_give isl_union_map *
pacc_kernel_row_updates(const struct pacc_kernel_plan *kernel,
                        __isl_keep isl_union_map *updates);

/* How one access of a kernel moves, at the expected sizes.
 *
 * array       the array's id; borrowed
 * affine      the steps below are known (else the access is a gather)
 * sequential  the thread's innermost loop contains it
 * count       executions per thread; those of a tile's points that access the
 *             same element count as one
 * points      elements that a tile's points access at a time: kernel->tile or 1
 * step[d][k]  change of subscript k when the thread moves by one along d = 0,
 *             1, 2 (x, y, z) in the same iteration of its loop, counted from
 *             where the loop begins; for d = PACC_MAX_DIMS, in the next one
 * offset[k]   constant part of subscript k
 */
struct pacc_access_step {
  isl_id *array;
  bool write;
  bool affine;
  bool sequential;
  double count;
  unsigned points;
  unsigned n_indices;
  long step[PACC_MAX_DIMS + 1][PACC_MAX_INDICES];
  long offset[PACC_MAX_INDICES];
};

void pacc_kernel_foreach_access(
    const struct pacc_kernel_plan *kernel, const struct pacc_scop *scop,
    void (*report)(const struct pacc_access_step *step, void *user),
    void *user);

/* A hull of array elements, as functions of the parameters.
 *
 * when        parameters for which there is any element
 * first, last indices of two elements
 * box         the elements i with first <= i <= last in every dimension (at
 *             most two dimensions); otherwise everything from first to last in
 *             memory
 */
struct pacc_extent {
  isl_set *when;
  isl_pw_multi_aff *first;
  isl_pw_multi_aff *last;
  bool box;
};

/* What happens to one array of a region.
 * touched     elements that any kernel accesses
 * in          has_in: elements whose values must be on the device at first
 * out         has_out: elements that must be copied back. All of them are
 *             either written or among those copied in.
 * maybe       conditional accesses had a part in the shapes: what they alone
 *             reach may be no memory at all
 * changes     some of what comes out may not have been written: the host's
 *             memory may only be changed where the kernels changed something
 * in_is_out   with changes: what goes in is exactly what comes out
 */
struct pacc_array_plan {
  struct pacc_extent touched;
  struct pacc_extent in;
  struct pacc_extent out;
  bool has_in;
  bool has_out;
  bool maybe;
  bool changes;
  bool in_is_out;
};

/* `array` is the space of the array's elements. -1 after a failure. */
int pacc_array_plan_compute(struct pacc_array_plan *plan,
                            const struct pacc_scop *scop,
                            const struct pacc_dependences *deps,
                            __isl_take isl_space *array);
void pacc_array_plan_clear(struct pacc_array_plan *plan);

/* A schedule for the instances `domain` that has parallel loops as far out as
 * possible (isl's scheduler with outer coincidence). NULL if isl finds none or
 * the dependences are too many for a bounded search. */
__isl_give isl_schedule *pacc_schedule_compute(
    __isl_take isl_union_set *domain, __isl_keep isl_union_map *order,
    __isl_keep isl_union_map *parallel, __isl_keep isl_set *context);

#ifdef __cplusplus
}
#endif
#endif
