/* Loops that call functions of the program.
 * RUN: %same --regions 6 %t %s | FileCheck %s
 */
#include "Inputs/show.h"

#include <assert.h>

struct matrix {
  int rows, columns;
  double *data;
};
static double a[900], b[900], c[900];
static int counter;

static inline double *at(const struct matrix *m, int i, int j) {
  return &m->data[i * m->columns + j];
}
static double square(double x) { return x * x; }
static double distance(double x, double y) { return square(x) + square(y); }
static double dot(const struct matrix *m, int row, const double *x) {
  double sum = 0.0;
  for (int j = 0; j < m->columns; j++)
    sum += *at(m, row, j) * x[j];
  return sum;
}
/* Calls of these stay. */
APART static double apart(double x) { return x + 1.0; }
static double odd(int n, double x);
static double even(int n, double x) { return n ? odd(n - 1, x) : x; }
static double odd(int n, double x) { return n ? even(n - 1, -x) : x; }
static double counted(double x) {
  printf("%d\n", ++counter);
  return x;
}

APART static void accessors(const struct matrix *restrict to,
                            const struct matrix *restrict from) {
  for (int i = 0; i < to->rows; i++)
    for (int j = 0; j < to->rows; j++)
      *at(to, i, j) = distance(*at(from, j, i), 0.5);
}

APART static void rows(const struct matrix *restrict m, double *restrict to,
                       const double *restrict x) {
  for (int i = 0; i < m->rows; i++)
    to[i] = dot(m, i, x);
}

APART static void checked(int n, int limit, double *restrict x) {
  for (int i = 0; i < n; i++) {
    assert(i < limit);
    x[i] = square(x[i]);
  }
}

// CHECK-DAG: calls.c:[[@LINE+2]]:{{.*}} loop nest not offloaded:{{.*}} calls
APART static void stays(int n, double *restrict x) {
  for (int i = 0; i < n; i++)
    x[i] = apart(x[i]);
}

// CHECK-DAG: calls.c:[[@LINE+2]]:{{.*}} loop nest not offloaded:{{.*}} calls
APART static void recursive(int n, double *restrict x) {
  for (int i = 0; i < n; i++)
    x[i] = even(i, x[i]);
}

/* The call of the outer loop has an effect; the inner loop is free of it. */
APART static void inner(int n, double *restrict x) {
  for (int i = 0; i < 3; i++) {
    x[i] = counted(x[i]);
    for (int j = 0; j < n; j++)
      x[j + 3] = distance(x[j + 3], i);
  }
}

int main(void) {
  FILL(a);
  FILL(b);
  struct matrix to = {opaque(29), 30, a}, from = {29, opaque(30), b};
  accessors(&to, &from);
  SHOW(a);
  rows(&from, c, a);
  SHOW(c);
  checked(opaque(700), opaque(800), c);
  stays(opaque(800), b);
  recursive(opaque(20), b);
  SHOW(b);
  inner(opaque(800), c);
  SHOW(c);
  return 0;
}
