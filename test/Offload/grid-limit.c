/* More than 65,535 blocks along y: the rows beyond are computed too.
 * RUN: %same --regions 1 --plugin-flag=-mllvm \
 * RUN:   --plugin-flag=-polly-acc-block-size=2 %t %s
 */
#include "Inputs/show.h"
#include <stdlib.h>

enum { M = 3 };

APART static void rows(int n, int (*restrict x)[M]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < M; j++)
      x[i][j] = 10 * i + j;
}

int main(void) {
  int n = opaque(150001);
  int (*x)[M] = calloc((size_t)n, sizeof *x);
  rows(n, x);
  show("x", x, (size_t)n * sizeof *x);
  free(x);
  return 0;
}
