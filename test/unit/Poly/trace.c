/* trace.c: lists the instances of a region and their accesses. */
#include "trace_private.h"

#include "support.h"

#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*===-- Points and times --------------------------------------------------===*/

static int compare(const long *a, int n_a, const long *b, int n_b) {
  for (int i = 0; i < n_a || i < n_b; ++i) {
    long left = i < n_a ? a[i] : 0, right = i < n_b ? b[i] : 0;
    if (left != right)
      return left < right ? -1 : 1;
  }
  return 0;
}

int time_compare(const struct time *a, const struct time *b) {
  return compare(a->at, a->n, b->at, b->n);
}

int point_compare(const struct point *a, const struct point *b) {
  if (a->name != b->name)
    return a->name < b->name ? -1 : 1;
  return compare(a->at, a->n, b->at, b->n);
}

bool same_launch(const struct instance *a, const struct instance *b) {
  return a->kernel == b->kernel && !time_compare(&a->host, &b->host);
}

bool same_thread(const struct instance *a, const struct instance *b) {
  return same_launch(a, b) && !memcmp(a->grid, b->grid, sizeof(a->grid));
}

bool is_before(const struct instance *a, const struct instance *b) {
  int order = time_compare(&a->host, &b->host);
  if (order && a->loop >= 0 && a->loop == b->loop)
    return a->barriers < b->barriers;
  if (order)
    return order < 0;
  return same_thread(a, b) && time_compare(&a->thread, &b->thread) < 0;
}

const char *point_text(const struct trace *trace, const struct point *point) {
  static char buffer[8][256];
  static int next;
  char *text = buffer[next++ % 8];
  size_t at = (size_t)snprintf(text, sizeof(buffer[0]), "%s[",
                               trace->name[point->name]);
  for (int i = 0; i < point->n; ++i)
    at += (size_t)snprintf(text + at, sizeof(buffer[0]) - at, "%s%ld",
                           i ? "," : "", point->at[i]);
  snprintf(text + at, sizeof(buffer[0]) - at, "]");
  return text;
}

/*===-- Parameters --------------------------------------------------------===*/

struct values values_of(const struct pacc_scop *scop) {
  struct values values = {0};
  isl_union_set *domain = isl_schedule_get_domain(scop->schedule);
  isl_space *space = isl_union_set_get_space(domain);
  space = isl_space_align_params(space, isl_set_get_space(scop->context));
  isl_union_set_free(domain);
  values.n = isl_space_dim(space, isl_dim_param);
  assert_in_range(values.n, 0, MAX_PARAMS);
  for (int i = 0; i < values.n; ++i)
    snprintf(values.name[i], NAME_SIZE, "%s",
             isl_space_get_dim_name(space, isl_dim_param, (unsigned)i));
  isl_space_free(space);
  return values;
}

/* Fixes the parameters of `set`; those without a value can have any. */
static __isl_give isl_set *fix(__isl_take isl_set *set,
                               const struct values *values) {
  for (int i = 0; i < values->n; ++i) {
    int at = isl_set_find_dim_by_name(set, isl_dim_param, values->name[i]);
    if (at >= 0)
      set = isl_set_fix_si(set, isl_dim_param, (unsigned)at,
                           (int)values->value[i]);
  }
  isl_size n = isl_set_dim(set, isl_dim_param);
  return isl_set_project_out(set, isl_dim_param, 0, n < 0 ? 0 : (unsigned)n);
}

bool values_are_possible(const struct pacc_scop *scop,
                         const struct values *values) {
  isl_set *set = fix(isl_set_copy(scop->context), values);
  bool result = isl_set_is_empty(set) == isl_bool_false;
  isl_set_free(set);
  return result;
}

/*===-- Listing -----------------------------------------------------------===*/

static int name_of(struct trace *trace, const char *name) {
  for (int i = 0; i < trace->n_names; ++i)
    if (!strcmp(trace->name[i], name))
      return i;
  assert_true(trace->n_names < MAX_NAMES);
  snprintf(trace->name[trace->n_names], NAME_SIZE, "%s", name);
  return trace->n_names++;
}

struct lister {
  struct trace *trace;
  const struct values *values;
  struct row row;
  row_fn *fn;
  void *user;
};

