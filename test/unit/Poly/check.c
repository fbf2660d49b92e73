/* check.c: compares mappings and plans of arrays with lists of points. */
#include "check_private.h"

#include "support.h"

#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char message[1024];

/*===-- Order -------------------------------------------------------------===*/

/* One access of an element, and whether it writes. */
struct touch {
  int instance;
  bool write;
};

static const char *check_pair(const struct trace *trace, int element,
                              struct touch a, struct touch b) {
  const struct instance *first = &trace->instance[a.instance];
  const struct instance *second = &trace->instance[b.instance];
  if (a.instance == b.instance || (!a.write && !b.write))
    return NULL;
  if (time_compare(&first->original, &second->original) > 0) {
    const struct instance *swap = first;
    first = second;
    second = swap;
  }
  if (is_before(first, second))
    return NULL;
  snprintf(message, sizeof(message),
           "%s of kernel %d must precede %s of kernel %d (because of %s)",
           point_text(trace, &first->point), first->kernel,
           point_text(trace, &second->point), second->kernel,
           point_text(trace, &trace->element[element]));
  return message;
}

const char *check_order(const struct trace *trace) {
  const struct accesses *read = &trace->access[ACCESS_READ];
  const struct accesses *write = &trace->access[ACCESS_MAY_WRITE];
  struct touch *touch =
      must(calloc((size_t)(read->n + write->n + 1), sizeof(*touch)));
  const char *problem = NULL;
  int r = 0, w = 0;
  for (int e = 0; e < trace->n_elements && !problem; ++e) {
    int n = 0;
    for (; r < read->n && read->at[r].element == e; ++r)
      touch[n++] = (struct touch){read->at[r].instance, false};
    for (; w < write->n && write->at[w].element == e; ++w)
      touch[n++] = (struct touch){write->at[w].instance, true};
    for (int a = 0; a < n && !problem; ++a)
      for (int b = a + 1; b < n && !problem; ++b)
        problem = check_pair(trace, e, touch[a], touch[b]);
  }
  free(touch);
  return problem;
}

/*===-- Local scalars -----------------------------------------------------===*/

/* Accesses of a kind with one element: from *first on, returns the end. */
static int same_element(const struct accesses *list, int first) {
  int end = first;
  while (end < list->n && list->at[end].element == list->at[first].element)
    ++end;
  return end;
}

static const char *check_read(const struct trace *trace, int reader,
                              const struct accesses *write, int first,
                              int end) {
  const struct instance *read = &trace->instance[reader];
  const struct instance *source = NULL;
  for (int w = first; w < end; ++w) {
    const struct instance *candidate = &trace->instance[write->at[w].instance];
    if (time_compare(&candidate->original, &read->original) < 0)
      source = candidate;
  }
  if (!source)
    return NULL;
  const struct instance *found = NULL;
  for (int w = first; w < end; ++w) {
    const struct instance *candidate = &trace->instance[write->at[w].instance];
    if (same_thread(candidate, read) &&
        time_compare(&candidate->thread, &read->thread) < 0 &&
        (!found || time_compare(&candidate->thread, &found->thread) > 0))
      found = candidate;
  }
  if (found == source)
    return NULL;
  snprintf(message, sizeof(message), "%s reads a scalar of %s and not of %s",
           point_text(trace, &read->point),
           found ? point_text(trace, &found->point) : "nobody",
           point_text(trace, &source->point));
  return message;
}

static bool is_member(const struct trace *trace,
                      __isl_keep isl_union_set *scalars, int element) {
  if (!scalars)
    return false;
  bool found = false;
  isl_set_list *list = isl_union_set_get_set_list(scalars);
  for (int i = 0; i < isl_set_list_n_set(list); ++i) {
    isl_set *set = isl_set_list_get_set(list, i);
    found |= !strcmp(isl_set_get_tuple_name(set),
                     trace->name[trace->element[element].name]);
    isl_set_free(set);
  }
  isl_set_list_free(list);
  return found;
}

