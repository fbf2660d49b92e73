/* correlation.h: problem sizes of correlation. */
#ifndef POLYBENCH_CORRELATION_H
#define POLYBENCH_CORRELATION_H

#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef M
#define M POLYBENCH_DATASET(28, 80, 240, 1200, 2600)
#endif
#ifndef N
#define N POLYBENCH_DATASET(32, 100, 260, 1400, 3000)
#endif

#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
