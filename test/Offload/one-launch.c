/* What one loop nest does for each element is one launch: fields of structs,
 * sums with what comes before and after them.
 * RUN: %same --regions 7 %t %s | FileCheck %s
 * CHECK-DAG: offloaded region 'zero_scop[[#]]': 1 kernel,
 * CHECK-DAG: offloaded region 'set_scop[[#]]': 1 kernel,
 * CHECK-DAG: offloaded region 'fields_scop[[#]]': 1 kernel,
 * CHECK-DAG: offloaded region 'local_scop[[#]]': 1 kernel,
 * CHECK-DAG: offloaded region 'element_scop[[#]]': 1 kernel,
 * CHECK-DAG: offloaded region 'scaled_scop[[#]]': 1 kernel,
 * CHECK-DAG: offloaded region 'global_scop[[#]]': 1 kernel,
 */
#include "Inputs/show.h"
#include <string.h>

enum { N = 50 };
struct mixed {
  int a;
  float b;
  short c, d;
};
struct point {
  double x, y, z;
};
static struct mixed mixed[N];
static struct point points[N], others[N];
static double a[N], b[N], sums[N], A[N][N], B[N][N], C[N][N], last;

APART static void zero(int n) {
  for (int i = 0; i < n; i++)
    mixed[i] = (struct mixed){0};
}

APART static void set(int n) {
  for (int i = 0; i < n; i++) {
    memset(&points[i], 0, sizeof points[i]);
    points[i].y = i;
  }
}

APART static void fields(int n) {
  for (int i = 0; i < n; i++) {
    struct point s = {0};
    for (int j = 0; j < n; j++) {
      s.x += others[j].x * i;
      s.y += others[j].y;
      s.z -= others[j].z;
    }
    points[i] = s;
  }
}

APART static void local(int n) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < n; j++)
      if (j != i)
        s += (float)A[i][j];
    sums[i] = s / A[i][i];
  }
}

APART static void element(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
}

APART static void scaled(int n, int m) {
  for (int i = 0; i < n; i++) {
    double s = a[i];
    for (int j = 0; j < m; j++)
      s += A[i][j];
    b[i] = s * 2;
  }
}

APART static void global(int n) {
  for (int i = 0; i < n; i++) {
    last = 0;
    for (int j = 0; j < n; j++)
      last += A[j][i];
    sums[i] += last;
  }
}

int main(void) {
  FILL(a);
  FILL(b);
  FILL(A);
  FILL(B);
  FILL(others);
  memset(mixed, 1, sizeof mixed);
  zero(opaque(N - 1));
  SHOW(mixed);
  set(opaque(N));
  SHOW(points);
  fields(opaque(N));
  SHOW(points);
  local(opaque(N));
  SHOW(sums);
  element(opaque(N));
  SHOW(C);
  scaled(opaque(N), opaque(0));
  SHOW(b);
  global(opaque(N));
  SHOW(sums);
  show("last", &last, sizeof last);
  return 0;
}
