/* Time steps that alternate between two halves of one array.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"

enum { T = 7, N = 300 };
static double a[2][N];

APART static void smooth(int steps, int n) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      a[(t + 1) % 2][i] = 0.25 * (a[t % 2][i - 1] + 2.0 * a[t % 2][i] + a[t % 2][i + 1]);
}

int main(void) {
  FILL(a);
  smooth(opaque(T), opaque(N));
  SHOW(a);
  return 0;
}
