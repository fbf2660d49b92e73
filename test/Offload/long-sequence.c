/* Long sequences of loops are analysed in parts, and no part is lost: 40 nests
 * here, which become four regions, and a span for their data.
 * RUN: %same --regions 5 %t %s
 * RUN: %pacc_cc -Rpass-missed=polly-acc -S -emit-llvm %s -o %t.ll 2>&1 | count 0
 * RUN: not grep __pacc_cut %t.ll
 */
#include "Inputs/show.h"

enum { N = 50 };
static double a[N][N], b[N][N];

#define NEST(to, from, factor)                                                 \
  for (int i = 0; i < n; i++)                                                  \
    for (int j = 0; j < n; j++)                                                \
      to[i][j] = factor * from[j][i] + to[i][j];
#define FOUR(factor)                                                           \
  NEST(a, b, factor)                                                           \
  NEST(b, a, -factor)                                                          \
  NEST(a, b, 0.5 * factor)                                                     \
  NEST(b, a, 0.25 * factor)
#define TWENTY FOUR(0.5) FOUR(0.25) FOUR(0.125) FOUR(1.0) FOUR(0.75)

APART static void sequence(int n) { TWENTY TWENTY }

int main(void) {
  FILL(a);
  FILL(b);
  sequence(opaque(N));
  SHOW(a);
  SHOW(b);
  return 0;
}
