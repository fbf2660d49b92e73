/* Subscripts that point far before the pointer.
 * RUN: %same --regions 2 %t %s
 */
#include "Inputs/show.h"

enum { N = 300 };
static double a[N], b[N];

APART static void shift(int from, int to) {
  for (int i = from; i < to; i++)
    b[i - 100] = a[i - 90] + 0.5;
}

APART static void before(double *restrict x, const double *restrict y, int n) {
  for (int i = -n; i < 0; i++)
    x[i] = y[i] * 3.0;
}

int main(void) {
  FILL(a);
  FILL(b);
  shift(opaque(100), opaque(350));
  SHOW(b);
  before(b + N, a + N, opaque(N));
  SHOW(b);
  return 0;
}
