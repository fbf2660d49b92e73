/* floyd-warshall with fmin, and with ?: on whole numbers: the same levels as
 * with a condition, so that each k is some launches.
 * RUN: %same --regions 2 %t %s
 */
#include "Inputs/show.h"
#include <math.h>

enum { N = 24 };
static double d[N][N];
static int w[N][N];

APART static void paths(int n) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        d[i][j] = fmin(d[i][j], d[i][k] + d[k][j]);
}

APART static void whole_paths(int n) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        w[i][j] = w[i][j] < w[i][k] + w[k][j] ? w[i][j] : w[i][k] + w[k][j];
}

int main(void) {
  FILL(d);
  FILL(w);
  paths(opaque(N));
  SHOW(d);
  whole_paths(opaque(N));
  SHOW(w);
  return 0;
}
