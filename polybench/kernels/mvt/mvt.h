/* mvt.h: problem sizes of mvt. */
#ifndef POLYBENCH_MVT_H
#define POLYBENCH_MVT_H

#include "polybench_data.h"

#ifndef N
#define N POLYBENCH_DATASET(40, 120, 400, 2000, 4000)
#endif

#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
