/* nussinov.h: problem sizes of nussinov. */
#ifndef POLYBENCH_NUSSINOV_H
#define POLYBENCH_NUSSINOV_H

#if !defined(DATA_TYPE_IS_INT) && !defined(DATA_TYPE_IS_FLOAT) &&              \
    !defined(DATA_TYPE_IS_DOUBLE)
#define DATA_TYPE_IS_INT
#endif
#include "polybench_data.h"

#ifndef N
#define N POLYBENCH_DATASET(60, 180, 500, 2500, 5500)
#endif

#define _PB_N POLYBENCH_LOOP_BOUND(N, n)

#endif
