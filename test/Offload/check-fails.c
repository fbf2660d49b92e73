/* Arrays that overlap keep their region on the host, and PACC_LOG=info says so
 * once; it says too, once, that there is no driver.
 *
 * RUN: %pacc_cc %s -o %t %rtlib
 * RUN: env PACC_DEVICE=cpu PACC_LOG=info %t 2>&1 | FileCheck %s
 * CHECK: before
 * CHECK-NEXT: add_scop0: the original loops run: a check before the region does not hold (arrays overlap,
 * CHECK-NEXT: apart
 * CHECK-NEXT: using CPU device
 * CHECK-NEXT: add_scop0: 1 launch,
 * CHECK-NEXT: the end
 *
 * RUN: %if gpu %{ true %} %else %{ env PACC_LOG=info %t 2>&1 | FileCheck %s --check-prefix=NONE %}
 * NONE: apart
 * NONE-NEXT: no cuda device: {{.*}}libcuda.so.1{{.*}}; the original loops run
 * NONE-NEXT: the end
 */
#include <stdio.h>

__attribute__((noinline)) static void add(int n, double *a, double *b) {
  for (int i = 0; i < n; i++)
    a[i] += b[i];
}

int main(void) {
  static double a[1000], b[1000];
  a[0] = 1;
  fputs("before\n", stderr);
  add(999, a + 1, a);
  add(998, a + 1, a);
  fputs("apart\n", stderr);
  add(1000, b, a);
  fputs("the end\n", stderr);
  return b[999] == 1 ? 0 : 1;
}
