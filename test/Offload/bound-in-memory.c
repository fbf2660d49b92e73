/* Bounds that are loaded, and stay.
 * RUN: %same --regions 2 %t %s
 */
#include "Inputs/show.h"

struct grid {
  int n, m;
  double *x;
};
static double a[900], b[900];

APART static void scale(const int *restrict n, double *restrict x) {
  for (int i = 0; i < *n; i++)
    x[i] *= 2.0;
}

APART static void member(const struct grid *restrict g, double *restrict to) {
  for (int i = 0; i < g->n; i++)
    for (int j = 0; j < g->m; j++)
      to[30 * i + j] = (double)(i * j);
}

int main(void) {
  FILL(a);
  FILL(b);
  int n = opaque(801);
  scale(&n, a);
  SHOW(a);
  struct grid g = {opaque(29), opaque(17), a};
  member(&g, b);
  SHOW(b);
  return 0;
}
