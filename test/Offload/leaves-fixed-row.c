/* The same for rows of constant size, reached through a pointer to the rows.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"

static double a[30][30];

APART static void diagonal(int n, double (*x)[30]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      (&x[0][0])[30 * i + j + 2] += (double)(i - j);
}

int main(void) {
  FILL(a);
  diagonal(opaque(28), a);
  SHOW(a);
  diagonal(opaque(29), a);
  SHOW(a);
  return 0;
}
