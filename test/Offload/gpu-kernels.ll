; Kernels of a GPU's module, whoever wrote them: occupancy and accesses.
; RUN: %pacc_opt -passes='print<polly-acc-blocks<ptxas=off>>' -disable-output %s 2>&1 | FileCheck %s
; RUN: %pacc_opt -passes='polly-acc-blocks<ptxas=off>' -disable-output -pass-remarks-analysis=polly-acc-blocks %s 2>&1 | FileCheck %s --check-prefix=REMARK
; RUN: %if ptxas %{ env PACC_PTXAS=%ptxas %pacc_opt -passes='print<polly-acc-blocks>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=EXACT %}
; RUN: %pacc_opt -passes='polly-acc-blocks' -S %s -o %t.ll
; RUN: %opt -S %s -o - | cmp - %t.ll

; CHECK-LABEL: kernel walks: {{[0-9]+}} registers (estimated), 4096 bytes of shared memory; blocks of 256 threads: {{[0-9]+}} per SM, {{[0-9]+}} of 64 warps, limited by
; CHECK-NEXT: load of 4 bytes: contiguous, 4 sectors per request
; CHECK-NEXT: load of 4 bytes: strided by 8 bytes, 8 sectors per request
; CHECK-NEXT: load of 4 bytes: uniform, 1 sectors per request
; CHECK-NEXT: load of 4 bytes: gather (complex), 32 sectors per request
; CHECK-NEXT: store of 4 bytes: strided by 4000 bytes (complex), 32 sectors per request
; CHECK-LABEL: kernel free: {{[0-9]+}} registers (estimated); most active warps with blocks of {{.*}}256{{.*}} threads: 64 of 64 warps
; REMARK: kernel 'walks': {{[0-9]+}} registers
; REMARK: load of 4 bytes: contiguous
; EXACT: kernel walks: {{[0-9]+}} registers (ptxas)
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@tile = internal addrspace(3) global [1024 x float] zeroinitializer

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @walks(ptr %a, ptr %b) #0 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %cn = mul i32 %c, %n
  %i = add i32 %cn, %t
  %wide = zext i32 %i to i64
  %p = getelementptr float, ptr %a, i64 %wide
  %x = load float, ptr %p
  %twice = shl i32 %i, 1
  %w2 = zext i32 %twice to i64
  %p2 = getelementptr float, ptr %a, i64 %w2
  %x2 = load float, ptr %p2
  %w3 = zext i32 %cn to i64
  %p3 = getelementptr float, ptr %a, i64 %w3
  %x3 = load float, ptr %p3
  %index = fptosi float %x to i64
  %p4 = getelementptr float, ptr %a, i64 %index
  %x4 = load float, ptr %p4
  %slot = getelementptr [1024 x float], ptr addrspace(3) @tile, i32 0, i32 %t
  store float %x4, ptr addrspace(3) %slot
  %s1 = fadd float %x2, %x3
  %s2 = fadd float %s1, %x4
  %row = mul i32 %t, 1000
  %w5 = zext i32 %row to i64
  %p5 = getelementptr float, ptr %b, i64 %w5
  store float %s2, ptr %p5
  ret void
}

define ptx_kernel void @free(ptr %a) #1 {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %p = getelementptr double, ptr %a, i64 %w
  store double 1.0, ptr %p
  ret void
}

attributes #0 = { "nvvm.reqntid"="256" "target-cpu"="sm_90" }
attributes #1 = { "target-cpu"="sm_90" }
