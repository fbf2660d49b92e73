/* deriche.h: problem sizes of deriche. */
#ifndef POLYBENCH_DERICHE_H
#define POLYBENCH_DERICHE_H

#if !defined(DATA_TYPE_IS_INT) && !defined(DATA_TYPE_IS_FLOAT) &&              \
    !defined(DATA_TYPE_IS_DOUBLE)
#define DATA_TYPE_IS_FLOAT
#endif
#define POLYBENCH_NEEDS_FRACTIONS
#include "polybench_data.h"

#ifndef W
#define W POLYBENCH_DATASET(64, 192, 720, 4096, 7680)
#endif
#ifndef H
#define H POLYBENCH_DATASET(64, 128, 480, 2160, 4320)
#endif

#define _PB_W POLYBENCH_LOOP_BOUND(W, w)
#define _PB_H POLYBENCH_LOOP_BOUND(H, h)

#endif
