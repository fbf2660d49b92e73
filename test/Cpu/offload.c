/* Offloaded loops on the CPU device: the bits of the original loops, under
 * every seed, with checks and without, on one host thread and on three.
 *
 * RUN: %pacc_cc -ffp-contract=off -mllvm -polly-acc-fma=off %s -o %t %rtlib -lm
 * RUN: env PACC_DEVICE=host %t > %t.host
 * RUN: env PACC_DEVICE=cpu PACC_LOG=launch %t > %t.cpu 2> %t.log
 * RUN: cmp %t.host %t.cpu
 * RUN: FileCheck %s < %t.log
 * RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=1 %t | cmp - %t.host
 * RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=2 %t | cmp - %t.host
 * RUN: env PACC_DEVICE=cpu PACC_CPU_CHECK=0 %t | cmp - %t.host
 * RUN: env PACC_DEVICE=cpu PACC_CPU_THREADS=3 %t | cmp - %t.host
 *
 * CHECK: using CPU device
 * CHECK: launch {{.*}}smooth{{.*}}grid
 * CHECK-NOT: original loops
 *
 * Nothing is printed unless asked for.
 * RUN: env PACC_DEVICE=cpu %t 2>&1 >/dev/null | count 0
 */
#include <math.h>
#include <stdio.h>

enum { N = 150, M = 77 };
static double a[N][M], b[N][M];
static float f[N];
static int counts[N];

__attribute__((noinline)) static void smooth(int n, int m) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] +
                       a[i + 1][j]) +
                exp(-a[i][j]) * pow(a[i][j], 1.7) / sqrt(1 + a[i][j]);
}

__attribute__((noinline)) static void rows(int n, int m) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    int count = 0;
    for (int j = 0; j < m; j++) {
      sum += (float)b[i][j] * 0.3f;
      count += b[i][j] > 0.5 ? i / (j + 1) : j % (i + 1);
    }
    f[i] = sum;
    counts[i] = count;
  }
}

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = (i * 31 + j * 17) % 101 / 50.0;
  smooth(N, M);
  rows(N, M);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      printf("%a\n", b[i][j]);
  for (int i = 0; i < N; i++)
    printf("%a %d\n", (double)f[i], counts[i]);
  return 0;
}
