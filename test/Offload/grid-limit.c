/* More than 65,535 blocks along y: the rows beyond are computed too, by a loop
 * that kernels lack where there are never as many.
 * RUN: %same --regions 2 --plugin-flag=-mllvm \
 * RUN:   --plugin-flag=-polly-acc-block-size=2 %t %s
 * RUN: %pacc_cc -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2>&1 \
 * RUN:   | FileCheck %s
 * CHECK-LABEL: .entry rows_scop{{[0-9]}}_kernel0
 * CHECK: %nctaid.y
 * CHECK-LABEL: .entry transpose_scop{{[0-9]}}_kernel0
 * CHECK-NOT: %nctaid
 */
#include "Inputs/show.h"
#include <stdlib.h>

enum { M = 3, N = 70 };

APART static void rows(int n, int (*restrict x)[M]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < M; j++)
      x[i][j] = 10 * i + j;
}

static int from[N][N], to[N][N];

APART static void transpose(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      to[i][j] = from[j][i];
}

int main(void) {
  int n = opaque(150001);
  int (*x)[M] = calloc((size_t)n, sizeof *x);
  rows(n, x);
  show("x", x, (size_t)n * sizeof *x);
  free(x);
  for (int i = 0; i < N; i++)
    from[i][i / 2] = opaque(i);
  transpose(opaque(N));
  show("to", to, sizeof to);
  return 0;
}
