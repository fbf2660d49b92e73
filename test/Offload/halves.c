/* One array as two arguments: disjoint halves run on the device; halves that
 * overlap are found at run time and run the original loops.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"

enum { N = 500 };
static double a[2 * N];

APART static void copy(int n, double *to, const double *from) {
  for (int i = 0; i < n; i++)
    to[i] = 2.0 * from[i];
}

int main(void) {
  FILL(a);
  copy(opaque(N), a, a + opaque(N));
  SHOW(a);
  copy(opaque(N), a + opaque(1), a);
  SHOW(a);
  return 0;
}
