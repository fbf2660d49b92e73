/* One of two arrays, or one of two places: the compiler makes one access of a
 * chosen pointer of these.
 * RUN: %same --regions 5 %t %s
 */
#include "Inputs/show.h"

enum { N = 80 };
static double a[2 * N], b[2 * N], c[2 * N];
static int choice[N];

APART static void affine(int n, double *restrict to, const double *restrict p,
                         const double *restrict q) {
  for (int i = 0; i < n; i++)
    to[i] = i >= 31 ? p[i] * 0.5 : q[2 * i] * 0.5;
}

APART static void by_data(int n, double *restrict to, const double *restrict p,
                          const double *restrict q, const int *restrict which) {
  for (int i = 0; i < n; i++)
    to[i] += which[i] > 0 ? p[i] : q[i];
}

APART static void store(int n, double *restrict p, double *restrict q,
                        const int *restrict which) {
  for (int i = 0; i < n; i++) {
    double *to = which[i] > 3 ? p : q;
    to[i] = to[i] * 2.0 + i;
  }
}

APART static void three(int n, double *restrict to, const double *restrict p,
                        const double *restrict q, const double *restrict r) {
  for (int i = 0; i < n; i++) {
    const double *from = i < 20 ? p : i < 50 ? q : r;
    to[i] -= from[i + 1];
  }
}

/* Control flow that stays: the edges to the access are critical. */
APART static void jumps(int n, double *restrict to, const double *restrict p,
                        const double *restrict q) {
  for (int i = 0; i < n; i++) {
    const double *from = p + i;
    if (i > 10) {
      to[i] += 1.0;
      if (i > 40) {
        to[i] *= 0.5;
        from = q;
      }
    }
    to[i] -= *from;
  }
}

int main(void) {
  FILL(a);
  FILL(b);
  FILL(c);
  for (int i = 0; i < N; i++)
    choice[i] = opaque(i) * 7 % 11 - 3;
  int n = opaque(N);
  affine(n, a, b, c);
  SHOW(a);
  by_data(n, b, a, c, choice);
  SHOW(b);
  store(n, a, c, choice);
  SHOW(a);
  SHOW(c);
  three(n, a, b, c, b + N);
  SHOW(a);
  jumps(n, c, a, b);
  SHOW(c);
  return 0;
}
