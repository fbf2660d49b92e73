/* -g: the program is the same, remarks have lines, and ptxas takes the PTX.
 * RUN: %same --regions 1 --flag=-g %t %s | FileCheck %s
 * CHECK: debug.c:12:{{.*}}offloaded region 'scale_scop0'
 * RUN: %pacc_cc -g -c %s -o %t.o
 */
#include "Inputs/show.h"

enum { N = 100 };
static double a[N];

APART static void scale(int n) {
  for (int i = 0; i < n; i++)
    a[i] *= 2.0;
}

int main(void) {
  FILL(a);
  scale(opaque(N));
  SHOW(a);
  return 0;
}
