/* Values that are used after the region: a sum, a last value, a maximum, the
 * loop variable.
 * RUN: %same %t %s | FileCheck %s
 * CHECK-DAG: offloaded region 'last_scop
 * CHECK-DAG: offloaded region 'last_of_nest_scop
 * CHECK-DAG: offloaded region 'last_choice_scop
 * CHECK-DAG: offloaded region 'counter_scop
 */
#include "Inputs/show.h"

enum { N = 333 };
static double a[N], b[N], grid[40][50];

APART static double sum(int n) {
  double s = 1.0;
  for (int i = 0; i < n; i++) {
    b[i] = a[i] * a[i];
    s += b[i];
  }
  return s;
}

APART static double last(int n) {
  double x = -1.0;
  for (int i = 0; i < n; i++) {
    x = a[i] + 3.0;
    b[i] = x * 0.5;
  }
  return x;
}

APART static double last_of_nest(int n, int m) {
  double x = -1.0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      x = grid[i][j] * 2.0;
      grid[i][j] = x + 1.0;
    }
  return x;
}

APART static double last_choice(int n) {
  double x = 1.0;
  for (int i = 0; i < n; i++) {
    x = a[i] > 0.0 ? a[i] : b[i];
    b[i] = x + 0.5;
  }
  return x;
}

APART static int counter(int n) {
  int i;
  for (i = 0; i < n; i++)
    b[i] = a[i] - 1.0;
  return i;
}

APART static double previous(int n) {
  double p = 0.0;
  for (int i = 0; i < n; i++) {
    b[i] = a[i] + 0.25;
    p = p * 0.5 + b[i];
  }
  return p;
}

int main(void) {
  FILL(a);
  FILL(grid);
  double results[12];
  int n = opaque(N);
  results[0] = sum(n);
  results[1] = last(n);
  results[2] = (double)counter(n);
  results[3] = previous(n);
  results[8] = last_of_nest(40, opaque(50));
  results[9] = last_choice(n);
  n = opaque(0);
  results[4] = sum(n);
  results[5] = last(n);
  results[6] = (double)counter(n);
  results[7] = previous(n);
  results[10] = last_of_nest(40, n);
  results[11] = last_choice(n);
  SHOW(results);
  SHOW(grid);
  SHOW(b);
  return 0;
}
