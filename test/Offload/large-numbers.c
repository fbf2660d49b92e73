// The bounds of `int` and of arrays must not get into isl's scheduler: its
// numbers grew to hundreds of digits, and it took minutes for few operations.
//
// RUN: %pacc_cc -c %s -o %t.o -Rpass=polly-acc -Rpass-missed=polly-acc 2>&1 \
// RUN:   | FileCheck %s

// The least cost of merging neighbours until one is left: best[i][j] is that
// of i ... j, of which prefix[i][j][k] splits behind k at the latest.
int merge(int rounds, int n, int best[restrict 500][500],
          int cost[restrict 500][500], int prefix[restrict 500][500][500]) {
  int sum = 0;
  // CHECK: large-numbers.c:[[#@LINE+1]]:3: remark: offloaded region 'merge_scop{{[0-9]+}}'
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        best[i][j] = 0;
    for (int i = 0; i < n - 1; i++)
      for (int j = i + 1; j < n; j++) {
        prefix[i][j][i] = 0;
        for (int k = i + 1; k < j; k++)
          prefix[i][j][k] = prefix[i][j][k - 1] + best[i][k] + best[k][j];
        best[i][j] = prefix[i][j][j - 1] + cost[i][j];
      }
    sum += best[0][n - 1];
  }
  return sum;
}
