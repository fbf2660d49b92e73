/* fdtd-2d.h: problem sizes of fdtd-2d. */
#ifndef POLYBENCH_FDTD_2D_H
#define POLYBENCH_FDTD_2D_H

#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef TMAX
#define TMAX POLYBENCH_DATASET(20, 40, 100, 500, 1000)
#endif
#ifndef NX
#define NX POLYBENCH_DATASET(20, 60, 200, 1000, 2000)
#endif
#ifndef NY
#define NY POLYBENCH_DATASET(30, 80, 240, 1200, 2600)
#endif

#define _PB_TMAX POLYBENCH_LOOP_BOUND(TMAX, tmax)
#define _PB_NX POLYBENCH_LOOP_BOUND(NX, nx)
#define _PB_NY POLYBENCH_LOOP_BOUND(NY, ny)

#endif
