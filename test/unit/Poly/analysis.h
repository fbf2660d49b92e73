/* analysis.h: what the front end does with a region, and all checks of it. */
#ifndef PACC_TEST_ANALYSIS_H
#define PACC_TEST_ANALYSIS_H

#include "pacc/poly.h"

#include <stdbool.h>
#include <stdint.h>

/* The final state of the analysis of a region.
 * mapping     NULL if there is none
 * crossing    scalars that had to be moved to memory, all rounds together
 * expansions  arrays with copies
 * snapshots   values that are saved from before loops
 * changed     with any of these, the region that deps and mapping are of */
struct analysis {
  struct pacc_scop scop;
  struct pacc_dependences deps;
  struct pacc_mapping *mapping;
  int crossing;
  struct pacc_expansions expansions;
  struct pacc_snapshots snapshots;
  struct pacc_scop changed;
};

/* Dependences and mapping of the region (which is consumed), again and again
 * with crossing scalars in memory until there are none. False if a step
 * failed. */
bool analyse(struct analysis *analysis, struct pacc_scop *scop);

/* The same, with copies of all arrays that can have any. */
bool analyse_with_copies(struct analysis *analysis, struct pacc_scop *scop);
void analysis_clear(struct analysis *analysis);

/* Checks the mapping and all plans of arrays by listing points, at some values
 * of the parameters. NULL, or what is wrong. *n_instances, if not NULL, grows
 * by the number of instances that were looked at. */
const char *analysis_check(const struct analysis *analysis, uint64_t seed,
                           long *n_instances);

/* The same, with values saved from before all outermost loops that this is good
 * for, but for the first `skipped` loops of the region. False, too, if there
 * are none. */
bool analyse_with_snapshots(struct analysis *analysis, struct pacc_scop *scop,
                            unsigned skipped);

/* What check_region has come across: arrays with copies, copies of values from
 * before loops, and kernels with tiles of two points. */
struct region_findings {
  int copies;
  int snapshots;
  int tiles;
};

/* Analyses the text of a region with at most max_operations (0: any number),
 * without and with copies of arrays and with values from before loops, then
 * gives threads tiles, and checks the results; ends the test, after printing
 * the region, if something is wrong. Returns the number of kernels with a grid
 * (0 if the region can't be mapped); `found` may be NULL. */
int check_region(const char *name, const char *text,
                 unsigned long max_operations, uint64_t seed,
                 struct region_findings *found);

#endif
