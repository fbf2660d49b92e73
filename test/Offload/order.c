/* Stores of one block whose first and last belong together by a value from
 * iteration to iteration, and the one between them does not (found by
 * test/fuzz): they must not change places.
 *
 * RUN: %pacc_cc -ffp-contract=off -mllvm -polly-acc-fma=off -mllvm -polly-acc-min-work=always %s -o %t %rtlib -Rpass-missed=polly-acc 2>&1 | FileCheck %s
 * RUN: env PACC_DEVICE=host %t > %t.host
 * RUN: env PACC_DEVICE=cpu %t 2>&1 | cmp - %t.host
 *
 * CHECK: order.c:[[# @LINE + 16]]:{{.*}} its accesses change their order
 */
#include <stdio.h>

static double a[40], b[40][40];

__attribute__((noinline)) static void fill(int n) {
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++)
      b[i][j] = i + j;
  double last = 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[0] = (b[i][j] + last) * 0.5;
      a[j] = 1;
      last = i * 0x1p-8;
      a[i] = last;
    }
}

int main(void) {
  fill(40);
  for (int i = 0; i < 40; i++)
    printf("%a %a\n", a[i], b[i][39 - i]);
}
