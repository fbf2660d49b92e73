/* Code for any block, and its sweep: every shape is timed once per kernel and
 * kind of launch, and the results are those of a run without.
 * RUN: %pacc_cc -mllvm -polly-acc-block-size=sweep -mllvm -polly-acc-fma=off -mllvm -polly-acc-dump-kernel-asm %s -o %t %rtlib 2> %t.ptx
 * RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
 * PTX-NOT: ntid {{[0-9]}}
 * PTX: %ntid.x
 * RUN: env PACC_DEVICE=host %t > %t.host
 * RUN: env PACC_DEVICE=cpu PACC_SWEEP=%t.csv %t > %t.out
 * RUN: cmp %t.host %t.out
 * RUN: FileCheck %s --check-prefix=CSV --input-file=%t.csv
 * CSV: kernel,label,x,y,z,block,chosen,us,turns,launches
 * CSV-DAG: update_scop0_kernel0,,50,1,1,64x1x1,{{[0-9x]+}},{{[0-9.]+}},{{[0-9. ]+}},3
 * CSV-DAG: update_scop0_kernel0,,10,1,1,32x1x1,{{[0-9x]+}},{{[0-9.]+}},{{[0-9. ]+}},1
 *
 * Other code says what it lacks.
 * RUN: %pacc_cc -mllvm -polly-acc-fma=off %s -o %t.fixed %rtlib
 * RUN: env PACC_DEVICE=cpu PACC_SWEEP=%t.csv %t.fixed 2>&1 > %t.out | FileCheck %s --check-prefix=FIXED
 * RUN: cmp %t.host %t.out
 * FIXED: pacc: PACC_SWEEP: kernel update_scop0_kernel0 was compiled for one block: compile with -polly-acc-block-size=sweep
 */
#include <stdio.h>

__attribute__((noinline)) static void update(int n, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 1.5 + i;
}

int main(void) {
  static double a[60];
  for (int round = 0; round < 3; round++)
    update(50 + round, a);
  update(10, a);
  for (int i = 0; i < 60; i++)
    printf("%a\n", a[i]);
  return 0;
}
