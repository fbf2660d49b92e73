/* check_execution.c: executes a region and its mapping, and compares memory. */
#include "check_private.h"

#include "support.h"

#include <isl/id.h>
#include <isl/set.h>
#include <isl/union_set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  bool found = check_corner(trace, aff, values, value);
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
    return check_complain(
        mapped, "has the last iteration, and others are said to", last);
  for (int e = 0; e < mapped->n_elements; ++e) {
    const struct point *element = &mapped->element[e];
    long back =
        number_of(last->at, counts, n) - number_of(element->at, counts, n);
    if (element->name == name && (back < 0 || back >= copies))
      return check_complain(mapped, "is in no copy", element);
  }
  return NULL;
}

static const struct device_array *array_of(const struct trace *trace,
                                           const struct device_array *arrays,
                                           int n_arrays, int name) {
  for (int a = 0; a < n_arrays; ++a)
    if (check_array_name(trace, arrays[a].space) == name)
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
      return check_complain(mapped, "is no element of the program",
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
    const char *problem = check_ranges(trace, arrays[a].plan, values, &ranges);
    if (problem)
      return problem;
    int name = check_array_name(trace, arrays[a].space);
    for (int e = 0; e < trace->n_elements; ++e) {
      int last = places->last[e];
      if (trace->element[e].name != name ||
          !check_contains(out ? &ranges.out : &ranges.in, &trace->element[e]))
        continue;
      if (out && last >= 0)
        host[e] = device[last];
      else if (out)
        return check_complain(trace, "is not in the last copy",
                              &trace->element[e]);
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
      problem = check_complain(trace, "is not what it was", &trace->element[e]);
  free(memory);
  return problem;
}
