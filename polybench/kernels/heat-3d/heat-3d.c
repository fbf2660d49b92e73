/* heat-3d.c: heat in three dimensions, a stencil of seven points with two
 * arrays in turn. */
#include <polybench.h>

#include "heat-3d.h"

static void init_array(int n, DATA_TYPE POLYBENCH_3D(A, N, N, N, n, n, n),
                       DATA_TYPE POLYBENCH_3D(B, N, N, N, n, n, n)) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        A[i][j][k] = B[i][j][k] = (DATA_TYPE)(i + j + (n - k)) * 10 / (n);
}

static void print_array(int n, DATA_TYPE POLYBENCH_3D(A, N, N, N, n, n, n)) {
  POLYBENCH_DUMP_START;

  POLYBENCH_DUMP_BEGIN("A");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        POLYBENCH_DUMP_VALUE(i * n * n + j * n + k, A[i][j][k]);
  POLYBENCH_DUMP_END("A");

  POLYBENCH_DUMP_FINISH;
}

static void kernel_heat_3d(int tsteps, int n,
                           DATA_TYPE POLYBENCH_3D(A, N, N, N, n, n, n),
                           DATA_TYPE POLYBENCH_3D(B, N, N, N, n, n, n)) {
  (void)tsteps;

#ifdef POLYBENCH_KERNEL_FILE
#include POLYBENCH_KERNEL_FILE
#else
#pragma scop
  // The number of steps is a constant in the original too.
  for (int t = 1; t <= TSTEPS; t++) {
    for (int i = 1; i < _PB_N - 1; i++)
      for (int j = 1; j < _PB_N - 1; j++)
        for (int k = 1; k < _PB_N - 1; k++)
          B[i][j][k] = SCALAR_VAL(0.125) *
                           (A[i + 1][j][k] - SCALAR_VAL(2.0) * A[i][j][k] +
                            A[i - 1][j][k]) +
                       SCALAR_VAL(0.125) *
                           (A[i][j + 1][k] - SCALAR_VAL(2.0) * A[i][j][k] +
                            A[i][j - 1][k]) +
                       SCALAR_VAL(0.125) *
                           (A[i][j][k + 1] - SCALAR_VAL(2.0) * A[i][j][k] +
                            A[i][j][k - 1]) +
                       A[i][j][k];
    for (int i = 1; i < _PB_N - 1; i++)
      for (int j = 1; j < _PB_N - 1; j++)
        for (int k = 1; k < _PB_N - 1; k++)
          A[i][j][k] = SCALAR_VAL(0.125) *
                           (B[i + 1][j][k] - SCALAR_VAL(2.0) * B[i][j][k] +
                            B[i - 1][j][k]) +
                       SCALAR_VAL(0.125) *
                           (B[i][j + 1][k] - SCALAR_VAL(2.0) * B[i][j][k] +
                            B[i][j - 1][k]) +
                       SCALAR_VAL(0.125) *
                           (B[i][j][k + 1] - SCALAR_VAL(2.0) * B[i][j][k] +
                            B[i][j][k - 1]) +
                       B[i][j][k];
  }
#pragma endscop
#endif
}

int main(int argc, char **argv) {
  int tsteps = TSTEPS;
  int n = N;
  POLYBENCH_3D_ARRAY_DECL(A, DATA_TYPE, N, N, N, n, n, n);
  POLYBENCH_3D_ARRAY_DECL(B, DATA_TYPE, N, N, N, n, n, n);

  polybench_each_run {
    init_array(n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(B));
    polybench_start_instruments;
    kernel_heat_3d(tsteps, n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(B));
    polybench_stop_instruments;
    polybench_print_instruments;
  }
  polybench_prevent_dce(print_array(n, POLYBENCH_ARRAY(A)));

  POLYBENCH_FREE_ARRAY(A);
  POLYBENCH_FREE_ARRAY(B);
  return 0;
}
