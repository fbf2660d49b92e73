/* Sums, products, extrema and bits of whole numbers and of floating point:
 * one value, one per row, and into arrays.
 * RUN: %same --regions 3 %t %s
 */
#include "Inputs/show.h"

enum { N = 60, M = 45 };
static double a[N][M], row[N], column[M];
static int w[N][M], most[N], bits[N];

APART static void rows(int n, int m) {
  for (int i = 0; i < n; i++) {
    row[i] = 0.0;
    for (int j = 0; j < m; j++)
      row[i] += a[i][j] * a[i][j];
  }
}

APART static void columns(int n, int m) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      column[j] = column[j] * 0.875 + a[i][j];
}

APART static void integers(int n, int m) {
  for (int i = 0; i < n; i++) {
    int x = w[i][0], y = 0;
    for (int j = 0; j < m; j++) {
      x = w[i][j] > x ? w[i][j] : x;
      y ^= w[i][j];
    }
    most[i] = x;
    bits[i] = y;
  }
}

int main(void) {
  FILL(a);
  FILL(column);
  fill((double *)w, sizeof w / sizeof(double));
  rows(opaque(N), opaque(M));
  columns(opaque(N), opaque(M));
  integers(opaque(N), opaque(M));
  SHOW(row);
  SHOW(column);
  SHOW(most);
  SHOW(bits);
  return 0;
}
