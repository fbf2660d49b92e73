/* expf, exp and log in one statement, and others of libdevice. Their last bits
 * may differ from those of the host's library: results are rounded.
 * REQUIRES: libdevice
 * RUN: %same --regions 4 %t %s
 */
#include "Inputs/show.h"
#include <math.h>

enum { N = 300 };
static double a[N], b[N];
static float f[N];

APART static void three(int n) {
  for (int i = 0; i < n; i++)
    b[i] = floor((exp(a[i] * 0.25) + log(a[i] * a[i] + 1.0)) * 1e6 + 0.5) +
           floor((double)expf(f[i]) * 64.0 + 0.3);
}

APART static void more(int n) {
  for (int i = 0; i < n; i++)
    a[i] = floor((pow(fabs(a[i]) + 0.5, 1.25) + atan2(a[i], 3.0) + tanh(a[i]) + cbrt(a[i]) +
                  sin(a[i]) * cos(a[i]) + sqrt(fabs(a[i])) + erf(a[i])) *
                     1e6 +
                 0.5);
}

/* Exact, whatever the sizes; whole numbers as results and as arguments. */
static long rounded[N];
static int exponents[N];
APART static void exact(int n) {
  for (int i = 0; i < n; i++) {
    b[i] = fmod(b[i] * 1e18, 3.7);
    f[i] = fmodf(f[i] * 1e9f, 0.7f);
    rounded[i] = lrint(a[i] * 0.75) + llround(a[i] * 1.5) * 1000;
    exponents[i] = ilogb(a[i] + 0.25);
    a[i] = ldexp(a[i], i % 7) + scalbn(0.75, exponents[i] % 8);
  }
}

int main(void) {
  FILL(a);
  for (int i = 0; i < N; i++)
    f[i] = (float)(i % 16) * 0.125f;
  three(opaque(N));
  more(opaque(N));
  SHOW(a);
  SHOW(b);
  exact(opaque(N));
  SHOW(a);
  SHOW(b);
  SHOW(f);
  SHOW(rounded);
  SHOW(exponents);
  return 0;
}
