/* seidel-2d.c: the mean of nine neighbours in two dimensions, in place. */
#include <polybench.h>

#include "seidel-2d.h"

static void init_array(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n)) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = ((DATA_TYPE)i * (j + 2) + 2) / n;
}

static void print_array(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n)) {
  POLYBENCH_DUMP_START;

  POLYBENCH_DUMP_BEGIN("A");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      POLYBENCH_DUMP_VALUE(i * n + j, A[i][j]);
  POLYBENCH_DUMP_END("A");

  POLYBENCH_DUMP_FINISH;
}

static void kernel_seidel_2d(int tsteps, int n,
                             DATA_TYPE POLYBENCH_2D(A, N, N, n, n)) {
#pragma scop
  for (int t = 0; t <= _PB_TSTEPS - 1; t++)
    for (int i = 1; i <= _PB_N - 2; i++)
      for (int j = 1; j <= _PB_N - 2; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] +
                   A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j - 1] +
                   A[i + 1][j] + A[i + 1][j + 1]) /
                  SCALAR_VAL(9.0);
#pragma endscop
}

int main(int argc, char **argv) {
  int tsteps = TSTEPS;
  int n = N;
  POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, N, N, n, n);

  polybench_each_run {
    init_array(n, POLYBENCH_ARRAY(A));
    polybench_start_instruments;
    kernel_seidel_2d(tsteps, n, POLYBENCH_ARRAY(A));
    polybench_stop_instruments;
    polybench_print_instruments;
  }
  polybench_prevent_dce(print_array(n, POLYBENCH_ARRAY(A)));

  POLYBENCH_FREE_ARRAY(A);
  return 0;
}
