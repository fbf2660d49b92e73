/* Rows of n - 1 elements, and a subscript that ScalarEvolution gives as -i of the
 * row after: Polly alone would take n for the length of a row.
 * RUN: %same --regions 2 %t %s
 */
#include "Inputs/show.h"

static double a[4000], b[1500];

APART static void gather(int n, double (*a)[n + 37], double (*b)[n - 1]) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 2; j < i + n; j++)
      if (i + j < n)
        a[3 * i + 1][j % 2] += b[j][i];
}

/* The subscripts lie in the row before: -1 to -n. */
APART static void before(int n, double (*restrict a)[n + 2][n - 1],
                         double (*restrict b)[2 * n + 1]) {
  for (int i = 1; i < 3; i++)
    for (int j = 1; j < n; j++)
      for (int k = 1; k < n; k++)
        a[i][j][-k] = a[i][j][-k] * 2 + b[j][-k - n];
}

int main(void) {
  FILL(a);
  FILL(b);
  gather(opaque(38), (void *)a, (void *)b);
  SHOW(a);
  before(opaque(20), (void *)a, (void *)b);
  SHOW(a);
  return 0;
}
