/* trace.h: a region at fixed parameter values, instance by instance.
 *
 * Everything here is found by listing points, not by isl's analyses: it is
 * what the results of lib/Poly are compared with.
 */
#ifndef PACC_TEST_TRACE_H
#define PACC_TEST_TRACE_H

#include "pacc/poly.h"

#include <stdbool.h>

enum {
  MAX_PARAMS = 12,
  MAX_COORDS = 8,
  MAX_TIME = 24,
  MAX_NAMES = 128,
  MAX_KERNELS = 128,
  NAME_SIZE = 80
};

/* Values of parameters. */
struct values {
  int n;
  char name[MAX_PARAMS][NAME_SIZE];
  long value[MAX_PARAMS];
};

/* A vector of the schedule. Sequences contribute the number of the child. */
struct time {
  int n;
  long at[MAX_TIME];
};

/* One statement instance, or one element of an array or a scalar.
 * name   of the statement or array: an index of trace.name */
struct point {
  int name;
  int n;
  long at[MAX_COORDS];
};

/* What happens to an instance.
 * original     when the original program executes it
 * kernel       the kernel that executes it, -1 for none
 * host, grid, thread
 *              under the mapping: the host's time of the launch, the thread's
 *              coordinates and the number of the point in its tile, the time
 *              within the thread. Points of a full tile have scalars of their
 *              own, and nothing may depend on their order: they count as
 *              threads
 * n_places     how often the mapping executes it
 * loop         with trace_run_loops: the loop of the mapping that executes it
 *              in one kernel, -1 for none
 * barriers     how many barriers there were in this kernel before
 */
struct instance {
  struct point point;
  struct time original;
  int kernel;
  struct time host;
  long grid[PACC_MAX_DIMS + 1];
  struct time thread;
  int n_hosts, n_grids, n_threads;
  int loop, barriers;
};

enum access_kind {
  ACCESS_READ,
  ACCESS_MAY_WRITE,
  ACCESS_MUST_WRITE,
  ACCESS_LOCAL_READ,
  ACCESS_LOCAL_WRITE,
  N_ACCESS_KINDS
};

/* Instance (an index) and element (an index). */
struct access {
  int instance;
  int element;
};

struct accesses {
  int n, capacity;
  struct access *at;
};

/* Where marks of iterations are: entries of the host's time outside of them. */
struct marks {
  int n;
  int at[MAX_TIME];
};

/* instances and elements are sorted (by name, then coordinates); accesses of a
 * kind by element, then by the original order of the instances. */
struct trace {
  int n_names;
  char name[MAX_NAMES][NAME_SIZE];
  int n_instances, n_elements;
  struct instance *instance;
  struct point *element;
  struct accesses access[N_ACCESS_KINDS];
  struct marks marks[MAX_KERNELS]; /* around kernels */
  char problem[512];
};

/* The parameters of the region, with value 0. */
struct values values_of(const struct pacc_scop *scop);

/* Are the values in the context? */
bool values_are_possible(const struct pacc_scop *scop,
                         const struct values *values);

/* Lists the region at the values. NULL if it has more than `limit` instances
 * (or accesses of one kind, times ten). */
struct trace *trace_of(const struct pacc_scop *scop,
                       const struct values *values, int limit);
void trace_free(struct trace *trace);

/* Fills in where the mapping executes each instance. False, with a text in
 * trace->problem, if it does not execute each of them once. */
bool trace_map(struct trace *trace, const struct pacc_mapping *mapping,
               const struct values *values);

/* Runs loops in kernels of their own, where that can be. Returns how many
 * barriers there are. */
int trace_run_loops(struct trace *trace, const struct pacc_mapping *mapping,
                    const struct pacc_scop *scop,
                    const struct pacc_dependences *deps);

/* The index of an element; -1 if no instance accesses it. */
int trace_find_element(const struct trace *trace, const struct point *element);

/* -1, 0, 1: lexicographic, missing entries are 0. */
int time_compare(const struct time *a, const struct time *b);
int point_compare(const struct point *a, const struct point *b);

/* Same launch; same thread of the same launch. */
bool same_launch(const struct instance *a, const struct instance *b);
bool same_thread(const struct instance *a, const struct instance *b);

/* Does the mapping guarantee that a has finished when b begins? */
bool is_before(const struct instance *a, const struct instance *b);

/* Launches of the kernels together. */
int trace_launches(const struct trace *trace);

/* "S[1,2]", in a buffer that is used again by the eighth next call. */
const char *point_text(const struct trace *trace, const struct point *point);

/* The points of a set at the values: calls fn with each. False if fn returned
 * false, or isl failed. */
typedef bool point_fn(const struct point *point, void *user);
bool foreach_element(struct trace *trace, __isl_keep isl_union_set *set,
                     const struct values *values, point_fn *fn, void *user);

#endif
