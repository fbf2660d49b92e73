/* check.h: is a mapping, or the plan of an array, right? By listing points.
 *
 * All functions return NULL, or what is wrong: a string that lives until the
 * next call.
 */
#ifndef PACC_TEST_CHECK_H
#define PACC_TEST_CHECK_H

#include "trace.h"

/* Of any two instances that access the same element of memory, one of them
 * writing, the first must finish before the second begins. */
const char *check_order(const struct trace *trace);

/* The reads of local scalars that are not in `crossing` (NULL: in none) must
 * find the same write as in the original program, in their own thread. */
const char *check_scalars(const struct trace *trace,
                          __isl_keep isl_union_set *crossing);

/* The extents of the array hold what the trace needs of them:
 * touched contains all accessed elements, and the other two extents;
 * out contains all elements that may be written, and no other ones but such
 * that certainly are, or that are copied in;
 * in contains the elements that are read before they are certainly written. */
const char *check_array(struct trace *trace, const struct pacc_array_plan *plan,
                        __isl_keep isl_space *array,
                        const struct values *values);

/* Executes the original program and the mapping, with values that depend on
 * all values read, may-writes that sometimes happen, threads in an order that
 * depends on the seed, device memory of its own and the copies of the plans;
 * the memory of the host must be the same in the end.
 *
 * `mapped` is the trace of what is mapped: elements of an array with an
 * expansion (NULL: none) have the iteration that the copy belongs to before
 * their subscripts. Copies to and from the host are those of the last one,
 * which must be where generated code looks for it. Values that are saved from
 * before a loop have arrays and statements of their own. */
struct device_array {
  struct pacc_array_plan *plan;
  __isl_keep isl_space *space;
  const struct pacc_expansion *expansion;
};
const char *check_execution(struct trace *trace, struct trace *mapped,
                            const struct device_array *arrays, int n_arrays,
                            const struct values *values, uint64_t seed);

#endif
