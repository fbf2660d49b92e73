/* Data that stay on the device from region to region (docs/offload.md): the
 * code in between does nothing but compute values.
 * RUN: %same %t.out %s | FileCheck %s --check-prefix=REMARKS
 * REMARKS-COUNT-5: data stay on the GPU from region to region
 * REMARKS-NOT: data stay
 *
 * RUN: env PACC_DEVICE=cpu PACC_LOG=launch %t.acc 2>&1 >/dev/null | FileCheck %s
 * RUN: env PACC_DEVICE=host PACC_LOG=info %t.acc 2>&1 >/dev/null \
 * RUN:   | FileCheck %s --allow-empty --check-prefix=HOST
 * HOST-NOT: span
 *
 * RUN: %pacc_cc -mllvm -polly-acc-keep-data=off -Rpass=polly-acc -c -o %t.o %s 2>&1 \
 * RUN:   | FileCheck %s --check-prefix=OFF
 * OFF-NOT: data stay
 */
#include "Inputs/show.h"

enum { N = 60 };
static double a[N][N], b[N][N], c[N * N], d[N * N];
static int e[N * N], f[N * N];

/* Time steps that swap their arrays. What the first step does not write of y,
 * the second one reads.
 * CHECK: swap_scop{{.*}}: copy in arg 3 of swap
 * CHECK: swap_scop{{.*}}: copy in arg 4 of swap
 * CHECK: swap_scop
 * CHECK-NOT: copy out
 * CHECK: swap_span0: copy out
 * CHECK: swap_span0: copy out
 * CHECK: swap_span0: 0 launches, 0 bytes in, 52.6 KiB out
 */
APART static void swap(int steps, int n, double (*restrict x)[N], double (*restrict y)[N]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        y[i][j] = 0.25 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]);
    double (*z)[N] = x;
    x = y;
    y = z;
  }
}

/* A loop that is not affine; in each round the region is half as large.
 * CHECK: halve_scop{{.*}}: copy in c, 28.1 KiB
 * CHECK-NOT: copy
 * CHECK: halve_span0: copy out c, 14.1 KiB
 * CHECK: halve_span0
 */
APART static int halve(int n) {
  int rounds = 0;
  for (int s = n / 2; s > 0; s /= 2) {
    for (int i = 0; i < s; i++)
      c[i] += c[i + s] * 3.0;
    rounds++;
  }
  return rounds;
}

/* The arrays grow: what the device has is taken along.
 * CHECK: grow_scop{{.*}}: copy in d
 * CHECK: grow_span0: copy out d
 * CHECK: grow_span0
 */
APART static void grow(int n) {
  for (int s = 5; s < n; s *= 3)
    for (int i = s; i < 2 * s; i++)
      d[i] = 2.0 * d[i - 1 - s / 2] + d[i];
}

/* Two regions, and a loop in between that is not affine; d is written as a
 * whole and never goes to the device.
 * CHECK: pair_scop{{.*}}: copy in c, 28.1 KiB
 * CHECK-NOT: copy in
 * CHECK: pair_span0: copy out d, 28.
 * CHECK: pair_span0: copy out c, 2{{[78]}}.
 * CHECK: pair_span0: 0 launches
 */
APART static int pair(int n, int m) {
  for (int i = 0; i < n; i++)
    d[i] = c[i] * 2.0;
  int k = 0;
  for (; m > 1; k++)
    m = m % 2 ? 3 * m + 1 : m / 2;
  for (int i = 0; i < n - k; i++)
    c[i + k] = d[i] + k;
  return k;
}

/* A value that each round leaves for the host.
 * CHECK: settle_scop{{.*}}: copy in
 * CHECK: settle_scop{{.*}}: copy out scalar, 4 bytes
 * CHECK-NOT: copy in
 * CHECK: settle_span0: copy out
 * CHECK: settle_span0: 0 launches
 */
APART static int settle(int n) {
  int rounds = 0, changed;
  do {
    changed = 0;
    for (int i = 1; i < n - 1; i++)
      f[i] = (e[i - 1] + e[i] + e[i + 1]) / 3;
    for (int i = 1; i < n - 1; i++)
      changed += e[i] != f[i];
    for (int i = 1; i < n - 1; i++)
      e[i] = f[i];
    rounds++;
  } while (changed > 3 && rounds < 5);
  return rounds;
}

int main(void) {
  FILL(a);
  FILL(c);
  FILL(d);
  for (volatile int i = 0; i < N * N; i++)
    e[i] = i * i % 97 * 10;
  swap(opaque(7), opaque(N), a, b);
  printf("%d rounds\n", halve(opaque(N * N)));
  grow(opaque(N * N));
  printf("k = %d\n", pair(opaque(N * N), opaque(27)));
  printf("%d rounds\n", settle(opaque(N * N)));
  SHOW(a);
  SHOW(b);
  SHOW(c);
  SHOW(d);
  SHOW(e);
  SHOW(f);
  return 0;
}
