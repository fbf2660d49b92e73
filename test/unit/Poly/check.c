/* check.c: compares mappings and plans of arrays with lists of points. */
#include "check.h"

#include "support.h"

#include <isl/id.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
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

/* An extent at the values. */
struct range {
  bool any;
  bool box;
  struct point first, last;
};

static bool keep_point(const struct point *point, void *user) {
  struct point *kept = user;
  if (kept->name >= 0)
    return false;
  *kept = *point;
  return true;
}

static bool corner(struct trace *trace, __isl_keep isl_pw_multi_aff *aff,
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
  if (!corner(trace, extent->first, values, &range->first) ||
      !corner(trace, extent->last, values, &range->last))
    return "an extent has no corners where it should have some";
  return NULL;
}

/* Is the element between the corners, in memory? */
static bool is_between(const struct range *range, const struct point *p) {
  return range->any && point_compare(&range->first, p) <= 0 &&
         point_compare(p, &range->last) <= 0;
}

static bool contains(const struct range *range, const struct point *p) {
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

struct ranges {
  struct range touched, in, out;
};

static const char *ranges_of(struct trace *trace,
                             const struct pacc_array_plan *plan,
                             const struct values *values,
                             struct ranges *ranges) {
  *ranges = (struct ranges){0};
  const char *problem =
      range_of(trace, &plan->touched, values, &ranges->touched);
  if (!problem && plan->has_in)
    problem = range_of(trace, &plan->in, values, &ranges->in);
  if (!problem && plan->has_out)
    problem = range_of(trace, &plan->out, values, &ranges->out);
  return problem;
}

static const char *complain(const struct trace *trace, const char *what,
                            const struct point *point) {
  snprintf(message, sizeof(message), "%s %s", point_text(trace, point), what);
  return message;
}

static const char *check_element(const struct trace *trace,
                                 const struct ranges *ranges,
                                 const struct point *p, struct use use) {
  if (use.accessed && !contains(&ranges->touched, p))
    return complain(trace, "is accessed and not in 'touched'", p);
  if (use.may_be_written && !contains(&ranges->out, p))
    return complain(trace, "may be written and is not in 'out'", p);
  if (use.exposed && !contains(&ranges->in, p))
    return complain(trace, "is read first and not in 'in'", p);
  if (contains(&ranges->out, p) && !use.is_written && !contains(&ranges->in, p))
    return complain(trace, "is copied out, and neither written nor copied in",
                    p);
  return NULL;
}

/* Both corners of what is copied row by row, and of every allocation, must be
 * elements that the program accesses: nothing else is known to exist. */
static const char *check_corners(const struct trace *trace,
                                 const struct range *range) {
  if (!range->any)
    return NULL;
  if (trace_find_element(trace, &range->first) < 0)
    return complain(trace, "begins an extent and is not accessed",
                    &range->first);
  if (trace_find_element(trace, &range->last) < 0)
    return complain(trace, "ends an extent and is not accessed", &range->last);
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

static int array_name(const struct trace *trace, __isl_keep isl_space *array) {
  for (int i = 0; i < trace->n_names; ++i)
    if (!strcmp(trace->name[i], isl_space_get_tuple_name(array, isl_dim_set)))
      return i;
  return -1;
}

const char *check_array(struct trace *trace, const struct pacc_array_plan *plan,
                        __isl_keep isl_space *array,
                        const struct values *values) {
  struct ranges ranges;
  const char *problem = ranges_of(trace, plan, values, &ranges);
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
  problem = check_elements(trace, &ranges, array_name(trace, array), use);
  free(use);
  return problem;
}

/*===-- Execution ---------------------------------------------------------===*/

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x =
      (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 29)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 32);
}

/* One kind of accesses, by instance: those of i are at[begin[i]] to
 * at[begin[i + 1]]. */
struct by_instance {
  int *begin;
  int *element;
};

static struct by_instance group(const struct trace *trace,
                                const struct accesses *list) {
  size_t n = (size_t)trace->n_instances;
  struct by_instance result = {must(calloc(n + 2, sizeof(int))),
                               must(calloc((size_t)list->n + 1, sizeof(int)))};
  for (int i = 0; i < list->n; ++i)
    result.begin[list->at[i].instance + 2]++;
  for (size_t i = 2; i < n + 2; ++i)
    result.begin[i] += result.begin[i - 1];
  for (int i = 0; i < list->n; ++i)
    result.element[result.begin[list->at[i].instance + 1]++] =
        list->at[i].element;
  return result;
}

/* original   the element of the program that each element stands for */
struct machine {
  const struct trace *trace;
  const int *original;
  struct by_instance access[N_ACCESS_KINDS];
};

