/* correlation.c: the correlation matrix of the m columns (variables) of an
 * n x m table of data. */
#include <math.h>

#include <polybench.h>

#include "correlation.h"

static void init_array(int m, int n, DATA_TYPE *float_n,
                       DATA_TYPE POLYBENCH_2D(data, N, M, n, m)) {
  *float_n = (DATA_TYPE)n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      data[i][j] = (DATA_TYPE)(i * j) / m + i;
}

static void print_array(int m, DATA_TYPE POLYBENCH_2D(corr, M, M, m, m)) {
  POLYBENCH_DUMP_START;

  POLYBENCH_DUMP_BEGIN("corr");
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      POLYBENCH_DUMP_VALUE(i * m + j, corr[i][j]);
  POLYBENCH_DUMP_END("corr");

  POLYBENCH_DUMP_FINISH;
}

static void kernel_correlation(int m, int n, DATA_TYPE float_n,
                               DATA_TYPE POLYBENCH_2D(data, N, M, n, m),
                               DATA_TYPE POLYBENCH_2D(corr, M, M, m, m),
                               DATA_TYPE POLYBENCH_1D(mean, M, m),
                               DATA_TYPE POLYBENCH_1D(stddev, M, m)) {
  DATA_TYPE eps = SCALAR_VAL(0.1);

#pragma scop
  for (int j = 0; j < _PB_M; j++) {
    mean[j] = SCALAR_VAL(0.0);
    for (int i = 0; i < _PB_N; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }

  for (int j = 0; j < _PB_M; j++) {
    stddev[j] = SCALAR_VAL(0.0);
    for (int i = 0; i < _PB_N; i++)
      stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    stddev[j] /= float_n;
    stddev[j] = SQRT_FUN(stddev[j]);
    // A column that is almost constant must not be divided by almost 0.
    stddev[j] = stddev[j] <= eps ? SCALAR_VAL(1.0) : stddev[j];
  }

  // Give each column mean 0 and, up to the factor n, variance 1.
  for (int i = 0; i < _PB_N; i++)
    for (int j = 0; j < _PB_M; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= SQRT_FUN(float_n) * stddev[j];
    }

  for (int i = 0; i < _PB_M - 1; i++) {
    corr[i][i] = SCALAR_VAL(1.0);
    for (int j = i + 1; j < _PB_M; j++) {
      corr[i][j] = SCALAR_VAL(0.0);
      for (int k = 0; k < _PB_N; k++)
        corr[i][j] += (data[k][i] * data[k][j]);
      corr[j][i] = corr[i][j];
    }
  }
  corr[_PB_M - 1][_PB_M - 1] = SCALAR_VAL(1.0);
#pragma endscop
}

int main(int argc, char **argv) {
  int m = M;
  int n = N;
  DATA_TYPE float_n;
  POLYBENCH_2D_ARRAY_DECL(data, DATA_TYPE, N, M, n, m);
  POLYBENCH_2D_ARRAY_DECL(corr, DATA_TYPE, M, M, m, m);
  POLYBENCH_1D_ARRAY_DECL(mean, DATA_TYPE, M, m);
  POLYBENCH_1D_ARRAY_DECL(stddev, DATA_TYPE, M, m);

  polybench_each_run {
    init_array(m, n, &float_n, POLYBENCH_ARRAY(data));
    polybench_start_instruments;
    kernel_correlation(m, n, float_n, POLYBENCH_ARRAY(data),
                       POLYBENCH_ARRAY(corr), POLYBENCH_ARRAY(mean),
                       POLYBENCH_ARRAY(stddev));
    polybench_stop_instruments;
    polybench_print_instruments;
  }
  polybench_prevent_dce(print_array(m, POLYBENCH_ARRAY(corr)));

  POLYBENCH_FREE_ARRAY(data);
  POLYBENCH_FREE_ARRAY(corr);
  POLYBENCH_FREE_ARRAY(mean);
  POLYBENCH_FREE_ARRAY(stddev);
  return 0;
}
