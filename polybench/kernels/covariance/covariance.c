/* covariance.c: the covariance matrix of the m columns (variables) of an
 * n x m table of data. */
#include <polybench.h>

#include "covariance.h"

static void init_array(int m, int n, DATA_TYPE *float_n,
                       DATA_TYPE POLYBENCH_2D(data, N, M, n, m)) {
  *float_n = (DATA_TYPE)n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      data[i][j] = ((DATA_TYPE)i * j) / m;
}

static void print_array(int m, DATA_TYPE POLYBENCH_2D(cov, M, M, m, m)) {
  POLYBENCH_DUMP_START;

  POLYBENCH_DUMP_BEGIN("cov");
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      POLYBENCH_DUMP_VALUE(i * m + j, cov[i][j]);
  POLYBENCH_DUMP_END("cov");

  POLYBENCH_DUMP_FINISH;
}

static void kernel_covariance(int m, int n, DATA_TYPE float_n,
                              DATA_TYPE POLYBENCH_2D(data, N, M, n, m),
                              DATA_TYPE POLYBENCH_2D(cov, M, M, m, m),
                              DATA_TYPE POLYBENCH_1D(mean, M, m)) {
#ifdef POLYBENCH_KERNEL_FILE
#include POLYBENCH_KERNEL_FILE
#else
#pragma scop
  for (int j = 0; j < _PB_M; j++) {
    mean[j] = SCALAR_VAL(0.0);
    for (int i = 0; i < _PB_N; i++)
      mean[j] += data[i][j];
    mean[j] /= float_n;
  }

  for (int i = 0; i < _PB_N; i++)
    for (int j = 0; j < _PB_M; j++)
      data[i][j] -= mean[j];

  for (int i = 0; i < _PB_M; i++)
    for (int j = i; j < _PB_M; j++) {
      cov[i][j] = SCALAR_VAL(0.0);
      for (int k = 0; k < _PB_N; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= (float_n - SCALAR_VAL(1.0));
      cov[j][i] = cov[i][j];
    }
#pragma endscop
#endif
}

int main(int argc, char **argv) {
  int m = M;
  int n = N;
  DATA_TYPE float_n;
  POLYBENCH_2D_ARRAY_DECL(data, DATA_TYPE, N, M, n, m);
  POLYBENCH_2D_ARRAY_DECL(cov, DATA_TYPE, M, M, m, m);
  POLYBENCH_1D_ARRAY_DECL(mean, DATA_TYPE, M, m);

  polybench_each_run {
    init_array(m, n, &float_n, POLYBENCH_ARRAY(data));
    polybench_start_instruments;
    kernel_covariance(m, n, float_n, POLYBENCH_ARRAY(data),
                      POLYBENCH_ARRAY(cov), POLYBENCH_ARRAY(mean));
    polybench_stop_instruments;
    polybench_print_instruments;
  }
  polybench_prevent_dce(print_array(m, POLYBENCH_ARRAY(cov)));

  POLYBENCH_FREE_ARRAY(data);
  POLYBENCH_FREE_ARRAY(cov);
  POLYBENCH_FREE_ARRAY(mean);
  return 0;
}
