/* A span that is given up in its fourth round, where the arrays overlap: nothing
 * has happened, and the regions run one by one.
 * RUN: %same --regions 6 %t.out %s
 * RUN: env PACC_DEVICE=cpu PACC_LOG=info %t.acc 2>&1 >/dev/null | FileCheck %s
 * CHECK: shift_span0: {{.*}}; its regions run one by one
 */
#include "Inputs/show.h"

enum { N = 300 };
static double a[2 * N];

APART static void shift(int rounds, int n, double *x, double *y) {
  for (int t = 0; t < rounds; t++) {
    for (int i = 0; i < n; i++)
      y[i] = x[i] + y[i] * 0.5;
    y -= n / 2 - 1;
  }
}

int main(void) {
  FILL(a);
  shift(opaque(4), opaque(N / 2), a, a + N);
  SHOW(a);
  return 0;
}
