/* Loops of launches as one kernel each: the results are those of the host, with
 * blocks that wait for each other on several threads, in any order; the log
 * names the launches that the kernel stands for.
 * RUN: %pacc_cc -mllvm -polly-acc-fma=off -mllvm -polly-acc-persistent=always -mllvm -polly-acc-block-size=8x2 -mllvm -polly-acc-dump-kernel-asm -Rpass-analysis=polly-acc %s -o %t %rtlib 2> %t.remarks
 * RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
 * REMARK-DAG: a loop of launches of 4 kernels can run as one kernel, with a barrier before 4 of them [-Rpass-analysis=polly-acc]
 * REMARK-DAG: a loop of launches of {{[0-9]+}} kernels stays on the host: it updates elements in any order
 * RUN: env PACC_DEVICE=host %t > %t.host
 * RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=0 %t > %t.out
 * RUN: cmp %t.host %t.out
 * RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=1 PACC_CPU_THREADS=3 PACC_LOG=launch %t > %t.out 2> %t.log
 * RUN: cmp %t.host %t.out
 * RUN: FileCheck %s --input-file=%t.log
 * RUN: not grep 'launch shortest_scop.*_kernel' %t.log
 * CHECK: shortest_scop{{[0-9]+}}: one kernel runs the loop of shortest_scop{{[0-9]+}}_kernel0 {{.*}}_kernel3{{$}}
 * CHECK-NEXT: launch shortest_scop{{[0-9]+}}_loop0, grid 3x1x1, block 8x2x1,
 * CHECK: shortest_scop{{.*}}: 1 launch,
 * CHECK: sweep_scop{{.*}}: 1 launch,
 * CHECK: launch sums_scop{{[0-9]+}}_kernel
 *
 * The CPU device launches at no cost: by itself the runtime leaves the loops
 * alone, and without the option there is no kernel for them.
 * RUN: %pacc_cc -mllvm -polly-acc-fma=off -mllvm -polly-acc-persistent=auto %s -o %t %rtlib
 * RUN: env PACC_DEVICE=cpu PACC_LOG=launch %t > %t.out 2> %t.log
 * RUN: cmp %t.host %t.out
 * RUN: FileCheck %s --check-prefix=AUTO --input-file=%t.log
 * AUTO-NOT: _loop
 * AUTO: launch shortest_scop{{[0-9]+}}_kernel3
 * AUTO-NOT: _loop
 * RUN: env PACC_DEVICE=cpu PACC_LOG=launch PACC_PERSISTENT=always %t > %t.out 2> %t.log
 * RUN: cmp %t.host %t.out
 * RUN: grep 'launch shortest_scop.*_loop0' %t.log
 * RUN: %pacc_cc -mllvm -polly-acc-persistent=off -mllvm -polly-acc-ptxas=off -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2> %t.ptx
 * RUN: FileCheck %s --check-prefix=OFF --input-file=%t.ptx
 * OFF-NOT: _loop0
 *
 * RUN: not %pacc_cc -mllvm -polly-acc-persistent=maybe -c %s -o %t.o 2> %t.bad
 * RUN: FileCheck %s --check-prefix=BAD --input-file=%t.bad
 * BAD: invalid value 'maybe' of option 'persistent', expected auto, always or off
 *
 * Fences stand around the atomic operation and the wait, barriers of the block
 * around them.
 * RUN: FileCheck %s --check-prefix=PTX --input-file=%t.remarks
 * PTX: .entry shortest_scop{{[0-9]+}}_loop0(
 * PTX: bar.sync
 * PTX: fence.acq_rel.gpu
 * PTX: atom{{.*}}.add.u32
 * PTX: ld.relaxed.gpu{{.*}}.b32
 * PTX: fence.acq_rel.gpu
 * PTX: bar.sync
 */
#include "Inputs/show.h"

enum { N = 33, STEPS = 3 };

APART static void shortest(int n, double path[restrict N][N]) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double over = path[i][k] + path[k][j];
        path[i][j] = path[i][j] < over ? path[i][j] : over;
      }
}

/* Loops of the host within a loop of the host, which may run no time at all. */
APART static void sweep(int n, int steps, double u[restrict N][N],
                        double v[restrict N][N]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n; j++)
        u[i][j] = 0.5 * (u[i - 1][j] + v[i][j]);
    for (int i = n - 2 - t % 2; i >= 0; i--)
      for (int j = 0; j < n; j++)
        v[i][j] = 0.25 * (v[i + 1][n - 1 - j] + u[i][j]);
  }
}

APART static void sums(int n, int steps, long a[restrict N],
                       long s[restrict N]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      a[i] = 3 * a[i] + s[t];
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++)
        s[(t + 1) % N] += a[i] ^ a[j];
  }
}

int main(void) {
  static double path[N][N], u[N][N], v[N][N];
  static long a[N], s[N];
  FILL(path);
  FILL(u);
  FILL(v);
  for (int i = 0; i < N; i++)
    a[i] = i;
  shortest(opaque(N), path);
  sweep(opaque(N), opaque(STEPS), u, v);
  sweep(opaque(1), opaque(STEPS), u, v);
  sums(opaque(N), opaque(STEPS), a, s);
  SHOW(path);
  SHOW(u);
  SHOW(v);
  SHOW(a);
  SHOW(s);
  return 0;
}
