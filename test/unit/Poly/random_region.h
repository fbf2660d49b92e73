/* random_region.h: random regions, as text. */
#ifndef PACC_TEST_RANDOM_REGION_H
#define PACC_TEST_RANDOM_REGION_H

#include <stdint.h>

/* The region of a seed: up to four statements in loops of depth three at most,
 * with triangular, strided and guarded domains, arrays of one to three
 * dimensions, may-writes and local scalars. To be freed. */
char *random_region(uint64_t seed);

#endif