static isl_stat list_point(__isl_take isl_point *point, void *user) {
  struct lister *lister = user;
  struct row *row = &lister->row;
  for (int i = 0; i < row->from.n + row->n_to; ++i) {
    isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, i);
    long number = isl_val_get_num_si(value);
    isl_val_free(value);
    if (i < row->from.n)
      row->from.at[i] = number;
    else
      row->to[i - row->from.n] = number;
  }
  isl_point_free(point);
  return lister->fn(row, lister->user) ? isl_stat_ok : isl_stat_error;
}

static isl_stat list_map(__isl_take isl_map *map, void *user) {
  struct lister *lister = user;
  struct row *row = &lister->row;
  row->from.n = isl_map_dim(map, isl_dim_in);
  row->n_to = isl_map_dim(map, isl_dim_out);
  assert_in_range(row->from.n, 0, MAX_COORDS);
  assert_in_range(row->n_to, 0, MAX_TIME);
  row->from.name =
      name_of(lister->trace, isl_map_get_tuple_name(map, isl_dim_in));
  row->to_name = -1;
  if (isl_map_has_tuple_name(map, isl_dim_out) == isl_bool_true)
    row->to_name =
        name_of(lister->trace, isl_map_get_tuple_name(map, isl_dim_out));
  isl_set *set = fix(isl_map_wrap(map), lister->values);
  isl_stat status = isl_set_foreach_point(set, list_point, lister);
  isl_set_free(set);
  return status;
}

bool trace_foreach_row(struct trace *trace, __isl_keep isl_union_map *map,
                       const struct values *values, row_fn *fn, void *user) {
  struct lister lister = {trace, values, {{0}, 0, 0, {0}}, fn, user};
  return isl_union_map_foreach_map(map, list_map, &lister) == isl_stat_ok;
}

struct element_lister {
  point_fn *fn;
  void *user;
};

static bool row_to_element(struct row *row, void *user) {
  struct element_lister *lister = user;
  return lister->fn(&row->from, lister->user);
}

bool foreach_element(struct trace *trace, __isl_keep isl_union_set *set,
                     const struct values *values, point_fn *fn, void *user) {
  struct element_lister lister = {fn, user};
  isl_union_map *map = isl_union_map_from_domain(isl_union_set_copy(set));
  bool result = trace_foreach_row(trace, map, values, row_to_element, &lister);
  isl_union_map_free(map);
  return result;
}

/*===-- The original program ----------------------------------------------===*/

struct filler {
  struct trace *trace;
  int limit;
  int capacity;
  enum access_kind kind;
};

/* Grows an array with room for one element more. */
static void *grow(void *array, int n, int *capacity, size_t size) {
  if (n < *capacity)
    return array;
  *capacity = *capacity ? 2 * *capacity : 64;
  return must(realloc(array, (size_t)*capacity * size));
}

static bool add_instance(struct row *row, void *user) {
  struct filler *filler = user;
  struct trace *trace = filler->trace;
  if (trace->n_instances >= filler->limit)
    return false;
  trace->instance = grow(trace->instance, trace->n_instances, &filler->capacity,
                         sizeof(*trace->instance));
  struct instance *instance = &trace->instance[trace->n_instances++];
  *instance = (struct instance){.point = row->from, .kernel = -1};
  instance->original.n = row->n_to;
  memcpy(instance->original.at, row->to, sizeof(row->to));
  return true;
}

static int compare_instances(const void *a, const void *b) {
  const struct instance *left = a, *right = b;
  return point_compare(&left->point, &right->point);
}

static int compare_points(const void *a, const void *b) {
  return point_compare(a, b);
}

struct instance *trace_find_instance(const struct trace *trace,
                                     const struct point *point) {
  struct instance key = {.point = *point};
  return bsearch(&key, trace->instance, (size_t)trace->n_instances, sizeof(key),
                 compare_instances);
}

static struct point element_of(const struct row *row) {
  struct point element = {.name = row->to_name, .n = row->n_to};
  assert_in_range(element.n, 0, MAX_COORDS);
  memcpy(element.at, row->to, sizeof(element.at));
  return element;
}

