/* Loops of static, inline and external functions, and of main itself. Kernels
 * of functions that are inlined keep apart.
 * RUN: %same --regions 6 %t %s
 */
#include "Inputs/show.h"

enum { N = 100 };
static double a[N], b[N];

static void internal(int n) {
  for (int i = 0; i < n; i++)
    b[i] = a[i] + 1.0;
}

static inline void inlined(int n, double f) {
  for (int i = 0; i < n; i++)
    a[i] = b[i] * f;
}

void external(int n, double *x) {
  for (int i = 0; i < n; i++)
    x[i] = x[i] - 0.5;
}

int main(void) {
  FILL(a);
  int n = opaque(N);
  internal(n);
  inlined(n, 2.0);
  inlined(n, 0.75);
  external(n, a);
  external(n - 1, b);
  for (int i = 0; i < n; i++)
    a[i] += b[i];
  SHOW(a);
  SHOW(b);
  return 0;
}
