/* Iterations that read what later ones overwrite take the values from before
 * the loop: a copy, and the loop is parallel.
 * RUN: %same --regions 13 %t.out %s | FileCheck %s
 * CHECK-DAG: offloaded region 'next_scop{{[0-9]+}}': 2 kernels, 3 arrays
 * CHECK-DAG: loop nest not offloaded: it has no parallel loop
 * RUN: env PACC_DEVICE=cpu PACC_LOG=info %t.acc 2>&1 >/dev/null \
 * RUN:   | FileCheck %s --check-prefix=LOG
 * RUN: %same --plugin-flag=-mllvm --plugin-flag=-polly-acc-persistent=always --regions 13 %t.loop %s
 */
#include "Inputs/show.h"

enum { N = 60, M = 21 };
static double a[N], b[N], c[M][M], d[M][M];

/* LOG: next_scop{{.*}}: 2 launches
 */
APART static void next(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n - 1; i++)
    x[i] = x[i + 1] * y[i];
}

/* Both at once, and the element itself. Backwards, ahead is below.
 * LOG: several_scop{{.*}}: 2 launches
 */
APART static void several(int n) {
  for (int i = n - 1; i >= 3; i--)
    a[i] = a[i] + a[i - 1] * b[i] - a[i - 3];
}

/* Ahead in the row and in the column, and the corner is not read.
 * LOG: plane_scop{{.*}}: 2 launches
 */
APART static void plane(int n) {
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < n - 1; j++)
      c[i][j] = c[i + 1][j] + c[i][j + 1] * d[i][j];
}

/* A copy for each step: other steps write what this one reads.
 * LOG: steps_scop{{.*}}: 14 launches
 */
APART static void steps(int rounds, int n) {
  for (int t = 0; t < rounds; t++)
    for (int i = 0; i < n - 1; i++)
      a[i] = a[i + 1] * b[i] + t;
}

/* What other loops of the region write before and afterwards.
 * LOG: between_scop{{.*}}: 2 launches
 */
APART static void between(int n) {
  for (int i = 0; i < n; i++)
    a[i] = b[i] * 0.5;
  for (int i = 0; i < n - 2; i++)
    a[i] = a[i + 2] - b[i];
  for (int i = 0; i < n; i++)
    b[i] = a[i] + 0.25;
}

/* Half of the reads are of new values.
 * LOG: turn_scop{{.*}}: {{[234]}} launches
 */
APART static void turn(int n) {
  for (int i = 0; i < n; i++)
    a[i] = a[n - 1 - i] + 1.0;
}

/* Ahead and behind: values go from one iteration to the next. */
APART static void both(int n) {
  for (int i = 1; i < n - 1; i++)
    b[i] = 0.5 * (b[i - 1] + b[i + 1]);
}

/* Under a condition; the copy is of all that may be read.
 * LOG: sometimes_scop{{.*}}: 2 launches
 */
APART static void sometimes(int n) {
  for (int i = 0; i < n - 1; i++)
    if (b[i] > 0.0)
      a[i] = a[i + 1] - 1.0;
}

/* The instance's own write comes first: the read must see it.
 * LOG: own_scop{{.*}}: {{[234]}} launches
 */
APART static void own(int n) {
  for (int i = 0; i < n - 2; i++) {
    a[i] = b[i] * 2.0;
    b[i] = a[i] + a[i + 1] * a[i + 2];
  }
}

/* As in trmm: rows below, of which this one has a sum.
 * LOG: rows_scop{{.*}}: 2 launches
 */
APART static void rows(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = i + 1; k < n; k++)
        c[i][j] += d[k][i] * c[k][j];
}

/* Of all shortest paths: row k and column k, for each k.
 * LOG: paths_scop{{.*}}: {{[78][0-9]}} launches
 */
APART static void paths(int n) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        c[i][j] = c[i][j] < c[i][k] + c[k][j] ? c[i][j] : c[i][k] + c[k][j];
}

/* The arrays may overlap: only the run-time check says whether they do.
 * LOG: checked_scop{{.*}}: 2 launches
 * LOG-NEXT: checked_scop{{.*}}: the original loops run: a check before the region
 */
APART static void checked(int n, double *x, double *y) {
  for (int i = 0; i < n - 1; i++)
    x[i] = x[i + 1] * y[i];
}

int main(void) {
  FILL(a);
  FILL(b);
  FILL(c);
  FILL(d);
  next(opaque(N), a, b);
  several(opaque(N));
  plane(opaque(M));
  steps(opaque(7), opaque(N));
  between(opaque(N));
  SHOW(a);
  turn(opaque(N));
  both(opaque(N));
  sometimes(opaque(N));
  SHOW(a);
  FILL(a);
  own(opaque(N));
  SHOW(b);
  SHOW(c);
  rows(opaque(M));
  SHOW(c);
  paths(opaque(M));
  checked(opaque(N / 2), a, a + N / 2);
  checked(opaque(N / 2), a, a + 1);
  SHOW(a);
  SHOW(c);
  return 0;
}