/* Elements of memory, elements of local scalars. */
struct state {
  uint64_t *memory, *local;
};

static int compare_values(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

/* Does not depend on the order of the elements, nor on how many hold the same
 * value: one of the program may be two of what is mapped, with its copy. */
static uint64_t read_all(const struct machine *machine, enum access_kind kind,
                         int instance, const uint64_t *from) {
  const struct by_instance *access = &machine->access[kind];
  int first = access->begin[instance], n = access->begin[instance + 1] - first;
  uint64_t *value = must(calloc((size_t)n + 1, sizeof(*value))), sum = 0;
  for (int i = 0; i < n; ++i)
    value[i] = from[access->element[first + i]];
  qsort(value, (size_t)n, sizeof(*value), compare_values);
  for (int i = 0; i < n; ++i)
    if (i == 0 || value[i] != value[i - 1])
      sum += mix(value[i], 4);
  free(value);
  return sum;
}

static void write_all(const struct machine *machine, enum access_kind kind,
                      int instance, uint64_t *to, uint64_t value,
                      bool sometimes) {
  const struct by_instance *access = &machine->access[kind];
  for (int i = access->begin[instance]; i < access->begin[instance + 1]; ++i) {
    int element = access->element[i];
    uint64_t one = mix(value, (uint64_t)machine->original[element]);
    if (!sometimes || (one & 1))
      to[element] = one;
  }
}

/* Is it a statement of pacc_scop_snapshot, or an array of these? */
static bool is_saved(const struct trace *trace, const struct point *point) {
  return !strncmp(trace->name[point->name], "pacc_save", 9);
}

/* The same for an instance of the program in all traces. */
static uint64_t identity(const struct trace *trace, const struct point *point) {
  uint64_t value = (uint64_t)point->n;
  for (const char *c = trace->name[point->name]; *c; ++c)
    value = mix(value, (unsigned char)*c);
  for (int d = 0; d < point->n; ++d)
    value = mix(value, (uint64_t)point->at[d]);
  return value;
}

static void save(const struct machine *machine, uint64_t *memory,
                 int instance) {
  const struct by_instance *read = &machine->access[ACCESS_READ];
  const struct by_instance *write = &machine->access[ACCESS_MUST_WRITE];
  memory[write->element[write->begin[instance]]] =
      memory[read->element[read->begin[instance]]];
}

static void execute(const struct machine *machine, struct state state,
                    int instance) {
  const struct point *point = &machine->trace->instance[instance].point;
  if (is_saved(machine->trace, point)) {
    save(machine, state.memory, instance);
    return;
  }
  uint64_t value = identity(machine->trace, point);
  value = mix(value, read_all(machine, ACCESS_READ, instance, state.memory));
  value =
      mix(value, read_all(machine, ACCESS_LOCAL_READ, instance, state.local));
  write_all(machine, ACCESS_MAY_WRITE, instance, state.memory, value, true);
  write_all(machine, ACCESS_MUST_WRITE, instance, state.memory, value, false);
  write_all(machine, ACCESS_LOCAL_WRITE, instance, state.local, value, false);
}

static void fill(uint64_t *memory, int n, uint64_t seed) {
  for (int i = 0; i < n; ++i)
    memory[i] = mix(seed, (uint64_t)i);
}

/* What local scalars hold that nobody has written. */
static void fill_local(const struct machine *machine, struct state state) {
  for (int i = 0; i < machine->trace->n_elements; ++i)
    state.local[i] = mix(1, (uint64_t)machine->original[i]);
}

/* The order in which instances are executed; ties of launches are broken by
 * random numbers of the threads. */
struct position {
  int index;
  uint64_t thread;
  const struct instance *instance;
};

static int compare_original(const void *a, const void *b) {
  const struct position *left = a, *right = b;
  return time_compare(&left->instance->original, &right->instance->original);
}

static int compare_mapped(const void *a, const void *b) {
  const struct position *left = a, *right = b;
  int order = time_compare(&left->instance->host, &right->instance->host);
  if (!order && left->thread != right->thread)
    order = left->thread < right->thread ? -1 : 1;
  if (!order)
    order = time_compare(&left->instance->thread, &right->instance->thread);
  return order;
}

static struct position *positions(const struct trace *trace, uint64_t seed) {
  struct position *position =
      must(calloc((size_t)trace->n_instances + 1, sizeof(*position)));
  for (int i = 0; i < trace->n_instances; ++i) {
    const struct instance *instance = &trace->instance[i];
    uint64_t thread = mix(seed, (uint64_t)instance->kernel);
    for (int d = 0; d <= PACC_MAX_DIMS; ++d)
      thread = mix(thread, (uint64_t)instance->grid[d]);
    position[i] = (struct position){i, thread, instance};
  }
  return position;
}

static void execute_original(const struct machine *machine,
                             struct state state) {
  size_t n = (size_t)machine->trace->n_instances;
  struct position *position = positions(machine->trace, 0);
  qsort(position, n, sizeof(*position), compare_original);
  for (size_t i = 0; i < n; ++i)
    execute(machine, state, position[i].index);
  free(position);
}

static void execute_mapped(const struct machine *machine, struct state state,
                           uint64_t seed) {
  size_t n = (size_t)machine->trace->n_instances;
  struct position *position = positions(machine->trace, seed);
  qsort(position, n, sizeof(*position), compare_mapped);
  for (size_t i = 0; i < n; ++i) {
    if (i == 0 || !same_thread(position[i - 1].instance, position[i].instance))
      fill_local(machine, state);
    execute(machine, state, position[i].index);
  }
  free(position);
}

/* What the elements of `mapped` stand for.
 * original   the element of the program
 * last       for elements of the program: the one that is copied to and from
 *            the host, -1 if there is none */
struct places {
  int *original, *last;
};

/* The number of an iteration along the box of the expansion's counts. */
static long number_of(const long *iteration, const long *counts, int n) {
  long number = 0;
  for (int d = 0; d < n; ++d)
    number = number * counts[d] + iteration[d];
  return number;
}

/* The value of an expression that is no element of an array. */
static bool unnamed(struct trace *trace, __isl_take isl_pw_multi_aff *aff,
                    const struct values *values, struct point *value) {
  isl_id *id = isl_id_alloc(isl_pw_multi_aff_get_ctx(aff), "value", NULL);
  aff = isl_pw_multi_aff_set_tuple_id(aff, isl_dim_out, id);
  bool found = corner(trace, aff, values, value);
  isl_pw_multi_aff_free(aff);
  return found;
}

static long count_at(__isl_keep isl_pw_aff_list *counts, int dim,
                     struct trace *trace, const struct values *values) {
  struct point point;
  isl_pw_aff *count = isl_pw_aff_list_get_pw_aff(counts, dim);
  bool found =
      unnamed(trace, isl_pw_multi_aff_from_pw_aff(count), values, &point);
  return found ? point.at[0] : -1;
}

/* Are all copies of an array within its memory, and which is the last one? */
static const char *place_copies(struct trace *mapped, int name,
                                const struct pacc_expansion *expansion,
                                const struct values *values,
                                struct point *last) {
  int n = isl_pw_aff_list_n_pw_aff(expansion->counts);
  long counts[MAX_COORDS], copies = 1;
  *last = (struct point){.n = -1};
  for (int e = 0; e < mapped->n_elements; ++e)
    if (mapped->element[e].name == name)
      *last = mapped->element[e]; /* elements are sorted */
  if (last->n < 0)
    return NULL;
  for (int d = 0; d < n; ++d)
    copies *= counts[d] = count_at(expansion->counts, d, mapped, values);
  struct point said;
  if (!unnamed(mapped, isl_pw_multi_aff_copy(expansion->last), values, &said) ||
      said.n != n || memcmp(said.at, last->at, (size_t)n * sizeof(long)))
    return complain(mapped, "has the last iteration, and others are said to",
                    last);
  for (int e = 0; e < mapped->n_elements; ++e) {
    const struct point *element = &mapped->element[e];
    long back =
        number_of(last->at, counts, n) - number_of(element->at, counts, n);
    if (element->name == name && (back < 0 || back >= copies))
      return complain(mapped, "is in no copy", element);
  }
  return NULL;
}

static const struct device_array *array_of(const struct trace *trace,
                                           const struct device_array *arrays,
                                           int n_arrays, int name) {
  for (int a = 0; a < n_arrays; ++a)
    if (array_name(trace, arrays[a].space) == name)
      return &arrays[a];
  return NULL;
}

static const char *find_places(const struct trace *trace, struct trace *mapped,
                               const struct device_array *arrays, int n_arrays,
                               const struct values *values,
                               struct places *places) {
  for (int e = 0; e < trace->n_elements; ++e)
    places->last[e] = -1;
  struct point last = {.name = -1};
  for (int e = 0; e < mapped->n_elements; ++e) {
    struct point p = mapped->element[e];
    if (is_saved(mapped, &p))
      continue;
    const struct device_array *array =
        array_of(mapped, arrays, n_arrays, p.name);
    int skip = 0;
    if (array && array->expansion) {
      const char *problem =
          last.name == p.name
              ? NULL
              : place_copies(mapped, p.name, array->expansion, values, &last);
      if (problem)
        return problem;
      skip = isl_pw_aff_list_n_pw_aff(array->expansion->counts);
    }
    bool is_last = !memcmp(p.at, last.at, (size_t)skip * sizeof(long));
    p.n -= skip;
    memmove(p.at, p.at + skip, (size_t)p.n * sizeof(long));
    int original = -1;
    for (int name = 0; name < trace->n_names; ++name)
      if (!strcmp(trace->name[name], mapped->name[p.name])) {
        struct point element = p;
        element.name = name;
        original = trace_find_element(trace, &element);
      }
    if (original < 0)
      return complain(mapped, "is no element of the program",
                      &mapped->element[e]);
    places->original[e] = original;
    if (is_last)
      places->last[original] = e;
  }
  return NULL;
}

/* Copies the elements that are in a range of their array. */
static const char *copy(struct trace *trace, const struct device_array *arrays,
                        int n_arrays, const struct values *values,
                        const struct places *places, bool out, uint64_t *host,
                        uint64_t *device) {
  for (int a = 0; a < n_arrays; ++a) {
    struct ranges ranges;
    const char *problem = ranges_of(trace, arrays[a].plan, values, &ranges);
    if (problem)
      return problem;
    int name = array_name(trace, arrays[a].space);
    for (int e = 0; e < trace->n_elements; ++e) {
      int last = places->last[e];
      if (trace->element[e].name != name ||
          !contains(out ? &ranges.out : &ranges.in, &trace->element[e]))
        continue;
      if (out && last >= 0)
        host[e] = device[last];
      else if (out)
        return complain(trace, "is not in the last copy", &trace->element[e]);
      else if (last >= 0)
        device[last] = host[e];
    }
  }
  return NULL;
}

static struct machine machine_of(const struct trace *trace,
                                 const int *original) {
  struct machine machine = {.trace = trace, .original = original};
  for (int kind = 0; kind < N_ACCESS_KINDS; ++kind)
    machine.access[kind] = group(trace, &trace->access[kind]);
  return machine;
}

static void machine_free(struct machine *machine) {
  for (int kind = 0; kind < N_ACCESS_KINDS; ++kind) {
    free(machine->access[kind].begin);
    free(machine->access[kind].element);
  }
}

/* What the mapping leaves in `host`, the memory of the host. */
static const char *run_mapped(struct trace *trace, struct trace *mapped,
                              const struct device_array *arrays, int n_arrays,
                              const struct values *values, uint64_t seed,
                              uint64_t *host) {
  size_t n = (size_t)mapped->n_elements;
  struct places places = {
      must(calloc(n + 1, sizeof(int))),
      must(calloc((size_t)trace->n_elements + 1, sizeof(int)))};
  uint64_t *memory = must(calloc(2 * n + 1, sizeof(*memory)));
  struct state device = {memory, memory + n};
  fill(device.memory, mapped->n_elements, 3);
  const char *problem =
      find_places(trace, mapped, arrays, n_arrays, values, &places);
  if (!problem)
    problem = copy(trace, arrays, n_arrays, values, &places, false, host,
                   device.memory);
  if (!problem) {
    struct machine machine = machine_of(mapped, places.original);
    execute_mapped(&machine, device, seed);
    machine_free(&machine);
    problem = copy(trace, arrays, n_arrays, values, &places, true, host,
                   device.memory);
  }
  free(memory);
  free(places.original);
  free(places.last);
  return problem;
}

const char *check_execution(struct trace *trace, struct trace *mapped,
                            const struct device_array *arrays, int n_arrays,
                            const struct values *values, uint64_t seed) {
  int n = trace->n_elements;
  uint64_t *memory = must(calloc(3 * (size_t)n + 1, sizeof(*memory)));
  struct state host = {memory, memory + n};
  uint64_t *result = memory + 2 * n;
  fill(result, n, 2);
  const char *problem =
      run_mapped(trace, mapped, arrays, n_arrays, values, seed, result);

  int *own = must(calloc((size_t)n + 1, sizeof(*own)));
  for (int e = 0; e < n; ++e)
    own[e] = e;
  struct machine machine = machine_of(trace, own);
  fill(host.memory, n, 2);
  fill_local(&machine, host);
  execute_original(&machine, host);
  machine_free(&machine);
  free(own);
  for (int e = 0; !problem && e < n; ++e)
    if (result[e] != host.memory[e])
      problem = complain(trace, "is not what it was", &trace->element[e]);
  free(memory);
  return problem;
}
