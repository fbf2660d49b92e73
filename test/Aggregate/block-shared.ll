; The state of a block is in its shared memory. A kernel that has no more of it
; is merged over the grid.
;
; RUN: %pacc_opt -passes='print<polly-acc-agg-sites>' -polly-acc-agg=block -disable-output %s 2>&1 | %FileCheck %s
; RUN: sed 's/49152/40000/' %s | %pacc_opt -passes='print<polly-acc-agg-sites>' -polly-acc-agg=block -disable-output 2>&1 | %FileCheck %s --check-prefix=LESS
;
; CHECK: parent: launch of 'leaf', {{.*}} merged over the grid {{.*}}: a block has no shared memory left
; LESS: parent: launch of 'leaf', {{.*}} merged over the block {{.*}}: as asked for

target triple = "nvptx64-nvidia-cuda"
%dim3 = type { i32, i32, i32 }
@d = constant %dim3 { i32 1, i32 1, i32 1 }
@tile = internal addrspace(3) global [49152 x i8] undef
define ptx_kernel void @leaf() #0 {
  store i8 1, ptr addrspace(3) @tile
  ret void
}
define ptx_kernel void @parent() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}
declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)
attributes #0 = { convergent nounwind "target-cpu"="sm_90" }
