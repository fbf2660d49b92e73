/* print<polly-acc-blocks>: accesses with known answers. Blocks are fixed, so
 * that nothing depends on the ranking.
 *
 * DEFINE: %{ir} = %clang -O3 -fno-discard-value-names -Xclang -disable-llvm-passes -S -emit-llvm %s -o -
 * DEFINE: %{print} = %pacc_opt -disable-output -passes
 * RUN: %{ir} | %{print}='print<polly-acc-blocks<block-size=32x8;ptxas=off>>' 2>&1 | FileCheck %s
 */

/* One dimension keeps the threads of the shape: 256. Lanes are a row apart.
 * CHECK-LABEL: kernel row_walk_scop{{.*}}: 1000 threads, 1000 iterations each, {{[0-9]+}} registers (estimated)
 * CHECK-NEXT: block 256 (option)
 * CHECK-NEXT: complex access: yes, synchronization: no
 * CHECK-NEXT: read a: strided by 8000 bytes (complex), 32 sectors per request, 1000 times per thread, {{.*}} reuse 0.25 by threads, 4 by the loop
 */
void row_walk(double a[restrict 1000][1000], double *restrict s) {
  for (int i = 0; i < 1000; i++)
    for (int j = 0; j < 1000; j++)
      s[i] += a[i][j];
}

/* Neighbours are next to each other; every iteration brings new sectors.
 * CHECK-LABEL: kernel column_walk_scop
 * CHECK: complex access: no
 * CHECK: read a: contiguous, 8 sectors per request, 1000 times per thread, {{.*}} reuse 1 by threads, 1 by the loop
 */
void column_walk(double a[restrict 1000][1000], double *restrict s) {
  for (int i = 0; i < 1000; i++)
    for (int j = 0; j < 1000; j++)
      s[i] += a[j][i];
}

/* 8 rows of 32 columns: all 256 threads ask for 8 values, 32 each.
 * CHECK-LABEL: kernel broadcast_scop{{.*}}: 1024 x 1024 threads
 * CHECK-NEXT: block 32x8 (option)
 * CHECK: read b: uniform, 1 sectors per request, 1 times per thread, {{.*}} reuse 32 by threads
 * CHECK: write a: contiguous, 8 sectors per request
 */
void broadcast(double a[restrict 1024][1024], double *restrict b) {
  for (int i = 0; i < 1024; i++)
    for (int j = 0; j < 1024; j++)
      a[i][j] = b[i];
}

/* Points of a stencil, of which those to the side begin in another sector.
 * CHECK-LABEL: kernel stencil_scop
 * CHECK-COUNT-2: read b: contiguous, 9 sectors per request
 * CHECK: write a: contiguous
 */
void stencil(double a[restrict 1024][1024], double b[restrict 1024][1024]) {
  for (int i = 0; i < 1024; i++)
    for (int j = 4; j < 1020; j++)
      a[i][j] = b[i][j + 1] + b[i][j - 1];
}

/* Iterations are counted as if every row were as long as the longest.
 * CHECK-LABEL: kernel triangular_scop
 * CHECK: read a: strided by 4096 bytes (complex), 32 sectors per request, 511 times per thread
 */
void triangular(float a[restrict 1024][1024], float *restrict s) {
  for (int i = 0; i < 512; i++)
    for (int j = 0; j < i; j++)
      s[i] += a[i][j];
}

/* The rows of one are the columns of the other.
 * CHECK-LABEL: kernel transposed_scop
 * CHECK: complex access: yes
 * CHECK-DAG: read b: strided by 8192 bytes (complex), 32 sectors per request
 * CHECK-DAG: write a: contiguous, 8 sectors per request
 */
void transposed(double a[restrict 1024][1024], double b[restrict 1024][1024]) {
  for (int i = 0; i < 1024; i++)
    for (int j = 0; j < 1024; j++)
      a[i][j] = b[j][i];
}

/* A remainder is no constant apart from lane to lane.
 * CHECK-LABEL: kernel modulo_scop
 * CHECK: complex access: yes
 * CHECK: read b: gather (complex), 32 sectors per request
 */
void modulo(double *restrict a, double *restrict b) {
  for (int i = 0; i < 1024; i++)
    a[i] = b[i % 7];
}

/* Two nests in one kernel: as in each by itself.
 * CHECK-LABEL: kernel fused_scop{{.*}}_kernel0: 1024 x 1024 threads
 * CHECK-COUNT-8: {{(read|write) [abc]: contiguous}}
 * CHECK-LABEL: kernel fused_scop{{.*}}_kernel1
 */
void fused(double a[restrict 1024][1024], double b[restrict 1024][1024],
           double c[restrict 1024][1024]) {
  for (int t = 0; t < 100; t++) {
    for (int i = 1; i < 1024; i++)
      for (int j = 0; j < 1024; j++)
        a[i][j] -= c[i][j] - c[i - 1][j];
    for (int i = 0; i < 1024; i++)
      for (int j = 1; j < 1024; j++)
        b[i][j] -= c[i][j] - c[i][j - 1];
    for (int i = 0; i < 1023; i++)
      for (int j = 0; j < 1023; j++)
        c[i][j] -= a[i + 1][j] + b[i][j + 1];
  }
}

/* All candidates, with every term of their score.
 * RUN: %{ir} | %{print}='print<polly-acc-blocks<ptxas=off>>' 2>&1 | FileCheck %s --check-prefix=TABLE
 * TABLE: shape time issue l1 l2 dram latency start warps limit sectors waves tail
 * TABLE-NEXT: {{^ +[0-9x]+( +[0-9.e+-]+){7} +[0-9]+/64 +[a-z, ]+( +[0-9.e+-]+){3}$}}
 * TABLE: kernel column_walk
 *
 * The remark names choice, reason and runner-up; the record has all the rest.
 * RUN: %pacc_cc -mllvm -polly-acc-ptxas=off -c %s -o %t.o -Rpass-analysis=polly-acc-blocks -fsave-optimization-record -foptimization-record-file=%t.yaml 2>&1 | FileCheck %s --check-prefix=REMARK
 * REMARK: blocks.c:[[#]]:{{.*}} remark: kernel 'row_walk_scop{{.*}}': block {{[0-9]+}} (auto): {{.*}} us, bound by {{[a-z0-9]+}}, {{[0-9]+}} of 64 warps ({{[a-z, ]+}}); next {{[0-9]+}}, {{.*}} us, bound by {{[a-z0-9]+}}; {{[0-9]+}} registers (estimated); complex access [-Rpass-analysis=polly-acc-blocks]
 * RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml
 * YAML: Pass: polly-acc-blocks
 * YAML-NEXT: Name: Block
 * YAML: - Kernel: row_walk_scop
 * YAML: - Access: 'read
 * YAML: - Candidate: '{{[0-9]+}} {{.*}}'
 *
 * RUN: %pacc_opt -disable-output -passes='print<polly-acc-blocks<block-size=8x4>>' -print-pipeline-passes < /dev/null | FileCheck %s --check-prefix=PIPELINE
 * PIPELINE: print<polly-acc-blocks<block-size=8x4>>
 */
