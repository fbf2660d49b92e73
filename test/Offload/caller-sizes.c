/* Blocks are chosen for the sizes that the program's calls show, and the code
 * runs with any others.
 *
 * RUN: %clang -O3 -fno-discard-value-names -Xclang -disable-llvm-passes -S -emit-llvm %s -o - | %pacc_opt -disable-output -passes='print<polly-acc-blocks<block-size=32x8;ptxas=off>>' 2>&1 | FileCheck %s
 * RUN: %pacc_cc -S -emit-llvm %s -o - | FileCheck %s --check-prefix=BOUND
 */

/* Variables of the callers, calls that pass sizes on; the largest of several.
 * CHECK-DAG: kernel add_scop{{.*}}: 500 x 3000 threads
 * BOUND-LABEL: define {{.*}} @add(
 * BOUND-NOT: 3000
 * BOUND: call fastcc i1 @add.offload(
 */
__attribute__((noinline)) static void
add(int n, long m, double a[restrict][600], double b[restrict][600]) {
  for (int i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      a[i][j] += b[i][j];
}

static void pass(int rows, double a[restrict][600], double b[restrict][600]) {
  add(rows, 500, a, b);
}

/* Of a function that others may call, small sizes say nothing.
 * CHECK-DAG: kernel open_scop{{.*}}: 3000 x 1000 threads
 */
__attribute__((noinline)) void open(int n, int m, double a[restrict][4000]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = i;
}

/* Nor does what changes, or what others may write.
 * CHECK-DAG: kernel changing_scop{{.*}}: 1000 threads
 */
__attribute__((noinline)) static void changing(int n, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] = 2 * i;
}

/* Calls in a circle pass the size on.
 * CHECK-DAG: kernel again_scop{{.*}}: 2000 threads
 */
__attribute__((noinline)) static void again(int n, int times,
                                            double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] = 3 * i;
  if (times > 0) {
    again(n, times - 1, a);
    again(n, times - 2, a);
  }
}

int read_size(int *);
void caller(double a[restrict][600], double b[restrict][600]) {
  int few = 2000, rows = 3000, changed = 5000, read = 4000;
  add(few, 20, a, b);
  pass(rows, a, b);
  open(20, 3000, (void *)a);
  changing(changed, a[0]);
  changed = 100;
  changing(changed, a[0]);
  read_size(&read);
  changing(read, a[0]);
  int itself = itself;
  changing(itself, a[0]);
  again(2000, 5, a[0]);
}

/* A size that nobody passes.
 * CHECK-DAG: kernel alone_scop{{.*}}: 1000 threads
 */
void alone(int n, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] = i;
}
