! Fortran by flang, called from C: arrays column by column, whose rows are as
! long as max(n, 0); whole nests become kernels.
! REQUIRES: flang
! RUN: split-file %s %t
! RUN: %flang -O3 -ffp-contract=off -c %t/kernels.f90 -o %t/plain.o
! RUN: %flang -O3 -ffp-contract=off -fpass-plugin=%plugin -mllvm -polly-acc -Rpass=polly-acc -Rpass-missed=polly-acc -c %t/kernels.f90 -o %t/acc.o 2> %t/remarks
! RUN: FileCheck %s --input-file=%t/remarks
! CHECK-DAG: offloaded region 'multiply_scop{{[0-9]+}}': 1 kernel, 3 arrays
! CHECK-DAG: kernel 'multiply_scop{{[0-9]+}}_kernel0': 2-dimensional grid
! CHECK-DAG: offloaded region 'relax_scop{{[0-9]+}}': {{[0-9]+}} kernels, 2 arrays
! CHECK-DAG: kernel 'relax_scop{{[0-9]+}}_kernel0': 2-dimensional grid
! CHECK-DAG: offloaded region 'vectors_scop
! CHECK-DAG: offloaded region 'total_scop
! RUN: %clang -O1 -I%S %t/main.c %t/plain.o -o %t/plain
! RUN: %clang -O1 -I%S %t/main.c %t/acc.o -o %t/acc %rtlib
! RUN: %t/plain > %t/expected
! RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=0 %t/acc | cmp - %t/expected
! RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=1 %t/acc | cmp - %t/expected
! RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=2 %t/acc | cmp - %t/expected
! RUN: env PACC_DEVICE=host %t/acc | cmp - %t/expected

!--- kernels.f90
subroutine multiply(n, m, k, a, b, c) bind(c)
  use, intrinsic :: iso_c_binding
  integer(c_int), value :: n, m, k
  real(c_double), intent(in) :: a(n, k), b(k, m)
  real(c_double), intent(inout) :: c(n, m)
  integer :: i, j, l
  do j = 1, m
    do l = 1, k
      do i = 1, n
        c(i, j) = c(i, j) + a(i, l) * b(l, j)
      end do
    end do
  end do
end subroutine

subroutine relax(steps, n, a, b) bind(c)
  use, intrinsic :: iso_c_binding
  integer(c_int), value :: steps, n
  real(c_double), intent(inout) :: a(n, n), b(n, n)
  integer :: t, i, j
  do t = 1, steps
    do j = 2, n - 1
      do i = 2, n - 1
        b(i, j) = 0.2d0 * (a(i, j) + a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
    a(2:n-1, 2:n-1) = b(2:n-1, 2:n-1)
  end do
end subroutine

subroutine vectors(n, x, y) bind(c)
  use, intrinsic :: iso_c_binding
  integer(c_int), value :: n
  real(c_float), intent(inout) :: x(0:*)
  complex(c_double_complex), intent(inout) :: y(n)
  integer :: i
  do concurrent (i = 0:n-1)
    x(i) = x(i) * 2.0 + real(i)
  end do
  y = y * (1.0d0, 2.0d0)
end subroutine

integer(c_int) function total(n, x) bind(c)
  use, intrinsic :: iso_c_binding
  integer(c_int), value :: n
  integer(c_int), intent(in) :: x(n)
  total = sum(x)
end function

!--- main.c
#include "Inputs/show.h"
#include <complex.h>
void multiply(int n, int m, int k, const double *a, const double *b, double *c);
void relax(int steps, int n, double *a, double *b);
void vectors(int n, float *x, double complex *y);
int total(int n, const int *x);

enum { N = 60, M = 50, K = 70 };
static double a[N * K], b[K * M], c[N * M];
static float x[K];
static double complex y[K];
static int z[K];

int main(void) {
  FILL(a);
  FILL(b);
  multiply(N, M, K, a, b, c);
  SHOW(c);
  relax(3, M, a, b);
  SHOW(a);
  SHOW(b);
  for (int i = 0; i < K; i++) {
    x[i] = (float)i;
    y[i] = i + 2 * I;
    z[i] = i * 7919 % 1009;
  }
  vectors(K, x, y);
  SHOW(x);
  SHOW(y);
  printf("%d\n", total(K, z));
  return 0;
}
