/* The outer loop has one iteration: isl would take the statements of a kernel
 * below it apart, and s would be lost between them.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"

enum { N = 6 };
static float a[N + 2][N + 2][N + 2];

APART static void once(int n, float (*restrict a)[n + 2][n + 2]) {
  double s = 1;
  for (long i = 0; i < 2; i += 3) {
    for (long j = i; j < (i + 2 < n ? i + 2 : n); j++) {
      s = 0.1;
      for (long k = j; k < n; k++)
        s += (double)(a[i + 2][j][k + 2] * k + a[i + 2][i][j + 2]) * 0.25;
      a[i + 2][j][j + 2] = a[i + 5][j][i + 2] - (float)s;
      a[i + 2][j][4] = a[i + 2][j][i + 2] + (float)s;
    }
    a[i + 2][i + 1][i + 3] = a[i + 2][0][5] / a[i + 2][1][2] + (float)s;
  }
  a[3][1][3] = a[4][1][2] * (float)s;
}

int main(void) {
  FILL(a);
  once(opaque(N), a);
  SHOW(a);
  return 0;
}
