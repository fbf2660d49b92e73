/* Elements of all kinds: complex numbers and structs of numbers are several
 * arrays in one and are copied number by number, _Bool is a byte; what is no
 * number of at most 64 bits stays on the host and says so.
 * RUN: %same --regions 10 %t %s | FileCheck %s
 * CHECK-DAG: offloaded region 'add_scop
 * CHECK-DAG: offloaded region 'points_scop
 * CHECK-DAG: offloaded region 'flags_scop
 * CHECK-DAG: offloaded region 'widths_scop
 * CHECK-DAG: offloaded region 'rows_scop
 * CHECK-DAG: offloaded region 'linear_scop
 * CHECK-DAG: offloaded region 'copies_scop
 * CHECK-DAG: offloaded region 'odd_sizes_scop
 * CHECK-DAG: offloaded region 'clear_scop
 * CHECK-DAG: offloaded region 'multiply_scop
 * CHECK-DAG: types.c:91:{{.*}}not offloaded: a value that is no number of at most 64 bits
 */
#include "Inputs/show.h"
#include <complex.h>

enum { N = 60, M = 17 };
struct point {
  double x, y;
  float w;
};
struct text {
  char letter[5];
};
static double complex a[N], b[N];
static struct point other_points[N];
static struct text text[N], other_text[N];
static struct point points_of[N];
static _Bool flag[N];
static int8_t tiny[N];
static uint16_t low[N];
static int64_t high[N];
static int32_t grid[N * M];
static double rows_of[N][M];
static __int128 wide[N];

APART static void add(int n) {
  for (int i = 0; i < n; i++)
    a[i] += b[n - 1 - i] * 2.0;
}

APART static void points(int n, struct point *restrict p) {
  for (int i = 0; i < n; i++) {
    p[i].x += 1.0;
    p[i].y = p[i].x * p[i].w;
  }
}

/* There and back: what is written is read by others. */
APART static void copies(int n, struct point *restrict p, const struct point *restrict q) {
  for (int i = 0; i < n; i++) {
    p[i] = q[n - 1 - i];
    p[i].w += 1.0f;
  }
}

APART static void odd_sizes(int n) {
  for (int i = 0; i < n; i++)
    text[i] = other_text[i];
}

APART static void clear(int n) {
  for (int i = 0; i < n; i++)
    points_of[i] = (struct point){0};
}

/* Its last resort for infinite factors is a function of the library. */
APART static void multiply(int n) {
  for (int i = 0; i < n; i++)
    a[i] *= b[i];
}

APART static void flags(int n) {
  for (int i = 0; i < n; i++)
    flag[i] = tiny[i] > 3 || flag[i];
}

APART static void widths(int n) {
  for (int i = 0; i < n; i++) {
    tiny[i] = (int8_t)(tiny[i] * 3 - low[i]);
    low[i] = (uint16_t)(low[i] + tiny[i]);
    high[i] = (high[i] << 3) ^ low[i];
  }
}

APART static void very_wide(int n) {
  for (int i = 0; i < n; i++)
    wide[i] += 3;
}

/* A pointer that walks from row to row. */
APART static void rows(int n, int m) {
  double(*p)[M] = rows_of;
  for (int i = 0; i < n; i++, p++)
    for (int j = 0; j < m; j++)
      (*p)[j] += i - j;
}

APART static void linear(int n, int m, int32_t *restrict to,
                         const int64_t *restrict from) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      to[i * m + j] = (int32_t)(from[i] * j);
}

int main(void) {
  for (int i = 0; i < N; i++) {
    a[i] = opaque(i) + 2.0 * I;
    b[i] = opaque(i) * 0.5 - I;
    points_of[i] = (struct point){opaque(i), 1.0, 0.25f * (float)i};
    other_text[i] = (struct text){{(char)i, 1, 2, 3, 4}};
    flag[i] = opaque(i) % 5 == 0;
    tiny[i] = (int8_t)(opaque(i) * 37);
    low[i] = (uint16_t)(opaque(i) * 4001);
    high[i] = (int64_t)opaque(i) * 123456789123;
  }
  int n = opaque(N);
  add(n);
  SHOW(a);
  points(n, points_of);
  SHOW(points_of);
  copies(n, other_points, points_of);
  SHOW(other_points);
  odd_sizes(n);
  SHOW(text);
  clear(n);
  SHOW(points_of);
  multiply(n);
  SHOW(a);
  flags(n);
  SHOW(flag);
  widths(n);
  SHOW(tiny);
  SHOW(low);
  SHOW(high);
  very_wide(n);
  SHOW(wide);
  rows(n, opaque(M));
  SHOW(rows_of);
  linear(n, opaque(M), grid, high);
  SHOW(grid);
  return 0;
}
