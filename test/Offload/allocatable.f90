! Allocatable arrays of a main program: bounds and lengths of rows are loaded
! from descriptors, and may be all that 64 bits can hold as far as Polly knows.
! Its run-time check has no number that large.
! REQUIRES: flang
! RUN: %flang -O3 -ffp-contract=off %s -o %t.plain
! RUN: %flang -O3 -ffp-contract=off -fpass-plugin=%plugin -mllvm -polly-acc -mllvm -polly-acc-dump-schedule %s -o %t.acc %rtlib 2> %t.regions
! RUN: grep '^# runs on' %t.regions | FileCheck %s
! CHECK: # runs on the device if: {{.*}}1152921504606846976
! RUN: grep '^# runs on' %t.regions | not grep 922337203685477580
! RUN: %t.plain > %t.expected
! RUN: env PACC_DEVICE=cpu PACC_LOG=info %t.acc 2> %t.log | cmp - %t.expected
! RUN: FileCheck %s --check-prefix=LOG --input-file=%t.log
! LOG: pacc: _QQmain_scop{{[0-9]+}}{{.*}}1 launch,
program allocated
  integer, parameter :: n = 120
  real(8), allocatable :: a(:,:), b(:,:)
  integer :: i, j
  allocate(a(n,n), b(n,n))
  do j = 1, n
    do i = 1, n
      a(i,j) = mod(i*j, 7) / 3d0
      b(i,j) = mod(i+j, 5) / 7d0
    end do
  end do
  print *, a(3,4), b(5,6), sum(a), sum(b)
end program
