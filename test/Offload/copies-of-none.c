/* A value with copies for the iterations of a loop, and a branch of it whose
 * statements access none of them (found by test/fuzz).
 *
 * RUN: %pacc_cc -ffp-contract=off -mllvm -polly-acc-fma=off -mllvm -polly-acc-min-work=always %s -o %t %rtlib -lm -Rpass=polly-acc 2>&1 | FileCheck %s
 * RUN: env PACC_DEVICE=host %t > %t.host
 * RUN: env PACC_DEVICE=cpu %t 2>&1 | cmp - %t.host
 *
 * CHECK: offloaded region 'rows_
 */
#include <math.h>
#include <stdio.h>

static float a[24][24], b[24];

__attribute__((noinline)) static void rows(int m, int p, double *restrict c) {
  short found = 0;
  float largest = 0;
  for (unsigned i = 0; i < m; i++)
    found |= (found * (int)(c[i + 1] * 8)) % 1001;
  for (unsigned i = 0; i < p - 2; i++) {
    largest = -0.25f;
    for (unsigned j = i; j < p; j++) {
      float v = b[j] * a[i][j] * 0.125f;
      if (v > largest)
        largest = v;
    }
    a[i][3] = fabsf(found * 0.5f - b[i] + a[i + 1][0]) + largest;
  }
  for (unsigned i = 2; i < p; i++)
    for (unsigned j = i; j < m; j++) {
      a[i][j] = (fabsf((found <= 1.5 ? a[i][j] - a[i][j]
                                     : (float)(int)i * 0.5f + b[j]) *
                       0.5f) +
                 (float)(found % 1001)) *
                0.25f;
      a[i][j] = (b[j] - (float)(found % 1001)) * 0.5f;
    }
}

int main(void) {
  static double c[24];
  for (int i = 0; i < 24; i++) {
    b[i] = i * 7 % 13 * 0.25f;
    c[i] = i * 5 % 11 * 0.5;
    for (int j = 0; j < 24; j++)
      a[i][j] = (i * 3 + j * 5) % 17 * 0.125f;
  }
  rows(20, 15, c);
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 24; j++)
      printf("%a\n", a[i][j]);
}
