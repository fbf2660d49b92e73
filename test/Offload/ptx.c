/* The PTX that is embedded: entry points with the source function's name, the
 * chosen block, the asked-for architecture; ptxas takes it.
 * RUN: %pacc_cc -mllvm -polly-acc-block-size=32x4 -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2> %t.ptx
 * RUN: FileCheck %s --input-file=%t.ptx
 * CHECK: .target sm_90
 * CHECK: .visible .entry transpose_scop0_kernel0
 * CHECK: .{{req|max}}ntid 32, 4
 * CHECK-NOT: .extern .func
 * RUN: %if ptxas %{ %ptxas -arch=sm_90 %t.ptx -o %t.cubin %}
 * RUN: %pacc_cc -mllvm -polly-acc-arch=sm_75 -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2> %t.75.ptx
 * RUN: FileCheck %s --check-prefix=OLD --input-file=%t.75.ptx
 * OLD: .target sm_75
 * RUN: %if ptxas %{ %ptxas -arch=sm_75 %t.75.ptx -o %t.cubin %}
 *
 * Arrays are known to be in global memory, and what no thread writes is read
 * through the read-only path.
 * GLOBAL-NOT: {{ (ld|st)\.[bf]64}}
 * GLOBAL: ld.global.nc.b64
 * GLOBAL-NOT: {{ (ld|st)\.[bf]64}}
 * GLOBAL: st.global.b64
 * GLOBAL-NOT: {{ (ld|st)\.[bf]64}}
 * RUN: FileCheck %s --check-prefix=GLOBAL --input-file=%t.ptx
 *
 * Fusing: on unless asked for otherwise.
 * FUSED: fma.rn.f64
 * PLAIN-NOT: fma.rn.f64
 * PLAIN: mul.rn.f64
 * RUN: FileCheck %s --check-prefix=FUSED --input-file=%t.ptx
 * RUN: %pacc_cc -mllvm -polly-acc-fma=off -mllvm -polly-acc-dump-kernel-asm -c %s -o %t.o 2> %t.off.ptx
 * RUN: FileCheck %s --check-prefix=PLAIN --input-file=%t.off.ptx
 */
void transpose(int n, double (*restrict a)[512], double (*restrict b)[512]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i][j] * 1.5 + b[j][i];
}
