/* bicg.h: problem sizes of bicg. */
#ifndef POLYBENCH_BICG_H
#define POLYBENCH_BICG_H

#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef M
#define M POLYBENCH_DATASET(38, 116, 390, 1900, 1800)
#endif
#ifndef N
#define N POLYBENCH_DATASET(42, 124, 410, 2100, 2200)
#endif

#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
