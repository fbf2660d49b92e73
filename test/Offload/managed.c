/* Kernels in the program's memory: the CPU device has memory of its own, so that
 * arrays are copied.
 * RUN: %same --plugin-flag=-mllvm --plugin-flag=-polly-acc-memory=managed --regions 3 %t.out %s \
 * RUN:   | FileCheck %s
 * CHECK-NOT: data stay on the GPU
 * RUN: env PACC_DEVICE=cpu PACC_LOG=info %t.acc 2>&1 >/dev/null \
 * RUN:   | FileCheck %s --check-prefix=LOG
 * LOG: CPU device can't access the host's memory: arrays are copied
 * LOG-NOT: can't access
 * RUN: %pacc_cc -mllvm -polly-acc-memory=managed -S -emit-llvm -o - %s \
 * RUN:   | FileCheck %s --check-prefix=IR
 * IR-NOT: @__pacc_rt_begin(
 * IR: call ptr @__pacc_rt_begin_managed(ptr
 * IR-NOT: @__pacc_rt_begin(
 * RUN: not %pacc_cc -mllvm -polly-acc-memory=shared -c -o %t.o %s 2>&1 \
 * RUN:   | FileCheck %s --check-prefix=BAD
 * BAD: invalid value 'shared' of option 'memory', expected copy or managed
 */
#include "Inputs/show.h"

enum { N = 50 };
static double a[N], b[N];

APART static void steps(int rounds, int n, double *restrict x, double *restrict y) {
  for (int t = 0; t < rounds; t++) {
    for (int i = 1; i < n - 1; i++)
      y[i] = 0.5 * (x[i - 1] + x[i + 1]);
    double *z = x;
    x = y;
    y = z;
  }
}

int main(void) {
  FILL(a);
  steps(opaque(3), opaque(N), a, b);
  SHOW(a);
  SHOW(b);
  return 0;
}
