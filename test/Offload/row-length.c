/* Rows of n - 1 elements, and a subscript that ScalarEvolution gives as -i of the
 * row after: Polly would take n for the length of a row.
 * RUN: %same %t %s | FileCheck %s
 * CHECK: a subscript of 'MemRef{{.}}' may be negative, and the length of a row
 */
#include "Inputs/show.h"

static double a[4000], b[1500];

APART static void gather(int n, double (*a)[n + 37], double (*b)[n - 1]) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 2; j < i + n; j++)
      if (i + j < n)
        a[3 * i + 1][j % 2] += b[j][i];
}

int main(void) {
  FILL(a);
  FILL(b);
  gather(opaque(38), (void *)a, (void *)b);
  SHOW(a);
  return 0;
}
