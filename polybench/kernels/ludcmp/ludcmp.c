/* ludcmp.c: a linear system A x = b, by A = L U and two triangular systems. */
#include <polybench.h>

#include "ludcmp.h"

static void init_array(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n),
                       DATA_TYPE POLYBENCH_1D(b, N, n),
                       DATA_TYPE POLYBENCH_1D(x, N, n),
                       DATA_TYPE POLYBENCH_1D(y, N, n)) {
  DATA_TYPE fn = (DATA_TYPE)n;
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    y[i] = 0;
    b[i] = (DATA_TYPE)((i + 1) / fn / 2.0 + 4);
  }

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

static void print_array(int n, DATA_TYPE POLYBENCH_1D(x, N, n)) {
  POLYBENCH_DUMP_START;

  POLYBENCH_DUMP_BEGIN("x");
  for (int i = 0; i < n; i++)
    POLYBENCH_DUMP_VALUE(i, x[i]);
  POLYBENCH_DUMP_END("x");

  POLYBENCH_DUMP_FINISH;
}

static void kernel_ludcmp(int n, DATA_TYPE POLYBENCH_2D(A, N, N, n, n),
                          DATA_TYPE POLYBENCH_1D(b, N, n),
                          DATA_TYPE POLYBENCH_1D(x, N, n),
                          DATA_TYPE POLYBENCH_1D(y, N, n)) {
  DATA_TYPE w;

#pragma scop
  // A = L U
  for (int i = 0; i < _PB_N; i++) {
    for (int j = 0; j < i; j++) {
      w = A[i][j];
      for (int k = 0; k < j; k++)
        w -= A[i][k] * A[k][j];
      A[i][j] = w / A[j][j];
    }
    for (int j = i; j < _PB_N; j++) {
      w = A[i][j];
      for (int k = 0; k < i; k++)
        w -= A[i][k] * A[k][j];
      A[i][j] = w;
    }
  }

  // L y = b
  for (int i = 0; i < _PB_N; i++) {
    w = b[i];
    for (int j = 0; j < i; j++)
      w -= A[i][j] * y[j];
    y[i] = w;
  }

  // U x = y
  for (int i = _PB_N - 1; i >= 0; i--) {
    w = y[i];
    for (int j = i + 1; j < _PB_N; j++)
      w -= A[i][j] * x[j];
    x[i] = w / A[i][i];
  }
#pragma endscop
}

int main(int argc, char **argv) {
  int n = N;
  POLYBENCH_2D_ARRAY_DECL(A, DATA_TYPE, N, N, n, n);
  POLYBENCH_1D_ARRAY_DECL(b, DATA_TYPE, N, n);
  POLYBENCH_1D_ARRAY_DECL(x, DATA_TYPE, N, n);
  POLYBENCH_1D_ARRAY_DECL(y, DATA_TYPE, N, n);

  polybench_each_run {
    init_array(n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(x),
               POLYBENCH_ARRAY(y));
    polybench_start_instruments;
    kernel_ludcmp(n, POLYBENCH_ARRAY(A), POLYBENCH_ARRAY(b), POLYBENCH_ARRAY(x),
                  POLYBENCH_ARRAY(y));
    polybench_stop_instruments;
    polybench_print_instruments;
  }
  polybench_prevent_dce(print_array(n, POLYBENCH_ARRAY(x)));

  POLYBENCH_FREE_ARRAY(A);
  POLYBENCH_FREE_ARRAY(b);
  POLYBENCH_FREE_ARRAY(x);
  POLYBENCH_FREE_ARRAY(y);
  return 0;
}
