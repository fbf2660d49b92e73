/* Calls of unknown functions and through pointers are left alone, with a
 * remark; the loop beside them is not.
 * RUN: %same --regions 1 %t %s | FileCheck %s
 * CHECK-DAG: unknown-calls.c:16:{{.*}}loop nest not offloaded: it calls the function 'twice'
 * CHECK-DAG: unknown-calls.c:21:{{.*}}loop nest not offloaded: it calls an unknown function through a pointer
 * CHECK-DAG: offloaded region 'plain_scop
 */
#include "Inputs/show.h"

enum { N = 100 };
static double a[N];

PLAIN double twice(double x) { return 2.0 * x; }

APART static void named(int n) {
  for (int i = 0; i < n; i++)
    a[i] = twice(a[i]);
}

APART static void pointed(int n, double (*f)(double)) {
  for (int i = 0; i < n; i++)
    a[i] = f(a[i]) + 1.0;
}

APART static void plain(int n) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 0.5;
}

int main(void) {
  FILL(a);
  named(opaque(N));
  pointed(opaque(N), twice);
  plain(opaque(N));
  SHOW(a);
  return 0;
}
