/* 3mm.h: problem sizes of 3mm. */
#ifndef POLYBENCH_3MM_H
#define POLYBENCH_3MM_H

#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef NI
#define NI POLYBENCH_DATASET(16, 40, 180, 800, 1600)
#endif
#ifndef NJ
#define NJ POLYBENCH_DATASET(18, 50, 190, 900, 1800)
#endif
#ifndef NK
#define NK POLYBENCH_DATASET(20, 60, 200, 1000, 2000)
#endif
#ifndef NL
#define NL POLYBENCH_DATASET(22, 70, 210, 1100, 2200)
#endif
#ifndef NM
#define NM POLYBENCH_DATASET(24, 80, 220, 1200, 2400)
#endif

#define _PB_NI POLYBENCH_LOOP_BOUND(NI, ni)
#define _PB_NJ POLYBENCH_LOOP_BOUND(NJ, nj)
#define _PB_NK POLYBENCH_LOOP_BOUND(NK, nk)
#define _PB_NL POLYBENCH_LOOP_BOUND(NL, nl)
#define _PB_NM POLYBENCH_LOOP_BOUND(NM, nm)

#endif
