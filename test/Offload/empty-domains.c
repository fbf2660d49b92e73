/* No iteration, one iteration, and sizes that are no multiple of anything.
 * Nothing is launched for a domain that is empty.
 * RUN: %same --regions 5 %t %s
 */
#include "Inputs/show.h"

enum { N = 67 };
static double a[N][N], b[N][N];

APART static void nest(int n, int m) {
  for (int i = 0; i < n; i++) {
    b[i][0] = 1.0;
    for (int j = i + 1; j < m; j++)
      b[i][j] = a[j][i] + (double)n;
  }
}

int main(void) {
  FILL(a);
  nest(opaque(1), opaque(1));
  nest(opaque(1), opaque(2));
  nest(opaque(N), opaque(N));
  nest(opaque(N), opaque(0));
  nest(opaque(31), opaque(33));
  nest(opaque(0), opaque(0));
  nest(opaque(-5), opaque(7));
  SHOW(b);
  return 0;
}
