/* LLVM 22's vectoriser crashes on this loop of fmax() in a kernel of one thread
 * (found by test/fuzz): the CPU device gives it comparisons.
 *
 * RUN: %pacc_cc -ffp-contract=off -mllvm -polly-acc-fma=off %s -o %t %rtlib -lm
 * RUN: env PACC_DEVICE=host %t > %t.host
 * RUN: env PACC_DEVICE=cpu %t 2>&1 | cmp - %t.host
 */
#include <math.h>
#include <stdio.h>

__attribute__((noinline)) static void extrema(int n, double *restrict a) {
  double s0 = 1;
  double s1 = 1;
  for (int i0 = 1; i0 < n; i0++) {
    for (int j0 = i0; j0 < n; j0++) {
      for (int k0 = j0; k0 < n; k0++) {
        a[k0] += floor((a[i0] * 0x1p-15)) * 0x1p-1;
      }
    }
    s0 = 3.0;
    for (int j0 = i0; j0 < n; j0 += 3) {
      if (((int)((a[i0 + 2] * 0x1p-15) * 8) >= (int)((a[i0] * 0x1p-15) * 8))) {
        s0 += (-(sqrt(fabs(((double)((int)i0) * 0x1p-1))) -
                 ((a[i0] * 0x1p-15) + (a[j0] * 0x1p-15)))) *
              0x1p-3;
      }
    }
    a[i0] += ((1.5 * (a[i0] * 0x1p-15)) - (s0 * 0x1p-15)) * 0x1p-2;
  }
  for (int i0 = 0; i0 < n - 2; i0++) {
    s0 = 2.0;
    for (int j0 = i0 + 1; j0 < i0 + n; j0++) {
      if (((int)((a[j0] * 0x1p-15) * 8) != (int)j0)) {
        s0 += (((((a[j0] * 0x1p-15) * ((double)((int)i0) * 0x1p-1)) * 0x1p-3) /
                ((a[i0] * 0x1p-15) * (a[i0] * 0x1p-15) + 1.0)) /
               (((a[j0] * 0x1p-15) / 3.0) * ((a[j0] * 0x1p-15) / 3.0) + 1.0)) *
              0x1p-7;
      }
    }
    a[i0] +=
        (((a[i0] * 0x1p-15) + (a[i0] * 0x1p-15)) - (s0 * 0x1p-15)) * 0x1p-2;
    for (int j0 = i0 + 2; j0 < i0 + n; j0 += 3) {
      for (int k0 = 1; k0 < n - j0; k0++) {
        a[k0] -= ((a[k0] * 0x1p-15) + ((double)((int)j0) * 0x1p-1)) * 0x1p-7;
      }
      s1 = (-0.3);
      for (int k0 = 0; k0 < i0 + 1; k0++) {
        s1 =
            fmax(s1, fabs((((((double)((int)i0) * 0x1p-1) * (a[k0] * 0x1p-15)) *
                            0x1p-3) -
                           0.5) *
                          0x1p-7));
      }
      a[i0] +=
          (((a[0] * 0x1p-15) / ((a[i0] * 0x1p-15) * (a[i0] * 0x1p-15) + 1.0)) +
           (s1 * 0x1p-15)) *
          0x1p-1;
    }
  }
}

int main(void) {
  static double a[40];
  for (int i = 0; i < 40; i++)
    a[i] = (i * 37 % 101) * 0.01;
  extrema(13, a);
  for (int i = 0; i < 40; i++)
    printf("%a\n", a[i]);
}
