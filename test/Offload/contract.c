// -ffp-contract=off and the pragma hold on the device too.
//
// RUN: %pacc_cc -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ON
// ON: fma.rn.f64
// RUN: %pacc_cc -ffp-contract=off -mllvm -polly-acc-dump-kernel-asm \
// RUN:   -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: %pacc_cc -DPRAGMA -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o \
// RUN:   2>&1 | FileCheck %s --check-prefix=OFF
// OFF: .entry
// OFF-NOT: fma.rn.f64
void axpy(int n, double s, const double *restrict a, double *restrict b) {
#ifdef PRAGMA
#pragma STDC FP_CONTRACT OFF
#endif
  for (int i = 0; i < n; i++)
    b[i] = s * a[i] + b[i];
}
