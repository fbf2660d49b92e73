/* The best value of each interval from those of its parts, as in dynamic
 * programmes over pairs: an update may read other elements of its array. The
 * parts of an interval go to threads side by side, whose warps combine them.
 * RUN: %same --regions 4 %t %s
 * RUN: %pacc_cc -c %s -o /dev/null -mllvm -polly-acc-dump-kernel-asm \
 * RUN:     -Rpass=polly-acc 2>%t.asm
 * RUN: FileCheck %s <%t.asm
 * CHECK-DAG: kernel 'maxima_scop{{[0-9]+}}_kernel0': 2-dimensional grid, block 32
 * CHECK-DAG: kernel 'sums_scop{{[0-9]+}}_kernel0': 2-dimensional grid, block 32
 * CHECK-DAG: kernel 'closed_scop{{[0-9]+}}_kernel0': 1-dimensional grid
 * CHECK-DAG: atom.global.max.s32
 * CHECK-DAG: atom.global.add.u32
 *
 * RUN: FileCheck --check-prefix=WARP %s <%t.asm
 * WARP: entry maxima_scop{{[0-9]+}}_kernel0(
 * WARP: match.all.sync.b64
 * WARP: shfl.sync.down.b32
 * WARP-NEXT: max.s32
 * WARP: entry
 */
#include "Inputs/show.h"

enum { N = 150 };
static int best[N][N], ways[N][N], weight[N];

APART static void maxima(int n) {
  for (int d = 1; d < n; d++)
    for (int i = 0; i < n - d; i++)
      for (int k = i; k < i + d; k++) {
        int both = best[i][k] + best[k + 1][i + d] + weight[k];
        best[i][i + d] = both > best[i][i + d] ? both : best[i][i + d];
      }
}

APART static void sums(int n) {
  for (int d = 1; d < n; d++)
    for (int i = 0; i < n - d; i++)
      for (int k = i; k < i + d; k++)
        ways[i][i + d] += ways[i][k] * ways[k + 1][i + d];
}

/* The element itself among the others: in order. */
APART static void closed(int n) {
  for (int i = 1; i < n; i++)
    for (int k = 0; k <= i; k++)
      weight[i] += weight[k];
}

int main(void) {
  for (int i = 0; i < N; i++) {
    ways[i][i] = 1;
    weight[i] = (i * 37) % 11;
  }
  maxima(opaque(N));
  sums(opaque(N));
  closed(opaque(N));
  SHOW(best);
  SHOW(ways);
  SHOW(weight);
  return 0;
}
