/* What messages call arrays: variables' names with -g, else where they are from.
 * RUN: %clang -O3 -fno-math-errno -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
 * RUN: %pacc_opt -passes='print<polly-acc-kernels>' -disable-output %t.ll 2>&1 | FileCheck %s
 * RUN: %clang -g -O3 -fno-math-errno -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
 * RUN: %pacc_opt -passes='print<polly-acc-kernels>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=DEBUG
 * CHECK: region f_scop0
 * CHECK-DAG: array arg 2 of f in out
 * CHECK-DAG: array result of malloc out
 * CHECK-DAG: array arg 3 of f in
 * CHECK-DAG: array table in
 * CHECK: array *arg 1 of g out
 * DEBUG: region f_scop0
 * DEBUG-DAG: array x in out
 * DEBUG-DAG: array work out
 * DEBUG-DAG: array y in
 * DEBUG-DAG: array table in
 * DEBUG: array *rows out
 */
#include <stdlib.h>

static double table[100];

void f(int n, double *restrict x, const double *restrict y) {
  double *work = malloc((size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    work[i] = x[i] + 1;
    x[i] = y[i] * 2 + table[i];
  }
  free(work);
}

void g(double **rows, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      rows[1][i + j] = rows[0][i] + j;
}
