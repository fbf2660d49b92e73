/* loops.c: loops of launches as kernels of their own, launch by launch: what
 * such a kernel keeps and does (struct pacc_phase_plan).
 */
#include "support.h"
#include "trace.h"

#include <stdlib.h>

static int compare_hosts(const void *a, const void *b) {
  const struct instance *const *left = a, *const *right = b;
  int order = time_compare(&(*left)->host, &(*right)->host);
  return order ? order
               : ((*left)->kernel > (*right)->kernel) -
                     ((*left)->kernel < (*right)->kernel);
}

/* Is there a mark of an iteration between the launches? */
static bool mark_between(const struct trace *trace, const struct instance *from,
                         const struct instance *to) {
  const struct marks *marks = &trace->marks[to->kernel];
  for (int m = 0; m < marks->n; ++m)
    for (int i = 0; i < marks->at[m]; ++i)
      if (from->host.at[i] != to->host.at[i])
        return true;
  return false;
}

struct running {
  uint64_t same, earlier;
  int barriers;
};

static void launch(struct running *running, const struct pacc_phase_plan *phase,
                   unsigned number) {
  if ((phase->same & running->same) || (phase->earlier & running->earlier)) {
    running->same = running->earlier = 0;
    running->barriers++;
  }
  running->same |= UINT64_C(1) << number;
}

static int run_loop(struct trace *trace, struct instance **sorted, int loop,
                    const struct pacc_loop_plan *plan,
                    const struct pacc_phase_plan *phases) {
  struct running running = {0};
  const struct instance *last = NULL;
  for (int i = 0; i < trace->n_instances; ++i) {
    struct instance *instance = sorted[i];
    unsigned number = (unsigned)instance->kernel - plan->first;
    if (number >= plan->n_phases)
      continue;
    if (!last || !same_launch(last, instance)) {
      if (last && mark_between(trace, last, instance)) {
        running.earlier |= running.same;
        running.same = 0;
      }
      launch(&running, &phases[number], number);
    }
    instance->loop = loop;
    instance->barriers = running.barriers;
    last = instance;
  }
  return running.barriers;
}

int trace_run_loops(struct trace *trace, const struct pacc_mapping *mapping,
                    const struct pacc_scop *scop,
                    const struct pacc_dependences *deps) {
  struct instance **sorted =
      must(calloc((size_t)trace->n_instances + 1, sizeof(*sorted)));
  for (int i = 0; i < trace->n_instances; ++i)
    sorted[i] = &trace->instance[i];
  qsort(sorted, (size_t)trace->n_instances, sizeof(*sorted), compare_hosts);
  int barriers = 0;
  for (unsigned l = 0; l < mapping->n_loops; ++l) {
    const struct pacc_loop_plan *plan = &mapping->loops[l];
    struct pacc_phase_plan phases[PACC_MAX_PHASES];
    if (!pacc_loop_phases_compute(phases, plan, mapping, scop, deps))
      barriers += run_loop(trace, sorted, (int)l, plan, phases);
  }
  free(sorted);
  return barriers;
}
