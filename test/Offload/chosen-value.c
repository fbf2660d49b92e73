/* A store of a value that is loaded before the region, in the first iteration
 * only.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"

static _Bool a[41], b[41];

APART static void choose(int n, _Bool *restrict a, const _Bool *restrict b) {
  for (int i = 0; i < n - 1; i += 2) {
    a[i] &= (b[i] / 3) % 3 != 0;
    if (a[i] >= i * i)
      a[i] = (16 * b[i]) % 3 != 0;
    for (int j = 0; j < n; j++)
      a[i + 1] = (~j / 10) % 3 != 0;
  }
}

int main(void) {
  for (int i = 0; i < 41; i++)
    a[i] = b[i] = i % 3 != 1;
  choose(opaque(40), a, b);
  SHOW(a);
  return 0;
}
