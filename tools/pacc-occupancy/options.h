/* options.h: the command line of pacc-occupancy. */
#ifndef PACC_OCCUPANCY_OPTIONS_H
#define PACC_OCCUPANCY_OPTIONS_H

#include "pacc/model.h"

/* block   one block size, 0: all multiples of the warp */
struct occ_options {
  const struct pacc_gpu *gpu;
  struct pacc_resources resources;
  uint32_t block;
  bool json;
};

enum occ_parse {
  OCC_RUN,
  OCC_DONE, /* help, version or list was asked for and printed */
  OCC_BAD,  /* a message is on stderr */
};

enum occ_parse occ_options_parse(int argc, char **argv,
                                 struct occ_options *options);

#endif
