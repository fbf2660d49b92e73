/* jacobi-1d.h: problem sizes of jacobi-1d. */
#ifndef POLYBENCH_JACOBI_1D_H
#define POLYBENCH_JACOBI_1D_H

#include "polybench_data.h"

#ifndef TSTEPS
#define TSTEPS POLYBENCH_DATASET(20, 40, 100, 500, 1000)
#endif
#ifndef N
#define N POLYBENCH_DATASET(30, 120, 400, 2000, 4000)
#endif

#define _PB_TSTEPS POLYBENCH_LOOP_BOUND(TSTEPS, tsteps)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
