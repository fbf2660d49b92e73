/* Subscripts that leave their row: a[i * m + j] with j beyond m writes into the
 * next row. The run-time check must see it and run the original loops.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"

static double a[4000];

APART static void add(int n, int m, int width, double *x) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < width; j++)
      x[i * m + j + 1] = x[i * m + j + 1] * 0.5 + (double)j;
}

int main(void) {
  FILL(a);
  add(opaque(20), opaque(30), opaque(29), a); /* stays inside */
  SHOW(a);
  add(opaque(20), opaque(30), opaque(47), a); /* rows overlap */
  SHOW(a);
  return 0;
}
