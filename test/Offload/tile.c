/* Threads of a product compute several points along y: a row of B is loaded once
 * for all of them, and each has a sum of its own in a register. What is left of
 * the grid behind the last full tile is computed as well. Rows have variable
 * lengths, one of the sums is a scalar, and one domain is a triangle.
 *
 * RUN: %same --regions=3 --plugin-flag=-mllvm --plugin-flag=-polly-acc-thread-tile=4 %t %s
 * RUN: %same --regions=3 --plugin-flag=-mllvm --plugin-flag=-polly-acc-thread-tile=3 %t %s
 * RUN: %pacc_cc -mllvm -polly-acc-only-func=product -mllvm -polly-acc-thread-tile=4 -mllvm -polly-acc-ptxas=off -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2>&1 | FileCheck %s
 * CHECK: .entry product
 * CHECK: {{st.global.b64 [^;]*;[[:space:]]+st.global.b64 [^;]*;[[:space:]]+st.global.b64 [^;]*;[[:space:]]+st.global.b64}}
 *
 * A grid that is known to be small has no tiles where nobody asks for them.
 * RUN: %pacc_cc -mllvm -polly-acc-only-func=scalar -mllvm -polly-acc-dump-schedule -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=NONE
 * NONE: pacc_kernel
 * NONE-NOT: pacc_tile
 */
#include "Inputs/show.h"

enum { N = 26 };
static double a[N][N], b[N][N], c[N][N], d[N][N], e[N][N];

APART static void product(int n, double (*a)[n], double (*b)[n],
                          double (*c)[n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
}

APART static void scalar(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = j;
      for (int k = 0; k < n; k++)
        sum = a[i][k] - sum * b[k][j];
      d[i][j] = sum;
    }
}

APART static void triangle(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < n; k++)
        e[i][j] += a[i][k] * a[j][k];
}

int main(void) {
  FILL(a);
  FILL(b);
  FILL(c);
  product(opaque(N), a, b, c);
  scalar(opaque(N));
  triangle(opaque(N));
  SHOW(c);
  SHOW(d);
  SHOW(e);
  return 0;
}
