/* doitgen.h: problem sizes of doitgen. */
#ifndef POLYBENCH_DOITGEN_H
#define POLYBENCH_DOITGEN_H

#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef NQ
#define NQ POLYBENCH_DATASET(8, 20, 40, 140, 220)
#endif
#ifndef NR
#define NR POLYBENCH_DATASET(10, 25, 50, 150, 250)
#endif
#ifndef NP
#define NP POLYBENCH_DATASET(12, 30, 60, 160, 270)
#endif

#define _PB_NQ POLYBENCH_LOOP_BOUND(NQ, nq)
#define _PB_NR POLYBENCH_LOOP_BOUND(NR, nr)
#define _PB_NP POLYBENCH_LOOP_BOUND(NP, np)

#endif
