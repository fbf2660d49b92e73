/* polybench_data.h: the dataset and the data type of a kernel, chosen on the
 * command line. Every kernel's own header includes it.
 *
 *   -DMINI_DATASET, -DSMALL_DATASET, -DMEDIUM_DATASET, -DLARGE_DATASET (the
 *   default), -DEXTRALARGE_DATASET     one of the five standard sizes
 *   -DN=1234                           any single size instead
 *   -DDATA_TYPE_IS_DOUBLE, -DDATA_TYPE_IS_FLOAT, -DDATA_TYPE_IS_INT
 *   -DPOLYBENCH_DUMP_EXACT             dump every bit of a value, not two
 *                                      decimals
 */
#ifndef POLYBENCH_DATA_H
#define POLYBENCH_DATA_H

#if defined(MINI_DATASET)
#define POLYBENCH_DATASET(mini, small, medium, large, extralarge) mini
#elif defined(SMALL_DATASET)
#define POLYBENCH_DATASET(mini, small, medium, large, extralarge) small
#elif defined(MEDIUM_DATASET)
#define POLYBENCH_DATASET(mini, small, medium, large, extralarge) medium
#elif defined(EXTRALARGE_DATASET)
#define POLYBENCH_DATASET(mini, small, medium, large, extralarge) extralarge
#else
#ifndef LARGE_DATASET
#define LARGE_DATASET
#endif
#define POLYBENCH_DATASET(mini, small, medium, large, extralarge) large
#endif

/* A kernel whose type is not double by default has said so already. */
#if !defined(DATA_TYPE_IS_INT) && !defined(DATA_TYPE_IS_FLOAT) &&              \
    !defined(DATA_TYPE_IS_DOUBLE)
#define DATA_TYPE_IS_DOUBLE
#endif

#if defined(DATA_TYPE_IS_INT)
#ifdef POLYBENCH_NEEDS_FRACTIONS
#error "this kernel has no integer version: use DATA_TYPE_IS_FLOAT or _DOUBLE"
#endif
#define DATA_TYPE int
#define DATA_PRINTF_MODIFIER "%d "
#elif defined(DATA_TYPE_IS_FLOAT)
#define DATA_TYPE float
#define SCALAR_VAL(x) x##f
#define SQRT_FUN(x) sqrtf(x)
#define EXP_FUN(x) expf(x)
#define POW_FUN(x, y) powf(x, y)
#else
#define DATA_TYPE double
#define SCALAR_VAL(x) x
#define SQRT_FUN(x) sqrt(x)
#define EXP_FUN(x) exp(x)
#define POW_FUN(x, y) pow(x, y)
#endif

#ifndef DATA_PRINTF_MODIFIER
#ifdef POLYBENCH_DUMP_EXACT
#define DATA_PRINTF_MODIFIER "%a "
#else
#define DATA_PRINTF_MODIFIER "%0.2f "
#endif
#endif

#endif
