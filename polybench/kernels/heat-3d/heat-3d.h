/* heat-3d.h: problem sizes of heat-3d. */
#ifndef POLYBENCH_HEAT_3D_H
#define POLYBENCH_HEAT_3D_H

#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef TSTEPS
#define TSTEPS POLYBENCH_DATASET(20, 40, 100, 500, 1000)
#endif
#ifndef N
#define N POLYBENCH_DATASET(10, 20, 40, 120, 200)
#endif

#define _PB_TSTEPS POLYBENCH_LOOP_BOUND(TSTEPS, tsteps)
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
