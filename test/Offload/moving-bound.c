/* A loop bound behind a pointer that the loop itself changes: not affine.
 * RUN: %same --regions 0 %t %s | FileCheck %s
 * CHECK: remark: loop nest not offloaded
 */
#include "Inputs/show.h"

static int a[200];

APART static void mark(int *n) {
  for (int i = 0; i < *n; i++)
    a[i % 200] = i;
}

APART static void shorten(int *x, int *n) {
  for (int i = 0; i < *n; i++)
    x[i] = i + 7;
}

int main(void) {
  int n = opaque(150);
  mark(&n);
  SHOW(a);
  a[3] = opaque(90);
  shorten(a, a + 3); /* a[3] = 10: the loop ends there */
  SHOW(a);
  return 0;
}
