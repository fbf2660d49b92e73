/* Products of complex numbers, also of those with infinite parts; quotients are
 * the C library's and stay.
 * RUN: %same --regions 3 %t %s | FileCheck %s
 * CHECK-DAG: it calls the unknown function '__divdc3'
 * CHECK-DAG: offloaded region 'multiply_scop
 * CHECK-DAG: offloaded region 'multiply_floats_scop
 */
#include "Inputs/show.h"
#include <math.h>

enum { K = 8, N = K * K };
static double _Complex x[N], y[N], z[N][N];
static float _Complex f[N], g[N][N];

APART static void multiply(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      z[i][j] = x[i] * y[j];
}

APART static void multiply_floats(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      g[i][j] = f[i] * f[j];
}

APART static void divide(int n) {
  for (int i = 0; i < n; i++)
    x[i] = x[i] / y[i];
}

/* There are many NaN; one stands for all. */
__attribute__((noinline, optnone)) static void unify(double *d, float *s, int n) {
  for (int i = 0; i < n; i++) {
    d[i] = d[i] != d[i] ? 12345 : d[i];
    s[i] = s[i] != s[i] ? 12345 : s[i];
  }
}

int main(void) {
  static volatile double odd[K] = {0.0, -0.0, 1.5, -2.5, INFINITY, -INFINITY, NAN, 1e300};
  for (int i = 0; i < N; i++) {
    double parts[2] = {odd[i / K], odd[i % K]};
    float small[2] = {(float)parts[0], (float)parts[1]};
    __builtin_memcpy(&x[i], parts, sizeof parts);
    __builtin_memcpy(&y[i], parts, sizeof parts);
    __builtin_memcpy(&f[i], small, sizeof small);
  }
  multiply(opaque(N));
  multiply_floats(opaque(N));
  unify((double *)z, (float *)g, 2 * N * N);
  SHOW(z);
  SHOW(g);
  for (int i = 0; i < N; i++)
    x[i] = y[i] = i + 1;
  divide(opaque(N));
  SHOW(x);
  return 0;
}
