/* 2mm.h: problem sizes of 2mm. */
#ifndef POLYBENCH_2MM_H
#define POLYBENCH_2MM_H

#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef NI
#define NI POLYBENCH_DATASET(16, 40, 180, 800, 1600)
#endif
#ifndef NJ
#define NJ POLYBENCH_DATASET(18, 50, 190, 900, 1800)
#endif
#ifndef NK
#define NK POLYBENCH_DATASET(22, 70, 210, 1100, 2200)
#endif
#ifndef NL
#define NL POLYBENCH_DATASET(24, 80, 220, 1200, 2400)
#endif

#define _PB_NI POLYBENCH_LOOP_BOUND(NI, ni)
#define _PB_NJ POLYBENCH_LOOP_BOUND(NJ, nj)
#define _PB_NK POLYBENCH_LOOP_BOUND(NK, nk)
#define _PB_NL POLYBENCH_LOOP_BOUND(NL, nl)

#endif
