/* Data that the program leaves to the device (pacc/runtime.h).
 * RUN: %same --flag=-I%source/include --flag=-L%build/lib --flag=-lpacc_rt \
 * RUN:   --flag=-Wl,-rpath,%build/lib %t.out %s
 * RUN: env PACC_DEVICE=cpu PACC_LOG=launch %t.acc 2>&1 >/dev/null | FileCheck %s
 * RUN: env PACC_DEVICE=host %t.acc > %t.host
 * RUN: env PACC_DEVICE=cpu %t.acc | cmp - %t.host
 *
 * Each array goes to the device once. Then `mix` has overlapping arrays: its
 * original loops run, on what the host has got back, so that both go there
 * again; and b once more, since the host has changed it.
 * CHECK-COUNT-2: step_scop0: copy in data, 28.1 KiB
 * CHECK-NOT: copy
 * CHECK-COUNT-3: step_scop0: copy in data, 28.1 KiB
 * CHECK-NOT: copy
 */
#include "Inputs/show.h"
#include <pacc/runtime.h>

enum { N = 60, STEPS = 4 };
static double a[N][N], b[N][N];

APART static void step(int n, double (*restrict x)[N], double (*restrict y)[N]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      y[i][j] = 0.25 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]);
}

APART static void mix(int n, double *x, double *y) {
  for (int i = 0; i < n; i++)
    y[i] = 0.5 * (x[i] + y[i]);
}

int main(void) {
  FILL(a);
  int n = opaque(N), ok = pacc_data_begin(a, sizeof a);
  ok &= pacc_data_begin(b, sizeof b);
  for (int t = 0; t < STEPS; t++) {
    step(n, a, b);
    step(n, b, a);
    ok &= pacc_data_update_host(&a[n / 2][n / 2], sizeof(double));
    printf("%a\n", a[n / 2][n / 2]);
  }
  mix(n, &a[0][0], &a[0][n / 2]);
  step(n, a, b);
  ok &= pacc_data_update_host(b, sizeof b);
  b[0][0] = 17.0;
  ok &= pacc_data_update_device(&b[0][0], sizeof(double));
  step(n, b, a);
  ok &= pacc_data_end(a);
  ok &= pacc_data_end(b);
  printf("%d\n", ok);
  SHOW(a);
  SHOW(b);
  return 0;
}
