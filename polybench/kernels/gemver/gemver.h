/* gemver.h: problem sizes of gemver. */
#ifndef POLYBENCH_GEMVER_H
#define POLYBENCH_GEMVER_H

#include "polybench_data.h"

#ifndef N
#define N POLYBENCH_DATASET(40, 120, 400, 2000, 4000)
#endif

#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
