/* Kernels of so few threads that memory is not kept busy have the loads of
 * sixteen iterations under way. With more threads they have enough; short loops are
 * left to LLVM, and so are those that write: no load passes a store.
 * RUN: %pacc_cc -mllvm -polly-acc-arch=sm_90 -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2>&1 | FileCheck %s
 * CHECK-LABEL: .entry few_rows_scop
 * CHECK-COUNT-16: ld.global.nc.b64
 * CHECK-NOT: ld.global.nc.b64
 * CHECK-LABEL: .entry many_rows_scop
 * CHECK-COUNT-10: ld.global.nc.b64
 * CHECK-NOT: ld.global.nc.b64
 * CHECK-LABEL: .entry short_rows_scop
 * CHECK-COUNT-9: ld.global.nc.b64
 * CHECK-NOT: ld.global.nc.b64
 * CHECK-LABEL: .entry written_rows_scop
 * CHECK-COUNT-3: ld.global.nc.b64
 * CHECK-NOT: ld.global.nc.b64
 */
void few_rows(double a[restrict 1000][1000], double *restrict s) {
  for (int i = 0; i < 1000; i++)
    for (int j = 0; j < 1000; j++)
      s[i] += a[i][j];
}

void many_rows(double a[restrict 90000][1000], double *restrict s) {
  for (int i = 0; i < 90000; i++)
    for (int j = 0; j < 1000; j++)
      s[i] += a[i][j];
}

void short_rows(int n, double a[restrict 1000][60], double *restrict s) {
  for (int i = 0; i < 1000; i++)
    for (int j = 0; j < n; j++)
      s[i] += a[i][j];
}

void written_rows(double a[restrict 1000][1000], double b[restrict 1000][1000]) {
  for (int i = 0; i < 1000; i++)
    for (int j = 1; j < 1000; j++)
      a[i][j] = a[i][j - 1] + b[i][j];
}
