; With other-files, launches of kernels that are only declared here are merged,
; and each kernel that other files see gets an aggregated version: one that
; launches plainly where there can be no better.
;
; RUN: %pacc_opt -passes='polly-acc-agg<other-files>' -S %s | %FileCheck %s

target triple = "nvptx64-nvidia-cuda"
%dim3 = type { i32, i32, i32 }
@d = constant %dim3 { i32 1, i32 1, i32 1 }

; CHECK: declare ptx_kernel void @elsewhere(ptr, i32)
declare ptx_kernel void @elsewhere(ptr, i32)

; CHECK-LABEL: define ptx_kernel void @parent(
; CHECK: store ptr @elsewhere__pacc_agg, ptr
; CHECK: call void @__pacc_dev_grid_record(
define ptx_kernel void @parent() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 12)
  call i32 @__cudaCDP2LaunchDevice(ptr @elsewhere, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}

define ptx_kernel void @fixed(i32 %n) #1 {
  ret void
}

define internal ptx_kernel void @local() #0 {
  ret void
}

; CHECK: declare ptx_kernel void @elsewhere__pacc_agg(ptr)

; CHECK-LABEL: define ptx_kernel void @parent__pacc_agg(
; CHECK: call void @parent__pacc_body(
; CHECK: call void @__pacc_dev_finish_parent(i32 {{.*}})

; CHECK-LABEL: define ptx_kernel void @fixed__pacc_agg(
; CHECK-NEXT: entry:
; CHECK-NEXT: call void @__pacc_dev_child_forward(ptr %0)
; CHECK-NEXT: ret void

; CHECK-NOT: local__pacc_agg

declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)
attributes #0 = { convergent nounwind "target-cpu"="sm_90" }
attributes #1 = { convergent nounwind "target-cpu"="sm_90" "nvvm.reqntid"="64" }
