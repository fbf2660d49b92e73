/* lu.c: the factors L and U of A = L U without pivoting, in place of A. */
#include <polybench.h>

#include "lu.h"

static void init_array(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n)) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++)
      A[i][j] = (DATA_TYPE)(-j % n) / n + 1;
    for (int j = i + 1; j < n; j++)
      A[i][j] = 0;
    A[i][i] = 1;
  }

  // A := A A^T is positive definite: no pivoting is needed.
  POLYBENCH_2D_ARRAY_DECL(B, DATA_TYPE, N, N, n, n);
  for (int r = 0; r < n; r++)
    for (int s = 0; s < n; s++)
      (POLYBENCH_ARRAY(B))[r][s] = 0;
  for (int t = 0; t < n; t++)
    for (int r = 0; r < n; r++)
      for (int s = 0; s < n; s++)
        (POLYBENCH_ARRAY(B))[r][s] += A[r][t] * A[s][t];
  for (int r = 0; r < n; r++)
    for (int s = 0; s < n; s++)
      A[r][s] = (POLYBENCH_ARRAY(B))[r][s];
  POLYBENCH_FREE_ARRAY(B);
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

static void kernel_lu(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n)) {
#pragma scop
  for (int i = 0; i < _PB_N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < _PB_N; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}

int main(int argc, char **argv) {
  int n = N;
  POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, N, N, n, n);

  polybench_each_run {
    init_array(n, POLYBENCH_ARRAY(A));
    polybench_start_instruments;
    kernel_lu(n, POLYBENCH_ARRAY(A));
    polybench_stop_instruments;
    polybench_print_instruments;
  }
  polybench_prevent_dce(print_array(n, POLYBENCH_ARRAY(A)));

  POLYBENCH_FREE_ARRAY(A);
  return 0;
}
