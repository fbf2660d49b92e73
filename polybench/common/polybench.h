/* polybench.h: the harness of the benchmark kernels. The macros have the names
 * and meanings of PolyBench/C 4.2.1.
 *
 *   cc -O3 -I common kernels/gemm/gemm.c common/polybench.c -lm
 *
 *   -DPOLYBENCH_TIME            print the kernel's seconds to stdout
 *   -DPOLYBENCH_DUMP_ARRAYS     print the results to stderr
 *   -DPOLYBENCH_USE_C99_PROTO   parameters are VLAs, double A[n][m], instead
 *                               of arrays of constant size
 *   -DPOLYBENCH_USE_RESTRICT    array parameters do not overlap
 *   -DPOLYBENCH_USE_SCALAR_LB   loop bounds are constants, not parameters
 *   -DPOLYBENCH_STACK_ARRAYS    arrays live on the stack, not on the heap
 *   -DPOLYBENCH_PADDING_FACTOR=k      k unused elements at each row's end
 *   -DPOLYBENCH_NO_FLUSH_CACHE        leave the caches as the initialisation
 *                                     leaves them
 *   -DPOLYBENCH_CACHE_SIZE_KB=k       bytes to walk to flush them (32770)
 *   -DPOLYBENCH_RUNS=k          ours: initialise and run k times; one line of
 *                               seconds each. The first is cold. With
 *                               -D'POLYBENCH_RUNS=polybench_runs()' the
 *                               environment decides.
 *   -DPOLYBENCH_KERNEL_FILE=f   ours: the file "f" replaces the loops of a
 *                               BLAS-like kernel
 * and those of polybench_data.h.
 */
#ifndef POLYBENCH_H
#define POLYBENCH_H

#include <stdio.h>
#include <stdlib.h>

/* `#pragma scop` speaks to source-to-source compilers only. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#ifndef POLYBENCH_PADDING_FACTOR
#define POLYBENCH_PADDING_FACTOR 0
#endif

/* An extent and a loop bound have a constant and a variable form. */
#ifdef POLYBENCH_USE_C99_PROTO
#define POLYBENCH_EXTENT(constant, variable)                                   \
  (variable) + POLYBENCH_PADDING_FACTOR
#else
#define POLYBENCH_EXTENT(constant, variable)                                   \
  (constant) + POLYBENCH_PADDING_FACTOR
#endif
#ifdef POLYBENCH_USE_SCALAR_LB
#define POLYBENCH_LOOP_BOUND(constant, variable) constant
#else
#define POLYBENCH_LOOP_BOUND(constant, variable) variable
#endif

#ifdef POLYBENCH_USE_RESTRICT
#define POLYBENCH_RESTRICT restrict
#else
#define POLYBENCH_RESTRICT
#endif

/* Array parameters: `DATA_TYPE POLYBENCH_2D(A, N, M, n, m)`. */
#define POLYBENCH_1D(name, c1, v1)                                             \
  name[POLYBENCH_RESTRICT POLYBENCH_EXTENT(c1, v1)]
#define POLYBENCH_2D(name, c1, c2, v1, v2)                                     \
  POLYBENCH_1D(name, c1, v1)[POLYBENCH_EXTENT(c2, v2)]
#define POLYBENCH_3D(name, c1, c2, c3, v1, v2, v3)                             \
  POLYBENCH_2D(name, c1, c2, v1, v2)[POLYBENCH_EXTENT(c3, v3)]

/* Definitions of arrays in main(), and what functions get of them. */
#ifdef POLYBENCH_STACK_ARRAYS
#define POLYBENCH_ARRAY(name) name
#define POLYBENCH_FREE_ARRAY(name)
#define POLYBENCH_DEFINE(name, type, extents) type name extents
#else
#define POLYBENCH_ARRAY(name) *name
#define POLYBENCH_FREE_ARRAY(name) polybench_free_data((void *)name)
#define POLYBENCH_DEFINE(name, type, extents)                                  \
  type(*name) extents = (type(*) extents)polybench_alloc_data(1, sizeof(*name))
