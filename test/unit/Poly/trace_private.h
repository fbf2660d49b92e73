/* trace_private.h: what trace.c and trace_mapping.c share. */
#ifndef PACC_TEST_TRACE_PRIVATE_H
#define PACC_TEST_TRACE_PRIVATE_H

#include "trace.h"

/* One pair of a relation; `to` has no name if the relation has none there. */
struct row {
  struct point from;
  int n_to;
  int to_name;
  long to[MAX_TIME];
};
typedef bool row_fn(struct row *row, void *user);

/* Calls fn for all pairs at the values, until it returns false: false then,
 * too.
 */
bool trace_foreach_row(struct trace *trace, __isl_keep isl_union_map *map,
                       const struct values *values, row_fn *fn, void *user);

/* NULL: the program has no such instance. */
struct instance *trace_find_instance(const struct trace *trace,
                                     const struct point *point);

#endif
