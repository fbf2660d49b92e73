/* adi.h: problem sizes of adi. */
#ifndef POLYBENCH_ADI_H
#define POLYBENCH_ADI_H

#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef TSTEPS
#define TSTEPS POLYBENCH_DATASET(20, 40, 100, 500, 1000)
#endif
#ifndef N
#define N POLYBENCH_DATASET(20, 60, 200, 1000, 2000)
#endif

#define _PB_TSTEPS POLYBENCH_LOOP_BOUND(TSTEPS, tsteps)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