const char *check_scalars(const struct trace *trace,
                          __isl_keep isl_union_set *crossing) {
  const struct accesses *read = &trace->access[ACCESS_LOCAL_READ];
  const struct accesses *write = &trace->access[ACCESS_LOCAL_WRITE];
  int w = 0;
  for (int r = 0; r < read->n;) {
    int element = read->at[r].element, end = same_element(read, r);
    while (w < write->n && write->at[w].element < element)
      ++w;
    int w_end = w;
    while (w_end < write->n && write->at[w_end].element == element)
      ++w_end;
    bool skip = is_member(trace, crossing, element);
    for (; r < end; ++r) {
      const char *problem =
          skip ? NULL
               : check_read(trace, read->at[r].instance, write, w, w_end);
      if (problem)
        return problem;
    }
    w = w_end;
  }
  return NULL;
}

/*===-- Extents -----------------------------------------------------------===*/

static bool keep_point(const struct point *point, void *user) {
  struct point *kept = user;
  if (kept->name >= 0)
    return false;
  *kept = *point;
  return true;
}

bool check_corner(struct trace *trace, __isl_keep isl_pw_multi_aff *aff,
                  const struct values *values, struct point *corner) {
  isl_union_set *set = isl_union_set_from_set(
      isl_set_from_pw_multi_aff(isl_pw_multi_aff_copy(aff)));
  corner->name = -1;
  bool result = foreach_element(trace, set, values, keep_point, corner);
  isl_union_set_free(set);
  return result && corner->name >= 0;
}

/* Is a set of parameters true for the values? */
static bool holds(__isl_keep isl_set *when, const struct values *values) {
  struct pacc_scop only_context = {.context = when};
  return values_are_possible(&only_context, values);
}

static const char *range_of(struct trace *trace,
                            const struct pacc_extent *extent,
                            const struct values *values, struct range *range) {
  *range =
      (struct range){.any = holds(extent->when, values), .box = extent->box};
  if (!range->any)
    return NULL;
  if (!check_corner(trace, extent->first, values, &range->first) ||
      !check_corner(trace, extent->last, values, &range->last))
    return "an extent has no corners where it should have some";
  return NULL;
}

/* Is the element between the corners, in memory? */
static bool is_between(const struct range *range, const struct point *p) {
  return range->any && point_compare(&range->first, p) <= 0 &&
         point_compare(p, &range->last) <= 0;
}

bool check_contains(const struct range *range, const struct point *p) {
  if (!range->box)
    return is_between(range, p);
  for (int d = 0; range->any && d < p->n; ++d)
    if (p->at[d] < range->first.at[d] || p->at[d] > range->last.at[d])
      return false;
  return range->any;
}

static bool is_inside(const struct range *inner, const struct range *outer) {
  return !inner->any ||
         (is_between(outer, &inner->first) && is_between(outer, &inner->last));
}

/* What the original program does with each element. */
struct use {
  bool accessed, may_be_written, is_written, exposed;
};

static struct use *uses_of(const struct trace *trace) {
  struct use *use =
      must(calloc((size_t)trace->n_elements + 1, sizeof(struct use)));
  const struct time **first_write =
      must(calloc((size_t)trace->n_elements + 1, sizeof(*first_write)));
  const struct accesses *list = &trace->access[ACCESS_MAY_WRITE];
  for (int i = 0; i < list->n; ++i)
    use[list->at[i].element].accessed =
        use[list->at[i].element].may_be_written = true;
  list = &trace->access[ACCESS_MUST_WRITE];
  for (int i = list->n - 1; i >= 0; --i) {
    use[list->at[i].element].is_written = true;
    first_write[list->at[i].element] =
        &trace->instance[list->at[i].instance].original;
  }
  list = &trace->access[ACCESS_READ];
  for (int i = 0; i < list->n; ++i) {
    int e = list->at[i].element;
    const struct time *time = &trace->instance[list->at[i].instance].original;
    use[e].accessed = true;
    use[e].exposed |=
        !first_write[e] || time_compare(first_write[e], time) >= 0;
  }
  free(first_write);
  return use;
}

const char *check_ranges(struct trace *trace,
                         const struct pacc_array_plan *plan,
                         const struct values *values, struct ranges *ranges) {
  *ranges = (struct ranges){0};
  const char *problem =
      range_of(trace, &plan->touched, values, &ranges->touched);
  if (!problem && plan->has_in)
    problem = range_of(trace, &plan->in, values, &ranges->in);
  if (!problem && plan->has_out)
    problem = range_of(trace, &plan->out, values, &ranges->out);
  return problem;
}

