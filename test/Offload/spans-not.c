/* Where the host may see or change the data, or does what can't be done twice,
 * they go back after each region.
 * RUN: %same --regions 9 %t %s | FileCheck %s
 * CHECK-NOT: data stay on the GPU
 * CHECK-COUNT-3: data do not stay on the GPU between regions
 * CHECK-NOT: data stay on the GPU
 */
#include "Inputs/show.h"

enum { N = 120, ROUNDS = 3 };
static double a[N], b[N];
static volatile int flag;
static _Atomic int counter;

APART static void calls(int n, double *restrict x, double *restrict y) {
  for (int t = 0; t < ROUNDS; t++) {
    for (int i = 1; i < n; i++)
      x[i] = 0.5 * x[i] + y[i - 1];
    printf("%d %g\n", t, x[n / 3]);
  }
}

APART static void looks(int n, double *restrict x, double *restrict y) {
  for (int t = 0; t < ROUNDS; t++) {
    for (int i = 1; i < n; i++)
      x[i] = 0.5 * x[i] + y[i - 1];
    if (flag)
      break;
  }
}

APART static void tells(int n, double *restrict x, double *restrict y) {
  for (int t = 0; t < ROUNDS; t++) {
    for (int i = 1; i < n; i++)
      x[i] = 0.5 * x[i] + y[i - 1];
    counter++;
  }
}

int main(void) {
  FILL(a);
  FILL(b);
  calls(opaque(N), a, b);
  looks(opaque(N), a, b);
  tells(opaque(N), a, b);
  SHOW(a);
  SHOW(b);
  printf("%d\n", counter);
  return 0;
}
