/* A region inside of a loop that is not affine, entered nine times; and one of main.
 * RUN: %same --regions 10 %t %s
 */
#include "Inputs/show.h"

enum { N = 150 };
static double a[N], b[N];

APART static int until(int n, double limit) {
  int rounds = 0;
  while (a[n / 2] < limit) {
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i] + 0.125 * a[i - 1] + 1.0;
    for (int i = 1; i < n - 1; i++)
      a[i] = b[i];
    rounds++;
  }
  return rounds;
}

int main(void) {
  for (int i = 0; i < N; i++)
    a[i] = (double)(i % 5) * 0.25;
  int rounds = until(opaque(N), 15.0);
  printf("%d rounds\n", rounds);
  SHOW(a);
  return 0;
}
