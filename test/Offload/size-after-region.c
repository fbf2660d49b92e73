/* The length of a row is computed in front of one nest and after another one,
 * so that it is a value that leaves the first nest.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"

enum { N = 14 };
static double a[4][N];

APART static void fill_rows(int n, int m, double (*restrict to)[n],
                            const int *restrict column) {
  double local[120][140];
  for (int z = 0; z < 120; z++)
    for (int y = 0; y < 140; y++)
      local[z][y] = z * y;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < m; j++)
      to[i][column[j]] = local[i + 1][j];
}

int main(void) {
  int column[N];
  for (int i = 0; i < N; i++)
    column[i] = opaque(i) * 5 % N;
  fill_rows(opaque(N), opaque(11), a, column);
  SHOW(a);
  return 0;
}
