/* check_private.h: what check.c and check_execution.c share. */
#ifndef PACC_TEST_CHECK_PRIVATE_H
#define PACC_TEST_CHECK_PRIVATE_H

#include "check.h"

/* An extent at the values. */
struct range {
  bool any;
  bool box;
  struct point first, last;
};

struct ranges {
  struct range touched, in, out;
};

/* The only element of `aff` at the values; false if there is none. */
bool check_corner(struct trace *trace, __isl_keep isl_pw_multi_aff *aff,
                  const struct values *values, struct point *corner);

/* Does it hold the element? */
bool check_contains(const struct range *range, const struct point *p);

/* The extents of the plan at the values. NULL, or what is wrong. */
const char *check_ranges(struct trace *trace,
                         const struct pacc_array_plan *plan,
                         const struct values *values, struct ranges *ranges);

/* The array's number in trace.name. */
int check_array_name(const struct trace *trace, __isl_keep isl_space *array);

/* "<point> <what>": what the functions of check.h return. */
const char *check_complain(const struct trace *trace, const char *what,
                           const struct point *point);

#endif
