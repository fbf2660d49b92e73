/* A long sequential sum beside a short parallel loop: the sum's order stays.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"

enum { N = 20000, M = 50 };
static double a[N], b[M], sum[1];

APART static void both(int n, int m) {
  for (int i = 0; i < n; i++)
    sum[0] += a[i] * 0.37;
  for (int i = 0; i < m; i++)
    b[i] = a[i] + 1.0;
}

int main(void) {
  FILL(a);
  both(opaque(N), opaque(M));
  SHOW(sum);
  SHOW(b);
  return 0;
}