#endif
#define POLYBENCH_1D_ARRAY_DECL(name, type, c1, v1)                            \
  POLYBENCH_DEFINE(name, type, [POLYBENCH_EXTENT(c1, v1)])
#define POLYBENCH_2D_ARRAY_DECL(name, type, c1, c2, v1, v2)                    \
  POLYBENCH_DEFINE(name, type,                                                 \
                   [POLYBENCH_EXTENT(c1, v1)][POLYBENCH_EXTENT(c2, v2)])
#define POLYBENCH_3D_ARRAY_DECL(name, type, c1, c2, c3, v1, v2, v3)            \
  POLYBENCH_DEFINE(                                                            \
      name, type,                                                              \
      [POLYBENCH_EXTENT(                                                       \
          c1, v1)][POLYBENCH_EXTENT(c2, v2)][POLYBENCH_EXTENT(c3, v3)])

/* Runs `call`, which prints the results, when they are asked for. Otherwise
 * the condition is one that no compiler can decide, so that the kernel is not
 * dead code. */
#ifdef POLYBENCH_DUMP_ARRAYS
#define polybench_prevent_dce(call)                                            \
  do {                                                                         \
    (void)argc;                                                                \
    (void)argv;                                                                \
    call;                                                                      \
  } while (0)
#else
#define polybench_prevent_dce(call)                                            \
  do {                                                                         \
    if (argc > 42 && argv[0][0] == '\0')                                       \
      call;                                                                    \
  } while (0)
#endif

#define POLYBENCH_DUMP_TARGET stderr
#define POLYBENCH_DUMP_START                                                   \
  fprintf(POLYBENCH_DUMP_TARGET, "==BEGIN DUMP_ARRAYS==\n")
#define POLYBENCH_DUMP_FINISH                                                  \
  fprintf(POLYBENCH_DUMP_TARGET, "==END   DUMP_ARRAYS==\n")
#define POLYBENCH_DUMP_BEGIN(name)                                             \
  fprintf(POLYBENCH_DUMP_TARGET, "begin dump: %s", name)
#define POLYBENCH_DUMP_END(name)                                               \
  fprintf(POLYBENCH_DUMP_TARGET, "\nend   dump: %s\n", name)
/* A new line starts where `position` is a multiple of 20. */
#define POLYBENCH_DUMP_VALUE(position, value)                                  \
  do {                                                                         \
    if ((position) % 20 == 0)                                                  \
      fprintf(POLYBENCH_DUMP_TARGET, "\n");                                    \
    fprintf(POLYBENCH_DUMP_TARGET, DATA_PRINTF_MODIFIER, value);               \
  } while (0)

#ifdef POLYBENCH_RUNS
#define polybench_each_run                                                     \
  for (int polybench_run = 0; polybench_run < POLYBENCH_RUNS; polybench_run++)
#else
#define polybench_each_run
#endif

#ifdef POLYBENCH_TIME
#define polybench_start_instruments polybench_timer_start()
#define polybench_stop_instruments polybench_timer_stop()
#define polybench_print_instruments polybench_timer_print()
#else
#define polybench_start_instruments
#define polybench_stop_instruments
#define polybench_print_instruments
#endif

/* PPCG's output is C++. */
#ifdef __cplusplus
extern "C" {
#endif

/* Memory for `count` elements of `size` bytes at a page boundary. Ends the
 * program with a message if there is none. */
void *polybench_alloc_data(unsigned long long count, size_t size);
void polybench_free_data(void *data);

/* Wall-clock time between start and stop, printed as "seconds.micros\n". start
 * flushes the caches first. */
void polybench_timer_start(void);
void polybench_timer_stop(void);
void polybench_timer_print(void);

/* Runs wanted by the environment: PB_RUNS (1), but none any more once the
 * program has run for PB_SECONDS. */
int polybench_runs(void);

/* Evicts what the caches hold by walking POLYBENCH_CACHE_SIZE_KB of memory. */
void polybench_flush_cache(void);

#ifdef __cplusplus
}
#endif

#endif
