/* floyd-warshall.c: the lengths of the shortest paths between all pairs of
 * nodes of a graph. */
#include <polybench.h>

#include "floyd-warshall.h"

static void init_array(int n, DATA_TYPE POLYBENCH_2D(path, N, N, n, n)) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      path[i][j] = i * j % 7 + 1;
      if ((i + j) % 13 == 0 || (i + j) % 7 == 0 || (i + j) % 11 == 0)
        path[i][j] = 999;
    }
}

static void print_array(int n, DATA_TYPE POLYBENCH_2D(path, N, N, n, n)) {
  POLYBENCH_DUMP_START;

  POLYBENCH_DUMP_BEGIN("path");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      POLYBENCH_DUMP_VALUE(i * n + j, path[i][j]);
  POLYBENCH_DUMP_END("path");

  POLYBENCH_DUMP_FINISH;
}

static void kernel_floyd_warshall(int n,
                                  DATA_TYPE POLYBENCH_2D(path, N, N, n, n)) {
#pragma scop
  for (int k = 0; k < _PB_N; k++)
    for (int i = 0; i < _PB_N; i++)
      for (int j = 0; j < _PB_N; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j]
                         ? path[i][j]
                         : path[i][k] + path[k][j];
#pragma endscop
}

int main(int argc, char **argv) {
  int n = N;
  POLYBENCH_2D_ARRAY_DECL(path, DATA_TYPE, N, N, n, n);

  polybench_each_run {
    init_array(n, POLYBENCH_ARRAY(path));
    polybench_start_instruments;
    kernel_floyd_warshall(n, POLYBENCH_ARRAY(path));
    polybench_stop_instruments;
    polybench_print_instruments;
  }
  polybench_prevent_dce(print_array(n, POLYBENCH_ARRAY(path)));

  POLYBENCH_FREE_ARRAY(path);
  return 0;
}
