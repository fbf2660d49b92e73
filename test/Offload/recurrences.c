/* Recurrences along a column, one for each thread: an iteration takes the value
 * of the one before from a register, and loads pass stores.
 * RUN: %same --regions 3 %t %s
 * RUN: %pacc_cc -c %s -o /dev/null -mllvm -polly-acc-dump-kernel-asm 2>%t.asm
 * RUN: FileCheck %s <%t.asm
 */
#include "Inputs/show.h"

enum { N = 70, M = 33 };
static double p[M][N], q[M][N], down[N][M], up[N][M], twice[N][M];

/* CHECK-LABEL: entry forward_scop
 * CHECK: ld.global.b64
 * CHECK: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: fma.rn.f64
 * CHECK-NEXT: st.global.b64
 * CHECK-NEXT: fma.rn.f64
 */
APART static void forward(int n, int m) {
  for (int i = 0; i < m; i++)
    for (int j = 1; j < n; j++)
      down[j][i] = p[i][j] * down[j - 1][i] + q[i][j];
}

/* CHECK-LABEL: entry backward_scop
 * CHECK: ld.global.b64
 * CHECK: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: ld.global.nc.b64
 * CHECK-NEXT: fma.rn.f64
 * CHECK-NEXT: st.global.b64
 * CHECK-NEXT: fma.rn.f64
 */
APART static void backward(int n, int m) {
  for (int i = 0; i < m; i++)
    for (int j = n - 2; j >= 0; j--)
      up[j][i] = p[i][j] * up[j + 1][i] + q[i][j];
}

/* Another store of the loop is to what the next iteration reads.
 * CHECK-LABEL: entry between_scop
 */
APART static void between(int n, int m) {
  for (int i = 0; i < m; i++)
    for (int j = 1; j < n - 1; j++) {
      twice[j][i] = 0.5 * twice[j - 1][i] + q[i][j];
      twice[j + 1][i] = 0.25 * twice[j][i] - twice[j - 1][i];
      twice[j - 1][i] += 1;
    }
}

int main(void) {
  FILL(p);
  FILL(q);
  FILL(down);
  FILL(up);
  FILL(twice);
  forward(opaque(N), opaque(M));
  backward(opaque(N), opaque(M));
  between(opaque(N), opaque(M));
  SHOW(down);
  SHOW(up);
  SHOW(twice);
  return 0;
}
