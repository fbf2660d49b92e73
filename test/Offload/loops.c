/* Ways to write a loop: down, by steps, unsigned, to an included bound, and
 * with a condition that data decides.
 * RUN: %same --regions 6 %t %s
 */
#include "Inputs/show.h"

enum { N = 211 };
static double a[N], b[N];

APART static void down(int n) {
  for (int i = n - 1; i >= 0; i--)
    b[i] = a[i] + 1.0;
}

APART static void steps(int n) {
  for (int i = 1; i < n; i += 3)
    b[i] = a[i] * 2.0;
}

APART static void natural(unsigned n) {
  for (unsigned i = 0; i < n; i++)
    a[i] = b[i] - 0.5;
}

APART static void wide(size_t n) {
  for (size_t i = 0; i <= n; i++)
    a[i] += b[n - i];
}

APART static void positive(int n) {
  for (int i = 0; i < n; i++)
    if (a[i] > 0.0)
      b[i] = a[i];
    else
      b[i] -= 1.0;
}

APART static void some(int n) {
  for (int i = 0; i < n; i++)
    if (i % 4 == 1 || i > n - 7)
      b[i] = a[i] + 9.0;
}

int main(void) {
  FILL(a);
  FILL(b);
  down(opaque(N));
  steps(opaque(N));
  natural((unsigned)opaque(N));
  wide((size_t)opaque(N - 1));
  positive(opaque(N));
  some(opaque(N));
  SHOW(a);
  SHOW(b);
  return 0;
}
