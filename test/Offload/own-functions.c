// Functions of the program that have names of <math.h> are not libdevice's.
//
// RUN: %clang -O3 -fno-builtin %pacc_flags -Rpass-missed=polly-acc \
// RUN:   -c %s -o %t.o 2>&1 | FileCheck %s
// CHECK-DAG: loop nest not offloaded: function 'hypot' has no device form
// CHECK-DAG: loop nest not offloaded: function 'logb' has no device form
__attribute__((const)) double hypot(double, double, double);
__attribute__((const)) double logb(double);

void lengths(int n, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] = hypot(a[i], 1, 2);
}

void logarithms(int n, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] = logb(a[i]);
}
