/* trmm.h: problem sizes of trmm. */
#ifndef POLYBENCH_TRMM_H
#define POLYBENCH_TRMM_H

#include "polybench_data.h"

#ifndef M
#define M POLYBENCH_DATASET(20, 60, 200, 1000, 2000)
#endif
#ifndef N
#define N POLYBENCH_DATASET(30, 80, 240, 1200, 2600)
#endif

#define _PB_M POLYBENCH_LOOP_BOUND(M, m)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
