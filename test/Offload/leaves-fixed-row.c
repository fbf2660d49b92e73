/* The same for rows of constant size: the second call works on elements twice,
 * in an order that must stay.
 * RUN: %same %t %s
 */
#include "Inputs/show.h"

static double a[30][30];

APART static void diagonal(int n, int m, double (*x)[30]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      x[0][30 * i + j + 2] = x[0][30 * i + j + 2] * 0.5 + (double)(i - j);
}

int main(void) {
  FILL(a);
  diagonal(opaque(28), opaque(28), a);
  SHOW(a);
  diagonal(opaque(27), opaque(47), a);
  SHOW(a);
  return 0;
}
