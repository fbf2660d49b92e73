/* gemm.h: problem sizes of gemm. */
#ifndef POLYBENCH_GEMM_H
#define POLYBENCH_GEMM_H

#include "polybench_data.h"

#ifndef NI
#define NI POLYBENCH_DATASET(20, 60, 200, 1000, 2000)
#endif
#ifndef NJ
#define NJ POLYBENCH_DATASET(25, 70, 220, 1100, 2300)
#endif
#ifndef NK
#define NK POLYBENCH_DATASET(30, 80, 240, 1200, 2600)
#endif

#define _PB_NI POLYBENCH_LOOP_BOUND(NI, ni)
#define _PB_NJ POLYBENCH_LOOP_BOUND(NJ, nj)
#define _PB_NK POLYBENCH_LOOP_BOUND(NK, nk)

#endif
