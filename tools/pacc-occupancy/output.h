/* output.h: what pacc-occupancy prints. */
#ifndef PACC_OCCUPANCY_OUTPUT_H
#define PACC_OCCUPANCY_OUTPUT_H

#include "options.h"

/* threads is 0 if no block size can run. */
struct occ_suggestion {
  uint32_t threads;
  uint32_t min_grid;
};

/* Both print to stdout and return 0, or 1 if the model refuses the input. */
int occ_print_table(const struct occ_options *options,
                    const struct occ_suggestion *suggestion);
int occ_print_json(const struct occ_options *options,
                   const struct occ_suggestion *suggestion);

#endif