static bool add_element(struct row *row, void *user) {
  struct filler *filler = user;
  struct trace *trace = filler->trace;
  if (trace->n_elements >= 10 * filler->limit)
    return false;
  trace->element = grow(trace->element, trace->n_elements, &filler->capacity,
                        sizeof(*trace->element));
  trace->element[trace->n_elements++] = element_of(row);
  return true;
}

int trace_find_element(const struct trace *trace, const struct point *element) {
  const struct point *found =
      bsearch(element, trace->element, (size_t)trace->n_elements,
              sizeof(*element), compare_points);
  return found ? (int)(found - trace->element) : -1;
}

static bool add_access(struct row *row, void *user) {
  struct filler *filler = user;
  struct trace *trace = filler->trace;
  struct accesses *list = &trace->access[filler->kind];
  struct point element = element_of(row);
  const struct instance *instance = trace_find_instance(trace, &row->from);
  int at = trace_find_element(trace, &element);
  /* Accesses of what is no instance: an error of the region's text. */
  if (!instance || at < 0)
    fail_msg("%s accesses %s", point_text(trace, &row->from),
             point_text(trace, &element));
  list->at = grow(list->at, list->n, &list->capacity, sizeof(*list->at));
  list->at[list->n++] = (struct access){(int)(instance - trace->instance), at};
  return true;
}

static const struct trace *sorted_trace;

static int compare_accesses(const void *a, const void *b) {
  const struct access *left = a, *right = b;
  if (left->element != right->element)
    return left->element < right->element ? -1 : 1;
  return time_compare(&sorted_trace->instance[left->instance].original,
                      &sorted_trace->instance[right->instance].original);
}

static __isl_give isl_union_map *original_order(const struct pacc_scop *scop) {
  isl_union_map *order = isl_schedule_get_map(scop->schedule);
  return isl_union_map_intersect_domain(
      order, isl_schedule_get_domain(scop->schedule));
}

static bool list_elements(struct trace *trace, const struct values *values,
                          isl_union_map *const relations[N_ACCESS_KINDS],
                          int limit) {
  struct filler filler = {trace, limit, 0, ACCESS_READ};
  for (int kind = 0; kind < N_ACCESS_KINDS; ++kind)
    if (!trace_foreach_row(trace, relations[kind], values, add_element,
                           &filler))
      return false;
  if (!trace->n_elements)
    return true;
  qsort(trace->element, (size_t)trace->n_elements, sizeof(*trace->element),
        compare_points);
  int n = 1;
  for (int i = 1; i < trace->n_elements; ++i)
    if (point_compare(&trace->element[i], &trace->element[n - 1]))
      trace->element[n++] = trace->element[i];
  trace->n_elements = n;
  return true;
}

struct trace *trace_of(const struct pacc_scop *scop,
                       const struct values *values, int limit) {
  struct trace *trace = must(calloc(1, sizeof(*trace)));
  struct filler filler = {trace, limit, 0, ACCESS_READ};
  isl_union_map *order = original_order(scop);
  bool fits = trace_foreach_row(trace, order, values, add_instance, &filler);
  isl_union_map_free(order);
  isl_union_map *const relations[N_ACCESS_KINDS] = {
      scop->read, scop->may_write, scop->must_write, scop->local_read,
      scop->local_write};
  if (!fits || !list_elements(trace, values, relations, limit)) {
    trace_free(trace);
    return NULL;
  }
  if (trace->n_instances)
    qsort(trace->instance, (size_t)trace->n_instances, sizeof(*trace->instance),
          compare_instances);
  for (int kind = 0; kind < N_ACCESS_KINDS; ++kind) {
    filler.kind = (enum access_kind)kind;
    assert_true(
        trace_foreach_row(trace, relations[kind], values, add_access, &filler));
    sorted_trace = trace;
    if (trace->access[kind].n)
      qsort(trace->access[kind].at, (size_t)trace->access[kind].n,
            sizeof(struct access), compare_accesses);
  }
  return trace;
}

void trace_free(struct trace *trace) {
  if (!trace)
    return;
  for (int kind = 0; kind < N_ACCESS_KINDS; ++kind)
    free(trace->access[kind].at);
  free(trace->instance);
  free(trace->element);
  free(trace);
}
