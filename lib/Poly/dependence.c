/* dependence.c: which statement instances must stay in order. */
#include "poly_private.h"

#include <isl/flow.h>
#include <stddef.h>

void pacc_scop_clear(struct pacc_scop *scop) {
  isl_schedule_free(scop->schedule);
  isl_set_free(scop->context);
  isl_set_free(scop->sizes);
  isl_set_free(scop->expected);
  isl_union_map_free(scop->read);
  isl_union_map_free(scop->may_write);
  isl_union_map_free(scop->must_write);
  isl_union_map_free(scop->local_read);
  isl_union_map_free(scop->local_write);
  isl_union_map_free(scop->reduce);
  isl_union_map_free(scop->maybe);
  *scop = (struct pacc_scop){0};
}

struct pacc_scop pacc_scop_copy(const struct pacc_scop *scop) {
  return (struct pacc_scop){isl_schedule_copy(scop->schedule),
                            isl_set_copy(scop->context),
                            isl_set_copy(scop->sizes),
                            isl_set_copy(scop->expected),
                            isl_union_map_copy(scop->read),
                            isl_union_map_copy(scop->may_write),
                            isl_union_map_copy(scop->must_write),
                            isl_union_map_copy(scop->local_read),
                            isl_union_map_copy(scop->local_write),
                            isl_union_map_copy(scop->reduce),
                            isl_union_map_copy(scop->maybe)};
}

void pacc_dependences_clear(struct pacc_dependences *deps) {
  isl_union_map_free(deps->order);
  isl_union_map_free(deps->parallel);
  isl_union_map_free(deps->local_flow);
  isl_union_map_free(deps->exposed);
  *deps = (struct pacc_dependences){0};
}

/* From the last writes to the reads that see them. */
static __isl_give isl_union_map *
flow_dependences(__isl_keep isl_union_map *read, __isl_keep isl_union_map *must,
                 __isl_keep isl_union_map *may, __isl_keep isl_schedule *order,
                 isl_union_map **exposed) {
  isl_union_flow *flow = pacc_flow_compute(read, must, may, order);
  isl_union_map *deps = isl_union_flow_get_may_dependence(flow);
  if (exposed)
    /* Reads with no definite write before them; a may-write does not hide
     * the value from before the region. */
    *exposed = isl_union_flow_get_may_no_source(flow);
  isl_union_flow_free(flow);
  return deps;
}

/* From the accesses `earlier` to the next of `writes`, with no definite write
 * between them. */
static __isl_give isl_union_map *false_dependences(
    __isl_keep isl_union_map *writes, __isl_keep isl_union_map *must,
    __isl_take isl_union_map *earlier, __isl_keep isl_schedule *order) {
  isl_union_flow *flow = pacc_flow_compute(writes, must, earlier, order);
  isl_union_map_free(earlier);
  isl_union_map *deps = isl_union_flow_get_may_dependence(flow);
  isl_union_flow_free(flow);
  return deps;
}

static __isl_give isl_union_map *accesses_of(__isl_keep isl_union_map *read,
                                             __isl_keep isl_union_map *write) {
  return isl_union_map_union(isl_union_map_copy(read),
                             isl_union_map_copy(write));
}

static __isl_give isl_union_map *without(__isl_keep isl_union_map *accesses,
                                         __isl_keep isl_union_map *updates) {
  return isl_union_map_subtract(isl_union_map_copy(accesses),
                                isl_union_map_copy(updates));
}

/* Flow and false dependences of memory. What is no update sees updates as
 * writes that may happen: it comes after all of them, or before. Updates see
 * everything but each other. */
static __isl_give isl_union_map *
memory_dependences(const struct pacc_scop *scop, isl_union_map **exposed) {
  isl_schedule *order = scop->schedule;
  isl_union_map *updates =
      scop->reduce ? isl_union_map_copy(scop->reduce)
                   : isl_union_map_empty(isl_union_map_get_space(scop->read));
  isl_union_map *read = without(scop->read, updates);
  isl_union_map *must = without(scop->must_write, updates);
  isl_union_map *may = without(scop->may_write, updates);

  isl_union_map *deps =
      flow_dependences(read, must, scop->may_write, order, exposed);
  deps = isl_union_map_union(
      deps, false_dependences(may, must,
                              accesses_of(scop->read, scop->may_write), order));
  if (isl_union_map_is_empty(updates) == isl_bool_false) {
    isl_union_map *before = NULL;
    deps = isl_union_map_union(
        deps, flow_dependences(updates, must, may, order, &before));
    *exposed = isl_union_map_union(*exposed, before);
    deps = isl_union_map_union(
        deps, false_dependences(updates, must, accesses_of(read, may), order));
  }
  isl_union_map_free(read);
  isl_union_map_free(must);
  isl_union_map_free(may);
  isl_union_map_free(updates);
  return deps;
}

int pacc_dependences_compute(struct pacc_dependences *deps,
                             const struct pacc_scop *scop) {
  isl_schedule *order = scop->schedule;
  deps->parallel = memory_dependences(scop, &deps->exposed);
  deps->local_flow =
      flow_dependences(scop->local_read, scop->local_write, NULL, order, NULL);
  isl_union_map *local_false = false_dependences(
      scop->local_write, scop->local_write,
      accesses_of(scop->local_read, scop->local_write), order);

  deps->parallel =
      isl_union_map_union(deps->parallel, isl_union_map_copy(deps->local_flow));
  deps->parallel = isl_union_map_coalesce(deps->parallel);
  deps->order =
      isl_union_map_union(isl_union_map_copy(deps->parallel), local_false);
  deps->order = isl_union_map_coalesce(deps->order);
  if (deps->order && deps->parallel && deps->local_flow && deps->exposed)
    return 0;
  pacc_dependences_clear(deps);
  return -1;
}
