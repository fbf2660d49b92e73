// -polly-acc-fastmath: approximate division on the device; without it, the
// rounding of the CPU.
//
// RUN: %pacc_cc -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EXACT
// EXACT: div.rn.f32
// RUN: %pacc_cc -mllvm -polly-acc-fastmath -mllvm -polly-acc-dump-kernel-asm \
// RUN:   -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=FAST
// FAST-NOT: div.rn.f32
// FAST: {{div|rcp}}.{{approx|full}}
void divide(int n, const float *restrict a, float *restrict b) {
  for (int i = 0; i < n; i++)
    b[i] = a[i] / b[i];
}
