/* gesummv.h: problem sizes of gesummv. */
#ifndef POLYBENCH_GESUMMV_H
#define POLYBENCH_GESUMMV_H

#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef N
#define N POLYBENCH_DATASET(30, 90, 250, 1300, 2800)
#endif

#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
