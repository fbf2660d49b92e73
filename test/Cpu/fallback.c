/* What keeps the CPU device from running: the loops run, with a message that
 * says what to do, and the program's result and exit status are the same.
 *
 * RUN: %pacc_cc %s -o %t %rtlib
 * RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=many %t > %t.seed 2>&1
 * RUN: FileCheck %s --check-prefix=SEED < %t.seed
 * SEED: PACC_CPU_SEED=many is not a whole number
 * SEED: sum 19900
 *
 * RUN: env PACC_DEVICE=cpu PACC_CPU_MEMORY=512 %t > %t.memory 2>&1
 * RUN: FileCheck %s --check-prefix=MEMORY < %t.memory
 * MEMORY: PACC_CPU_ERROR_OUT_OF_MEMORY
 * MEMORY: sum 19900
 *
 * RUN: %pacc_cc -mllvm -polly-acc-embed-bitcode=off %s -o %t.off %rtlib
 * RUN: env PACC_DEVICE=cpu %t.off > %t.bitcode 2>&1
 * RUN: FileCheck %s --check-prefix=BITCODE < %t.bitcode
 * BITCODE: embed-bitcode=on
 * BITCODE: sum 19900
 */
#include <stdio.h>

enum { N = 200 };
static int a[N];

__attribute__((noinline)) static void fill(int n) {
  for (int i = 0; i < n; i++)
    a[i] = i;
}

int main(void) {
  int sum = 0;
  fill(N);
  for (int i = 0; i < N; i++)
    sum += a[i];
  printf("sum %d\n", sum);
  return 0;
}
