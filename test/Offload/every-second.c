/* What lies between written elements keeps its value, also where another
 * thread of the host changes it meanwhile: only written rows are copied back.
 * RUN: %same --regions 2 %t %s
 */
#include "Inputs/show.h"

enum { N = 400 };
static double a[N], b[40][40];

APART static void odd(int n) {
  for (int i = 1; i < n; i += 2)
    a[i] = (double)i;
}

APART static void rows(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[2 * i + 1][j + 3] = b[2 * i][j] + 1.0;
}

int main(void) {
  FILL(a);
  FILL(b);
  odd(opaque(N));
  rows(opaque(20));
  SHOW(a);
  SHOW(b);
  return 0;
}
