// Names of functions that PTX would not take, and kernels' names that the
// program has for something else.
//
// RUN: %pacc_cc -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2>&1 \
// RUN:   | FileCheck %s
// CHECK-DAG: .entry my_kernel_scop0_kernel0(
// CHECK-DAG: .entry gr____e_scop1_kernel0(
// CHECK-DAG: .entry other_scop2_kernel0_(
void f(int n, double *a) __asm__("my.kernel");
void f(int n, double *a) {
  for (int i = 0; i < n; i++)
    a[i] *= 2;
}
void größe(int n, double *a) {
  for (int i = 0; i < n; i++)
    a[i] *= 3;
}
int other_scop2_kernel0 = 1;
void other(int n, double *a) {
  for (int i = 0; i < n; i++)
    a[i] *= 4;
}
