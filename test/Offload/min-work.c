// When a region runs on the device: if the runtime expects that to be faster
// (the default), always, or from a number of statement instances on.
//
// RUN: %pacc_cc -S -emit-llvm %s -o - 2>&1 | FileCheck %s --check-prefix=AUTO
// AUTO-LABEL: define {{.*}}@scale(
// AUTO-DAG: call i32 @__pacc_rt_worth(ptr {{[^,]*}}, ptr {{[^,]*}}, i32 1, double
// AUTO-DAG: call ptr @__pacc_rt_begin
// AUTO-DAG: call void @__pacc_rt_host_end
//
// RUN: %pacc_cc -mllvm -polly-acc-min-work=always -S -emit-llvm %s -o - \
// RUN:   | FileCheck %s --check-prefix=ALWAYS --implicit-check-not=__pacc_rt_worth \
// RUN:     --implicit-check-not=__pacc_rt_host_end
// ALWAYS: call ptr @__pacc_rt_begin
//
// The number is compared with the size of the loops; -polly-acc-mincompute is
// Polly-ACC's name of the option.
// RUN: %pacc_cc -mllvm -polly-acc-min-work=1000 -DMAIN %s -o %t.number %rtlib
// RUN: env PACC_DEVICE=cpu PACC_LOG=info %t.number 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: %pacc_cc -mllvm -polly-acc-mincompute=1000 -DMAIN %s -o %t.old %rtlib
// RUN: env PACC_DEVICE=cpu PACC_LOG=info %t.old 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: at 999
// NUMBER-NEXT: scale_scop0: the original loops run: a check before the region does not hold ({{.*}}less to do than -polly-acc-min-work)
// NUMBER-NEXT: at 1000
// NUMBER-NEXT: using CPU device
// NUMBER-NEXT: scale_scop0
//
// Left to the runtime, a thousand instances stay on the host, and the driver (a
// library with nothing in it) is not even started. The same is not said again.
// RUN: rm -rf %t.driver && mkdir %t.driver
// RUN: %clang -shared -x c /dev/null -o %t.driver/libcuda.so.1
// RUN: %pacc_cc -DMAIN %s -o %t.auto %rtlib
// RUN: env LD_LIBRARY_PATH=%t.driver PACC_LOG=info %t.auto 2>&1 | FileCheck %s --check-prefix=HOST
// HOST-COUNT-1: scale_scop0: the original loops run: about
// HOST-NOT: scale_scop0: the original loops run
//
// Launches of a loop that one kernel can run cost a barrier each, those of other
// loops what a launch takes.
// RUN: %pacc_cc -DSTEPS %s -o %t.loop %rtlib
// RUN: env LD_LIBRARY_PATH=%t.driver PACC_LOG=info %t.loop 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP: steps_scop{{[0-9]+}}: the original loops run: about {{.*}}, the device would need 2.5
// RUN: %pacc_cc -DSTEPS -mllvm -polly-acc-persistent=off %s -o %t.launches %rtlib
// RUN: env LD_LIBRARY_PATH=%t.driver PACC_LOG=info %t.launches 2>&1 | FileCheck %s --check-prefix=LAUNCHES
// LAUNCHES: steps_scop{{[0-9]+}}: the original loops run: about {{.*}}, the device would need 6.4
//
// RUN: not %pacc_cc -mllvm -polly-acc-min-work=some -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BAD
// BAD: polly-acc: invalid value 'some' of option 'min-work', expected auto, always or a whole number
#include <stdio.h>

__attribute__((noinline)) void scale(int n, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * 2.0;
}

#ifdef STEPS
static double a[2002], b[2002];

__attribute__((noinline)) static void steps(int n) {
  for (int t = 0; t < 1000; t++) {
    for (int i = 1; i < n; i++)
      b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < n; i++)
      a[i] = b[i - 1] - b[i + 1];
  }
}

int main(void) {
  steps(2001);
  return 0;
}
#endif

#ifdef MAIN
int main(void) {
  static double a[1000];
  for (volatile int i = 0; i < 1000; i++)
    a[i] = i;
  fputs("at 999\n", stderr);
  scale(999, a);
  fputs("at 1000\n", stderr);
  scale(1000, a);
  return a[998] == 4 * 998 && a[999] == 2 * 999 ? 0 : 1;
}
#endif
