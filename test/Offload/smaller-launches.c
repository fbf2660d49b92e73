/* Launches of fewer threads than expected get another block where the model
 * says that it pays: the front of a sweep grows and shrinks. Such code is for any block up
 * to the largest, and the results stay.
 * RUN: %clang -O3 -fno-discard-value-names -Xclang -disable-llvm-passes -S -emit-llvm %s -o - | %pacc_opt -disable-output -passes='print<polly-acc-blocks<ptxas=off>>' 2>&1 | FileCheck %s --check-prefix=PRINT
 * PRINT-LABEL: kernel update_scop{{.*}}: {{.*}} threads
 * PRINT-NEXT: block [[#]]x[[#]] (auto); {{.*}} up to [[#]] threads per SM
 *
 * RUN: %pacc_cc -mllvm -polly-acc-fma=off -mllvm -polly-acc-ptxas=off -mllvm -polly-acc-dump-kernel-asm %s -o %t %rtlib 2> %t.ptx
 * RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
 * PTX: .entry update_scop
 * PTX: .maxntid
 * RUN: env PACC_DEVICE=host %t > %t.host
 * RUN: env PACC_DEVICE=cpu PACC_LOG=launch %t 2> %t.log > %t.out
 * RUN: cmp %t.host %t.out
 *
 * A block that was asked for is the only one.
 * RUN: %pacc_cc -mllvm -polly-acc-fma=off -mllvm -polly-acc-block-size=32x8 -mllvm -polly-acc-dump-kernel-asm %s -o %t %rtlib 2> %t.ptx
 * RUN: FileCheck %s --check-prefix=FIXED --input-file=%t.ptx
 * FIXED: .entry update_scop
 * FIXED: .reqntid 32, 8
 */
#include <stdio.h>

enum { N = 2000, SIZE = 12, STEPS = 500 };

__attribute__((noinline)) static void update(int n, double a[restrict N][N]) {
  for (int t = 0; t < STEPS; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] +
                   a[i + 1][j] + a[i - 1][j - 1] + a[i + 1][j + 1]) /
                  7;
}

int main(void) {
  static double a[N][N];
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++)
      a[i][j] = 1.0 / (i + j + 1);
  volatile int size = SIZE;
  update(size, a);
  for (int i = 0; i < SIZE; i++)
    printf("%a\n", a[i][i / 2]);
  return 0;
}
