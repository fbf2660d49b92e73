What a region needs to run on the device is out of the way of the program's own
code: in a function of its own, which regions with next to nothing to do never call.

RUN: split-file %s %t
RUN: cd %t

A loop's sizes decide at once, where nobody insists on the question.
RUN: %pacc_cc -S -emit-llvm scale.c -o - | FileCheck %s --check-prefix=OWN
OWN-LABEL: define {{.*}} @scale(
OWN-NOT: call
OWN: load atomic i32, ptr @__pacc_rt_always_asked monotonic
OWN-NOT: call
OWN: call fastcc i1 @scale.offload(
OWN: call void @__pacc_rt_host_begin(
OWN-NOT: call
OWN: fmul <{{[0-9]+}} x double>
OWN-NOT: call
OWN: call void @__pacc_rt_host_end(
OWN-NOT: call
OWN: ret void
OWN-LABEL: define internal fastcc {{.*}}i1 @scale.offload(
OWN-SAME: [[OWN:#[0-9]+]]
OWN: call i32 @__pacc_rt_worth(
OWN: attributes [[OWN]] = { {{.*}}noinline {{.*}}optsize

A function that was inlined is inlined, and its caller's sizes are known then.
RUN: %pacc_cc -S -emit-llvm caller.c -o - | FileCheck %s --check-prefix=CALLER
CALLER-LABEL: define {{.*}} @few(
CALLER-NOT: {{fmul double|fcmp}}
CALLER: load atomic i32, ptr @__pacc_rt_always_asked
CALLER-NOT: {{fmul double|fcmp}}
CALLER: call fastcc i1 @scale.offload(
CALLER: ret void
CALLER-LABEL: define {{.*}} @many(
CALLER-NOT: br
CALLER: call fastcc i1 @scale.offload(
CALLER: ret void

The answer is the same whoever gives it; the device is only used for small loops
if it is named, or for data that the program leaves to it.
RUN: %pacc_cc -I%source/include main.c scale.c -o scale %rtlib
RUN: env PACC_DEVICE=auto ./scale | FileCheck %s --check-prefix=AUTO
RUN: env PACC_DEVICE=cpu ./scale | FileCheck %s --check-prefix=CPU
RUN: env PACC_LOG=info PACC_DEVICE=auto ./scale 2>&1 | FileCheck %s --check-prefix=LOG
AUTO: 190 regions 0 told 0
AUTO: 380 regions 0 told 1
CPU: 190 regions 1 told 0
CPU: 380 regions 2 told 0
LOG: 190 regions 0 told 1

#--- scale.c
void scale(int n, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] *= 2;
}
#--- caller.c
static void scale(int n, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] *= 2;
}
void few(double *a) { scale(16, a); }
void many(double *a) { scale(1 << 24, a); }
#--- main.c
#include <pacc/runtime.h>
#include <stdio.h>
void scale(int n, double *restrict a);
static double a[20];
static void show(void) {
  struct pacc_rt_counters now;
  pacc_rt_count(&now, sizeof now);
  double sum = 0;
  for (volatile int i = 0; i < 20; i++)
    sum += a[i];
  printf("%g regions %d told %d\n", sum, (int)now.regions, (int)now.fallbacks);
}
int main(void) {
  for (int i = 0; i < 20; i++)
    a[i] = i / 2.;
  scale(20, a);
  show();
  for (volatile int i = 0; i < 20; i++)
    a[i] = i;
  pacc_data_begin(a, sizeof a);
  scale(20, a);
  pacc_data_end(a);
  show();
  return 0;
}
