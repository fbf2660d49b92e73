/* Floating point is summed in any order where the program allows it, and in
 * its own order otherwise. The values are small whole numbers, so that every
 * order gives the same bits.
 * RUN: %same --regions 4 --flag=-fassociative-math --flag=-fno-signed-zeros --flag=-fno-trapping-math %t %s
 * RUN: %same --regions 0 %t %s | FileCheck %s
 * CHECK: any-order-float.c:16:{{.*}}loop nest not offloaded: it has no parallel loop
 */
#include "Inputs/show.h"

enum { N = 120, M = 6 };
static double a[N], b[N][M], columns[M];
static float narrow[N];

APART static double dot(int n) {
  double s = 0.0;
  for (int i = 0; i < n; i++)
    s += a[i] * a[n - 1 - i];
  return s;
}

APART static float difference(int n) {
  float s = 1.0f;
  for (int i = 0; i < n; i++)
    s -= narrow[i];
  return s;
}

APART static double product(int n) {
  double p = 1.0;
  for (int i = 0; i < n; i++)
    p *= a[i] > 0.0 ? 2.0 : 0.5;
  return p;
}

APART static void element(int n) {
  for (int i = 0; i < n; i++)
    columns[2] += b[i][3];
}

PLAIN static void prepare(void) {
  for (int i = 0; i < N; i++) {
    a[i] = i * 7 % 17 - 8;
    narrow[i] = (float)(i * 5 % 13 - 6);
    for (int j = 0; j < M; j++)
      b[i][j] = i * j % 11;
  }
}

int main(void) {
  prepare();
  int n = opaque(N);
  printf("%a %a %a\n", dot(n), difference(n), product(n));
  element(n);
  SHOW(columns);
  return 0;
}