const char *check_complain(const struct trace *trace, const char *what,
                           const struct point *point) {
  snprintf(message, sizeof(message), "%s %s", point_text(trace, point), what);
  return message;
}

static const char *check_element(const struct trace *trace,
                                 const struct ranges *ranges,
                                 const struct point *p, struct use use) {
  if (use.accessed && !check_contains(&ranges->touched, p))
    return check_complain(trace, "is accessed and not in 'touched'", p);
  if (use.may_be_written && !check_contains(&ranges->out, p))
    return check_complain(trace, "may be written and is not in 'out'", p);
  if (use.exposed && !check_contains(&ranges->in, p))
    return check_complain(trace, "is read first and not in 'in'", p);
  if (check_contains(&ranges->out, p) && !use.is_written &&
      !check_contains(&ranges->in, p))
    return check_complain(
        trace, "is copied out, and neither written nor copied in", p);
  return NULL;
}

/* Both corners of what is copied row by row, and of every allocation, must be
 * elements that the program accesses: nothing else is known to exist. */
static const char *check_corners(const struct trace *trace,
                                 const struct range *range) {
  if (!range->any)
    return NULL;
  if (trace_find_element(trace, &range->first) < 0)
    return check_complain(trace, "begins an extent and is not accessed",
                          &range->first);
  if (trace_find_element(trace, &range->last) < 0)
    return check_complain(trace, "ends an extent and is not accessed",
                          &range->last);
  return NULL;
}

/* Steps through the box low..high; false after its last point. */
static bool next_point(struct point *p, const long *low, const long *high) {
  for (int d = p->n - 1; d >= 0; --d) {
    if (++p->at[d] <= high[d])
      return true;
    p->at[d] = low[d];
  }
  return false;
}

/* Every element around the accessed ones, touched or not. */
static const char *check_elements(const struct trace *trace,
                                  const struct ranges *ranges, int name,
                                  const struct use *use) {
  struct point p = {.name = name, .n = -1};
  long low[MAX_COORDS], high[MAX_COORDS];
  for (int e = 0; e < trace->n_elements; ++e) {
    const struct point *element = &trace->element[e];
    if (element->name != name)
      continue;
    for (int d = 0; d < element->n; ++d) {
      if (p.n < 0 || element->at[d] <= low[d])
        low[d] = element->at[d] - 1;
      if (p.n < 0 || element->at[d] >= high[d])
        high[d] = element->at[d] + 1;
    }
    p.n = element->n;
  }
  if (p.n < 0)
    return NULL;
  memcpy(p.at, low, (size_t)p.n * sizeof(long));
  do {
    int e = trace_find_element(trace, &p);
    const char *problem =
        check_element(trace, ranges, &p, e < 0 ? (struct use){0} : use[e]);
    if (problem)
      return problem;
  } while (next_point(&p, low, high));
  return NULL;
}

int check_array_name(const struct trace *trace, __isl_keep isl_space *array) {
  for (int i = 0; i < trace->n_names; ++i)
    if (!strcmp(trace->name[i], isl_space_get_tuple_name(array, isl_dim_set)))
      return i;
  return -1;
}

const char *check_array(struct trace *trace, const struct pacc_array_plan *plan,
                        __isl_keep isl_space *array,
                        const struct values *values) {
  struct ranges ranges;
  const char *problem = check_ranges(trace, plan, values, &ranges);
  if (problem)
    return problem;
  if ((problem = check_corners(trace, &ranges.touched)) ||
      (problem = check_corners(trace, &ranges.in)) ||
      (problem = check_corners(trace, &ranges.out)))
    return problem;
  if (!is_inside(&ranges.in, &ranges.touched))
    return "'in' is not inside 'touched'";
  if (!is_inside(&ranges.out, &ranges.touched))
    return "'out' is not inside 'touched'";
  struct use *use = uses_of(trace);
  problem = check_elements(trace, &ranges, check_array_name(trace, array), use);
  free(use);
  return problem;
}
