/* Every nest has a remark: what became of it, or why it was left alone.
 * RUN: %pacc_cc -g -Rpass=polly-acc -Rpass-missed=polly-acc -c %s -o %t.o 2>&1 | FileCheck %s
 * RUN: %pacc_cc -g -fsave-optimization-record -foptimization-record-file=%t.yaml -c %s -o %t.o
 * RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml
 * RUN: %llvm-remarkutil count --pass-name=polly-acc --group-by=function --parser=yaml %t.yaml \
 * RUN:   | FileCheck %s --check-prefix=COUNT
 */

void unknown(double *);

// CHECK-DAG: remarks.c:[[#@LINE+7]]:{{.*}}offloaded region 'good_scop[[#]]': 1 kernel, 1 array 
// CHECK-DAG: kernel 'good_scop[[#]]_kernel0': 1-dimensional grid
// YAML-DAG: Name:{{ *}}Offloaded
// YAML-DAG: Name:{{ *}}NotOffloaded
// YAML-DAG: Name:{{ *}}NotAffine
// COUNT-DAG: good,2
void good(int n, double *a) {
  for (int i = 0; i < n; i++)
    a[i] *= 2.0;
}

// CHECK-DAG: remarks.c:[[#@LINE+2]]:{{.*}}loop nest not offloaded: it has no parallel loop [-Rpass-missed
void sequential(int n, double *a) {
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1] * 0.5 + a[i];
}

// CHECK-DAG: remarks.c:[[#@LINE+2]]:{{.*}}loop nest not offloaded: {{.*}}it calls the unknown function 'unknown'
void calls(int n, double *a) {
  for (int i = 0; i < n; i++)
    unknown(a + i);
}

// CHECK-DAG: remarks.c:[[#@LINE+2]]:{{.*}}loop nest not offloaded: {{.*}}not affine: failed to derive an affine function from the loop bounds (line [[#@LINE+2]])
void squares(int n, double *a) {
  for (int i = 0; i * i < n; i++)
    a[i * i] = 1.0;
}

// CHECK-DAG: remarks.c:[[#@LINE+3]]:{{.*}}loop nest not offloaded: it has no parallel loop; the order of a floating-point sum or product is kept: -ffast-math
double sum(int n, const double *a, const double *b) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i] * b[i];
  return s;
}

// CHECK-DAG: remarks.c:[[#@LINE+6]]:{{.*}}loop nest not offloaded: it calls the function 'scale', which has offloaded loops of its own
__attribute__((noinline)) static void scale(int n, double *a) {
  for (int i = 0; i < n; i++)
    a[i] *= 2.0;
}
void scales(int n, double *a) {
  for (int i = 0; i < n; i++)
    scale(n, a);
}

// The loop over time is on the host and no loop that was left alone.
// CHECK-DAG: remarks.c:[[#@LINE+3]]:{{.*}}offloaded region 'steps_scop[[#]]': 2 kernels, 2 arrays
// COUNT-DAG: steps,5
void steps(int t, int n, double *restrict a, double *restrict b) {
  for (int k = 0; k < t; k++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < n - 1; i++)
      a[i] = b[i - 1] + b[i + 1];
  }
}
