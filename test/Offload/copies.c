/* Arrays that hold values within one iteration of some loops only: each
 * iteration has a copy, so that kernels run once. What is left in the array is
 * that of the last iteration.
 * RUN: %same --regions 6 %t %s
 * RUN: %clang -O3 %pacc_flags %s -o %t.exe %rtlib
 * RUN: env PACC_DEVICE=cpu PACC_LOG=info %t.exe 2>&1 | FileCheck %s
 * CHECK: work_array_scop0{{.*}}: {{[1-3]}} launch
 * CHECK: triangle_scop{{.*}}: {{[12]}} launch
 * CHECK: local_scop{{.*}}: {{[12]}} launch
 * CHECK: rows_scop{{.*}}: {{[12]}} launch
 * CHECK: less_scop{{.*}}: 2 launch
 * CHECK: backwards_scop{{.*}}: {{[12]}} launch
 */
#include "Inputs/show.h"

enum { N = 17, M = 11 };
static double a[N][M][N], c[N][N], t[N], total[N];

/* As in doitgen. */
APART static void work_array(int n, int m) {
  for (int r = 0; r < n; r++)
    for (int q = 0; q < m; q++) {
      for (int p = 0; p < n; p++) {
        t[p] = 0.0;
        for (int s = 0; s < n; s++)
          t[p] += a[r][q][s] * c[s][p];
      }
      for (int p = 0; p < n; p++)
        a[r][q][p] = t[p];
    }
}

/* The box around the iterations has more of them than there are. */
APART static void triangle(int n, int m) {
  for (int r = 0; r < m; r++)
    for (int q = r / 2; q <= r; q++) {
      for (int p = 0; p < n; p++)
        t[p] = c[q][p] * r;
      for (int p = 0; p < n; p++)
        a[r][q][p] += t[n - 1 - p];
    }
}

/* Nothing is left of the array; its size is known when the program runs. */
APART static void local(int n) {
  double own[n];
  for (int r = 0; r < n; r++) {
    for (int p = 0; p < n; p++)
      own[p] = c[r][p] + 0.5;
    for (int p = 0; p < n; p++)
      c[r][p] = own[n - 1 - p] * own[p];
  }
}

/* Elements of one row each, again and again. */
APART static void rows(int n, int m) {
  static double row[N][N];
  for (int r = 0; r < n; r++)
    for (int q = 0; q < m; q++) {
      for (int p = 0; p < n; p++)
        row[r][p] = a[r][q][p] - 1.0;
      for (int p = 0; p < n; p++)
        a[r][q][p] = row[r][p] * row[r][n - 1 - p];
    }
  SHOW(row);
}

/* The last iterations do not write all of it: no copies. The columns are swept
 * in parallel instead, with the values of c from before. */
APART static void less(int n) {
  for (int r = 0; r < n; r++) {
    for (int p = 0; p < n - r; p++)
      t[p] = c[r][p] * 3.0;
    for (int p = 0; p < n - r; p++)
      c[r][p] = t[n - r - 1 - p];
  }
}

/* The loops count down. */
APART static void backwards(int n) {
  for (int r = n - 1; r >= 0; r--) {
    for (int p = 0; p < n; p++)
      t[p] = c[r][p] - r;
    for (int p = 0; p < n; p++)
      total[p] = t[p] * t[n - 1 - p];
  }
}

int main(void) {
  FILL(a);
  FILL(c);
  FILL(t);
  work_array(opaque(N), opaque(M));
  SHOW(t);
  triangle(opaque(N), opaque(M));
  SHOW(t);
  local(opaque(N));
  rows(opaque(N), opaque(M));
  less(opaque(N));
  SHOW(t);
  backwards(opaque(N));
  SHOW(a);
  SHOW(c);
  SHOW(t);
  SHOW(total);
  return 0;
}
