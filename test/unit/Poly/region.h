/* region.h: regions as text.
 *
 * A region is a list of entries `key: isl text`, each key at the beginning of
 * a line; an entry goes on over lines that begin with a blank, and # begins a
 * comment line. The keys are
 *
 *   schedule     a schedule tree
 *   context      a set of parameters; default: all
 *   sizes        a set of parameters; default: none (the context)
 *   expected     a set of parameters; default: none
 *   read, local_read, local_write
 *                union maps; default: empty
 *   may_write    a union map; default: that of must_write
 *   must_write   a union map; default: empty
 *   reduce       a union map; default: none
 */
#ifndef PACC_TEST_REGION_H
#define PACC_TEST_REGION_H

#include "pacc/poly.h"

#include <stdio.h>

/* Fills `scop` from `text`. Returns NULL, or what is wrong with the text (a
 * string that lives until the next call); `scop` is empty then. */
const char *region_parse(struct pacc_scop *scop, isl_ctx *ctx,
                         const char *text);

/* The content of a file, to be freed; ends the test if it can't be read. */
char *region_file(const char *path);

void region_print(FILE *out, const struct pacc_scop *scop);

/* Makes the accesses of the local scalars in `scalars` accesses of memory, as
 * the front end does with those that cross threads. */
void region_demote(struct pacc_scop *scop, __isl_take isl_union_set *scalars);

#endif
