/* Assumptions, and minima and maxima of unsigned numbers in bounds.
 * RUN: %same --regions 3 %t %s
 */
#include "Inputs/show.h"

enum { N = 257 };
static double a[N], b[N];

APART static void assumed(int n) {
  __builtin_assume(n > 4 && n <= N);
  for (int i = 2; i < n - 2; i++)
    b[i] = a[i - 2] + a[i + 2];
}

APART static void least(unsigned n, unsigned m) {
  unsigned end = n < m ? n : m;
  for (unsigned i = 0; i < end; i++)
    a[i] = b[i] + 1.0;
}

APART static void most(unsigned n, unsigned m) {
  unsigned begin = n > m ? n : m;
  for (unsigned i = begin; i < N; i++)
    b[i] = a[i] * 3.0;
}

int main(void) {
  FILL(a);
  FILL(b);
  assumed(opaque(N));
  least((unsigned)opaque(200), (unsigned)opaque(170));
  most((unsigned)opaque(90), (unsigned)opaque(120));
  SHOW(a);
  SHOW(b);
  return 0;
}
