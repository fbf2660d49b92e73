/* Two regions in one function, with a call between them.
 * RUN: %same --regions 2 %t %s | FileCheck %s
 * CHECK-DAG: offloaded region 'work_scop0'
 * CHECK-DAG: offloaded region 'work_scop1'
 */
#include "Inputs/show.h"

enum { N = 200 };
static double a[N], b[N];

APART static void work(int n) {
  for (int i = 0; i < n; i++)
    b[i] = a[i] * 2.0;
  printf("between: %d\n", n);
  for (int i = 0; i < n; i++)
    a[i] = b[i] + 1.0;
}

int main(void) {
  FILL(a);
  work(opaque(N));
  SHOW(a);
  SHOW(b);
  return 0;
}
