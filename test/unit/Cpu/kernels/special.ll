; special.ll: what C can't say: limits of block sizes, inline assembly, constants
; that hold shared addresses, functions that only libdevice has.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x i32] undef, align 4
@bytes = internal addrspace(3) global [8 x i8] undef, align 1
@text = private unnamed_addr constant [20 x i8] c"__CUDA_PREC_SQRT\00abc", align 1
@flush = private unnamed_addr constant [11 x i8] c"__CUDA_FTZ\00", align 1
@alias = alias i32, ptr addrspace(1) @aliased
@aliased = addrspace(1) global i32 42, align 4
@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @aliased to ptr)], section "llvm.metadata"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @__nvvm_reflect(ptr)
declare double @llvm.fmuladd.f64(double, double, double)
declare double @__nv_nothing_like_it(double)
declare void @llvm.trap()
declare void @llvm.nvvm.tensormap.replace.rank.p1(ptr addrspace(1), i32)

define ptx_kernel void @fixed_block(ptr %out) "nvvm.reqntid"="32,2,1" {
  store i32 1, ptr %out, align 4
  ret void
}

define ptx_kernel void @small_block(ptr %out) "nvvm.maxntid"="128" {
  store i32 1, ptr %out, align 4
  ret void
}

; A shared address in a constant expression, in a phi and in a select.
define ptx_kernel void @constants(ptr %out, i32 %which) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = zext i32 %tid to i64
  %slot = getelementptr i32, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 %at
  store i32 %tid, ptr %slot, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  switch i32 %which, label %other [
    i32 0, label %join
    i32 1, label %join
  ]
other:
  br label %join
join:
  %p = phi ptr addrspace(3) [ getelementptr (i8, ptr addrspace(3) @tile, i64 4), %entry ],
                            [ getelementptr (i8, ptr addrspace(3) @tile, i64 4), %entry ],
                            [ getelementptr (i8, ptr addrspace(3) @tile, i64 8), %other ]
  %read = load i32, ptr addrspace(3) %p, align 4
  %number = add i64 ptrtoint (ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @tile, i64 12) to i64), 0
  %back = inttoptr i64 %number to ptr addrspace(3)
  %third = load i32, ptr addrspace(3) %back, align 4
  %both = shl i32 %third, 8
  %value = or i32 %both, %read
  %to = getelementptr i32, ptr %out, i64 %at
  store i32 %value, ptr %to, align 4
  ret void
}

define ptx_kernel void @assembly(ptr %out, i32 %x, i32 %y, i64 %l, double %d) {
  %shift = call i32 asm "bfind.shiftamt.u32 $0, $1;", "=r,r"(i32 %x)
  store i32 %shift, ptr %out, align 4
  %lanes = call i32 asm "mov.u32 $0, %lanemask_lt;", "=r"()
  %o1 = getelementptr i32, ptr %out, i64 1
  store i32 %lanes, ptr %o1, align 4
  %mad = call { i32, i32 } asm "{\0A\09mad.lo.cc.u32   $0, $2, $3, $4;\0A\09madc.hi.u32     $1, $2, $3,  0;\0A\09}", "=r,=r,r,r,r"(i32 %x, i32 %y, i32 7)
  %low = extractvalue { i32, i32 } %mad, 0
  %high = extractvalue { i32, i32 } %mad, 1
  %o2 = getelementptr i32, ptr %out, i64 2
  store i32 %low, ptr %o2, align 4
  %o3 = getelementptr i32, ptr %out, i64 3
  store i32 %high, ptr %o3, align 4
  call void asm sideeffect "", "~{memory}"()
  %sub = call double asm "sub.rp.f64 $0, $1, $2;", "=d,d,d"(double %d, double 1.000000e-30)
  %o4 = getelementptr double, ptr %out, i64 2
  store double %sub, ptr %o4, align 8
  ret void
}

define ptx_kernel void @reflect(ptr %out) {
  %sqrt = call i32 @__nvvm_reflect(ptr @text)
  %ftz = call i32 @__nvvm_reflect(ptr @flush)
  %plus = mul i32 %sqrt, 10
  %both = add i32 %plus, %ftz
  store i32 %both, ptr %out, align 4
  %v = load i32, ptr addrspacecast (ptr addrspace(1) @alias to ptr), align 4
  %o1 = getelementptr i32, ptr %out, i64 1
  store i32 %v, ptr %o1, align 4
  ret void
}

; A multiplication and an addition that may be fused, and need not be.
define ptx_kernel void @muladd(ptr %out, double %a, double %b, double %c) {
  %r = call double @llvm.fmuladd.f64(double %a, double %b, double %c)
  store double %r, ptr %out, align 8
  %p = fmul contract double %a, %b
  %s = fadd contract double %p, %c
  %o1 = getelementptr double, ptr %out, i64 1
  store double %s, ptr %o1, align 8
  ret void
}

define ptx_kernel void @unknown_assembly(ptr %out, i32 %reach) {
  %is = icmp ne i32 %reach, 0
  br i1 %is, label %yes, label %no
yes:
  %r = call i32 asm sideeffect "made.up.u32 $0, $1;", "=r,r"(i32 %reach)
  store i32 %r, ptr %out, align 4
  br label %no
no:
  ret void
}

define ptx_kernel void @unknown_function(ptr %out) {
  %r = call double @__nv_nothing_like_it(double 1.000000e+00)
  store double %r, ptr %out, align 8
  ret void
}

define ptx_kernel void @unknown_intrinsic(ptr addrspace(1) %out) {
  call void @llvm.nvvm.tensormap.replace.rank.p1(ptr addrspace(1) %out, i32 1)
  ret void
}

; Lanes of a masked vector, each its own access.
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, <4 x i1>)
define ptx_kernel void @masked(ptr %in, ptr %out, <4 x i32> %flags) {
  %mask = icmp ne <4 x i32> %flags, zeroinitializer
  %v = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr align 4 %in, <4 x i1> %mask, <4 x i32> zeroinitializer)
  %w = add <4 x i32> %v, splat (i32 1)
  call void @llvm.masked.store.v4i32.p0(<4 x i32> %w, ptr align 4 %out, <4 x i1> %mask)
  ret void
}

define ptx_kernel void @trap() {
  call void @llvm.trap()
  unreachable
}
