/* C++: vectors, arrays, templates, references, lambdas, range loops and
 * algorithms are the loops that they are in C, once what they call is inlined.
 * That no checked access fails is tested before the region. What is no affine
 * loop stays: vectors of vectors (each row is a region of its own), and checks
 * whose failure is caught.
 * RUN: %same --clang %clangxx %t %s | FileCheck %s
 * CHECK-DAG: offloaded region '{{.*}}scale
 * CHECK-DAG: offloaded region '{{.*}}axpy
 * CHECK-DAG: offloaded region '{{.*}}range
 * CHECK-DAG: offloaded region '{{.*}}transpose
 * CHECK-DAG: offloaded region '{{.*}}fixed
 * CHECK-DAG: offloaded region '{{.*}}each_index
 * CHECK-DAG: offloaded region '{{.*}}multiply{{.*}}': {{[0-9]+ kernels?}}, 3 arrays
 * CHECK-DAG: offloaded region '{{.*}}fill
 * CHECK-DAG: offloaded region '{{.*}}accumulate
 * CHECK-DAG: offloaded region '{{.*}}nested
 * CHECK-DAG: offloaded region '{{.*}}within
 * CHECK-DAG: cxx.cpp:92:{{.*}}loop nest not offloaded
 */
#include "Inputs/show.h"
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

using Vector = std::vector<double>;

APART static void scale(Vector &v, double by) {
  double *data = v.data();
  const int n = (int)v.size();
  for (int i = 0; i < n; i++)
    data[i] *= by;
}

APART static void axpy(Vector &y, const Vector &x, double a) {
  for (std::size_t i = 0; i < y.size(); i++)
    y[i] += a * x[i];
}

APART static void range(std::vector<int> &v) {
  for (int &e : v)
    e = e * 3 + 1;
}

template <typename T, int Rows, int Columns>
APART void transpose(T (&to)[Columns][Rows], const T (&from)[Rows][Columns]) {
  for (int i = 0; i < Rows; i++)
    for (int j = 0; j < Columns; j++)
      to[j][i] = from[i][j];
}

APART static void fixed(std::array<float, 500> &a, const std::array<float, 500> &b) {
  for (std::size_t i = 0; i < a.size(); i++)
    a[i] += b[i];
}

template <typename F> static void each_index(int n, F f) {
  for (int i = 0; i < n; i++)
    f(i);
}

struct Matrix {
  int rows, columns;
  Vector data;
  double &operator()(int i, int j) { return data[i * columns + j]; }
  const double &operator()(int i, int j) const { return data[i * columns + j]; }
};

APART static void multiply(Matrix &c, const Matrix &a, const Matrix &b) {
  for (int i = 0; i < c.rows; i++)
    for (int j = 0; j < c.columns; j++) {
      double s = 0;
      for (int k = 0; k < a.columns; k++)
        s += a(i, k) * b(k, j);
      c(i, j) = s;
    }
}

APART static void nested(std::vector<Vector> &v) {
  for (std::size_t i = 0; i < v.size(); i++)
    for (std::size_t j = 0; j < v[i].size(); j++)
      v[i][j] += i * j;
}

APART static void within(Vector &v, const Vector &w, int n) {
  for (int i = 0; i < n; i++)
    v.at(i) += w.at(i);
}

APART static void checked(Vector &v, int n) {
  try {
    for (int i = 0; i < n; i++)
      v.at(i) += 1;
  } catch (...) {
  }
}

static void show(const char *name, const Vector &v) {
  show(name, v.data(), v.size() * sizeof v[0]);
}

int main() {
  int n = opaque(500);
  Vector v(n), w(n);
  fill(v.data(), n);
  fill(w.data(), n);
  scale(v, 1.5);
  show("scale", v);
  axpy(v, w, 2.0);
  show("axpy", v);
  std::vector<int> k(n, 3);
  k[7] = 5;
  range(k);
  show("range", k.data(), n * sizeof k[0]);
  static double from[30][20], to[20][30];
  FILL(from);
  transpose(to, from);
  SHOW(to);
  std::array<float, 500> a, b;
  a.fill(1.25f);
  b.fill(0.5f);
  b[3] = 7.0f;
  fixed(a, b);
  show("fixed", a.data(), sizeof a);
  double *to_v = v.data();
  const double *from_w = w.data();
  double t = opaque(3);
  each_index(n, [&](int i) { to_v[i] = from_w[i] * t + i; });
  show("lambda", v);
  Matrix A{20, 30, Vector(600)}, B{30, 25, Vector(750)}, C{20, 25, Vector(500)};
  fill(A.data.data(), 600);
  fill(B.data.data(), 750);
  multiply(C, A, B);
  show("multiply", C.data);
  printf("%d\n", std::accumulate(k.begin(), k.end(), 0));
  std::fill(w.begin(), w.end(), 2.5);
  show("fill", w);
  std::vector<Vector> rows(2, Vector(20, 0.5));
  nested(rows);
  show("nested", rows[1]);
  within(v, w, n);
  show("within", v);
  checked(v, n + 1);
  show("checked", v);
  return 0;
}
