/* -g gives kernels line tables, of statements and of what was inlined into
 * them, and changes nothing else.
 * RUN: %pacc_cc -mllvm -polly-acc-dump-kernel-asm -g -c %s -o %t.o 2> %t.ptx
 * RUN: FileCheck %s < %t.ptx
 * RUN: %pacc_cc -mllvm -polly-acc-dump-kernel-asm -gline-tables-only -c %s -o %t.o 2> %t.tables
 * RUN: diff %t.ptx %t.tables
 * RUN: %pacc_cc -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2> %t.plain
 * RUN: sed -E '/^[[:blank:]]\.(loc|file|section)/d; /^\$L__(tmp|func)/d; /^$/d' %t.ptx > %t.stripped
 * RUN: sed '/^$/d' %t.plain > %t.expected
 * RUN: diff %t.stripped %t.expected
 * Remarks alone make no lines.
 * RUN: %pacc_cc -mllvm -polly-acc-dump-kernel-asm -Rpass=nothing -c %s -o %t.o 2> %t.remarks
 * RUN: diff %t.plain %t.remarks
 * And in machine code:
 * RUN: %if ptxas %{ %ptxas -arch=sm_90 -lineinfo %t.ptx -o %t.cubin %}
 * RUN: %if ptxas %{ %llvm-dwarfdump --debug-line %t.cubin | FileCheck --check-prefix=TABLE %s %}
 */
#include "Inputs/square.h"

enum { N = 1000 };
double a[N], b[N], c[N], A[N][N], B[N][N];

/* CHECK-LABEL: .entry scale_scop0_kernel0(
 * CHECK: .loc 1 [[#@LINE + 8]] 3
 * CHECK: .loc 1 [[#@LINE + 9]]
 * CHECK: ld.global
 * CHECK: .loc 2 2
 * CHECK: .loc 1 [[#@LINE + 5]]
 * CHECK: st.global
 */
void scale(int n) {
  for (int i = 0; i < n; i++)
    a[i] *=
        square(b[i]);
}

/* A statement with control flow of its own.
 * CHECK-LABEL: .entry choose_scop1_kernel0(
 * CHECK: .loc 1 [[#@LINE + 7]]
 * CHECK: ld.global
 * CHECK: .loc 1 [[#@LINE + 7]]
 * CHECK: st.global
 */
void choose(int n) {
  for (int i = 0; i < n; i++)
    if (c[i] * c[i] >
        2)
      b[i] = a[i] * 3;
}

static void copy(int i, int n) {
  for (int j = 0; j < n; j++)
    A[i][j] =
        B[j][i];
}

/* CHECK-LABEL: .entry transpose_scop2_kernel0(
 * CHECK: .loc 1 [[#@LINE - 4]]
 * CHECK: ld.global
 * CHECK: .loc 1 [[#@LINE - 7]]
 * CHECK: st.global
 */
void transpose(int n) {
  for (int i = 0; i < n; i++)
    copy(i, n);
}

/* CHECK: .file 1 "{{.*}}lines.c"
 * CHECK: .file 2 "{{.*}}square.h"
 *
 * TABLE: "lines.c"
 * TABLE: "square.h"
 * TABLE: {{0x[0-9a-f]+}} {{[1-9]}}
 */
