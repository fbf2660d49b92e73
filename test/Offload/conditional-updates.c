/* Sums and extrema under conditions, and extrema of floating point: by all
 * threads where no order can make another value. `x > m ? x : m` is left alone
 * where x may be both zeros.
 * RUN: %same --regions 25 %t %s | FileCheck %s
 * RUN: %same --regions 25 --plugin-flag=-mllvm --plugin-flag=-polly-acc-block-size=7x3 %t %s
 * CHECK-DAG: offloaded region 'condition_scop
 * CHECK-DAG: offloaded region 'arms_scop
 * CHECK-DAG: offloaded region 'most_scop
 * CHECK-DAG: offloaded region 'largest_scop
 * CHECK-DAG: offloaded region 'least_scop
 * CHECK-DAG: offloaded region 'distance_scop
 * CHECK-DAG: offloaded region 'smallest_square_scop
 * CHECK-DAG: offloaded region 'nest_scop
 * CHECK-DAG: conditional-updates.c:{{9[0-9]}}:{{.*}}not offloaded: it has no parallel loop
 */
#include "Inputs/show.h"
#include <math.h>

enum { N = 700, M = 30 };
static int a[N], w[N];
static long wide[N];
static double x[N], y[N], grid[N / 10][M];
static float f[N];

APART static long condition(int n) {
  long s = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0)
      s += wide[i];
  return s;
}

APART static int arms(int n) {
  int s = 3;
  for (int i = 0; i < n; i++)
    if (a[i] > 5) {
      s += w[i];
      if (w[i] % 3 == 0)
        s += 2;
    } else if (a[i] < -5) {
      s -= w[i] * 3;
    }
  return s;
}

APART static int most(int n) {
  int m = -1000000;
  for (int i = 0; i < n; i++)
    if (a[i] & 1)
      m = w[i] > m ? w[i] : m;
  return m;
}

APART static double largest(int n) {
  double m = fabs(x[0]);
  for (int i = 0; i < n; i++)
    if (fabs(x[i]) > m)
      m = fabs(x[i]);
  return m;
}

APART static float least(int n) {
  float m = 1e30f;
  for (int i = 0; i < n; i++)
    m = fminf(m, f[i]);
  return m;
}

APART static double distance(int n) {
  double m = -0.0;
  for (int i = 0; i < n; i++)
    m = fmax(m, fabs(x[i] - y[i]));
  return m;
}

APART static double smallest_square(int n) {
  double m = INFINITY;
  for (int i = 0; i < n; i++)
    m = x[i] * x[i] < m ? x[i] * x[i] : m;
  return m;
}

APART static double nest(int n, int m) {
  double r = -INFINITY;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      r = fmax(r, grid[i][j]);
  return r;
}

APART static double any_sign(int n) {
  double m = x[0];
  for (int i = 1; i < n; i++)
    m = x[i] > m ? x[i] : m;
  return m;
}

PLAIN static void prepare(void) {
  unsigned state = 1;
  for (int i = 0; i < N; i++) {
    state = state * 1664525u + 1013904223u;
    a[i] = (int)(state >> 20) - 2048;
    w[i] = (int)(state >> 12) % 10007;
    wide[i] = (long)state * 1000003;
    f[i] = (float)a[i] / 7;
  }
  FILL(x);
  FILL(y);
  FILL(grid);
}

PLAIN static void all(void) {
  int n = opaque(N);
  printf("%ld %d %d\n", condition(n), arms(n), most(n));
  printf("%a %a %a %a\n", largest(n), least(n), distance(n), smallest_square(n));
  printf("%a %a\n", nest(n / 10, opaque(M)), any_sign(n));
}

int main(void) {
  prepare();
  all();
  /* No number is never chosen, but stays where it came first. */
  x[0] = x[5] = f[7] = NAN;
  grid[3][3] = NAN;
  all();
  for (int i = 0; i < N; i++)
    x[i] = f[i] = NAN;
  all();
  return 0;
}
