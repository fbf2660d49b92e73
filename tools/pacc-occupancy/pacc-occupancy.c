/* pacc-occupancy: what one multiprocessor of a GPU holds of a kernel, for one
 * or for all block sizes, as a table with a bar per size or as JSON, and the
 * block size that the CUDA occupancy API would suggest. */
#include "options.h"
#include "output.h"

#include <stdio.h>

/* Does at least one block of the size that is asked for fit? */
static bool runs(const struct occ_options *options) {
  struct pacc_occupancy_info info;
  return pacc_occupancy(options->gpu, &options->resources, options->block,
                        &info) == PACC_MODEL_OK &&
         info.blocks > 0;
}

int main(int argc, char **argv) {
  struct occ_options options;
  switch (occ_options_parse(argc, argv, &options)) {
  case OCC_RUN:
    break;
  case OCC_DONE:
    return 0;
  case OCC_BAD:
    return 2;
  }
  struct occ_suggestion suggestion = {0, 0};
  enum pacc_model_status status =
      pacc_occupancy_suggest(options.gpu, &options.resources, NULL, NULL,
                             &suggestion.threads, &suggestion.min_grid);
  if (status != PACC_MODEL_OK && status != PACC_MODEL_NO_FIT) {
    fprintf(stderr, "pacc-occupancy: %s\n", pacc_model_message(status));
    return 1;
  }
  int failed = options.json ? occ_print_json(&options, &suggestion)
                            : occ_print_table(&options, &suggestion);
  if (failed || fflush(stdout) != 0) {
    fprintf(stderr, "pacc-occupancy: cannot write the output\n");
    return 1;
  }
  if (status == PACC_MODEL_NO_FIT) {
    fprintf(stderr, "pacc-occupancy: %s\n", pacc_model_message(status));
    return 1;
  }
  if (options.block && !runs(&options)) {
    fprintf(stderr,
            "pacc-occupancy: a block of %u threads cannot run; a block of %u "
            "can\n",
            options.block, suggestion.threads);
    return 1;
  }
  return 0;
}
