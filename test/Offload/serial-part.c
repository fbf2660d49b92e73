/* A loop that only one thread could run, between loops that the device runs: it
 * stays on the host, in a region of its own, and the others are offloaded.
 * RUN: %same --regions 3 %t %s
 * RUN: %pacc_cc -c %s -o /dev/null -Rpass=polly-acc -Rpass-missed=polly-acc \
 * RUN:     2>&1 | FileCheck %s --implicit-check-not='(one thread)'
 * CHECK-DAG: serial-part.c:[[#LAST:]]:{{.*}} offloaded region 'last_scop{{[0-9]+}}': 1 kernel,
 * CHECK-DAG: serial-part.c:[[#LAST+3]]:{{.*}} loop nest not offloaded: it has no parallel loop
 * CHECK-DAG: serial-part.c:[[#MIDDLE:]]:{{.*}} offloaded region 'middle_scop{{[0-9]+}}': 1 kernel,
 * CHECK-DAG: serial-part.c:[[#MIDDLE+3]]:{{.*}} loop nest not offloaded: it has no parallel loop
 * CHECK-DAG: serial-part.c:[[#MIDDLE+9]]:{{.*}} offloaded region 'middle_scop{{[0-9]+}}': 1 kernel,
 */
#include "Inputs/show.h"

enum { N = 300 };
static double a[N][N], x[N], b[N][N];

/* Each x needs the one before first. */
APART static void last(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i][j] * 0.5 + i;
  for (int i = n - 1; i >= 0; i--) {
    double w = x[i];
    for (int j = i + 1; j < n; j++)
      w -= a[i][j] * x[j] * 1e-3;
    x[i] = w / (a[i][i] + 100);
  }
}

APART static void middle(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = a[j][i] + 1;
  for (int i = n - 1; i >= 0; i--) {
    double w = x[i];
    for (int j = i + 1; j < n; j++)
      w += b[i][j] * x[j] * 1e-3;
    x[i] = w / (b[i][i] + 100);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = b[i][j] * x[j];
}

int main(void) {
  FILL(a);
  FILL(x);
  last(opaque(N));
  middle(opaque(N));
  SHOW(a);
  SHOW(x);
  SHOW(b);
  return 0;
}
