; Launches in a loop whose order counts are merged over the block in rounds, also
; if the grid is asked for: with them all launches of their kernel. Those of one
; kernel into one stream are of one kind.
;
; RUN: %pacc_opt -passes='polly-acc-agg<pool=1M>' -S %s | %FileCheck %s
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=grid;pool=1M>' -S %s | %FileCheck %s
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=block;pool=1M>' -S %s | %FileCheck %s
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=warp;pool=1M>' -S %s | %FileCheck %s --check-prefix=WARP
; RUN: %pacc_opt -passes='print<polly-acc-agg-sites>' -disable-output %s 2>&1 | %FileCheck %s --check-prefix=SITES
; RUN: sed 's/\[40 x i8\]/[48500 x i8]/' %s | %pacc_opt -passes='print<polly-acc-agg-sites>' -disable-output 2>&1 | %FileCheck %s --check-prefix=FULL

; SITES: loop: launch of 'first', {{.*}}merged over the block into the NULL stream: the kernel has a launch in a loop
; FULL: loop: launch of 'first', {{.*}}merged over the warp into the NULL stream: the kernel has a launch in a loop, and a block has no shared memory left

target triple = "nvptx64-nvidia-cuda"
%dim3 = type { i32, i32, i32 }
@taken = internal addrspace(3) global [40 x i8] undef

; CHECK-LABEL: define ptx_kernel void @loop(
; CHECK: %turn = alloca [2 x i32]
; CHECK: call void @__pacc_dev_rounds_begin()
; CHECK: store [2 x i32] zeroinitializer, ptr %turn
; CHECK: again:
; CHECK: call void @__pacc_dev_rounds_record(ptr %launch, i32 0, ptr %turn)
; CHECK: call void @__pacc_dev_rounds_record(ptr %launch, i32 1, ptr %turn)
; CHECK: call void @__pacc_dev_rounds_record(ptr %launch, i32 0, ptr %turn)
; CHECK: done:
; CHECK: call void @__pacc_dev_rounds_record(ptr %launch, i32 2, ptr %turn)
; CHECK: call void @__pacc_dev_finish_loop(
; CHECK-LABEL: define internal void @__pacc_dev_finish_loop(
; CHECK: call i32 @__pacc_dev_block_meet(
; CHECK: last:
; CHECK-NEXT: call void @__pacc_dev_rounds_flush()
; CHECK-NOT: block_flush
; CHECK: ret void
; WARP-LABEL: define ptx_kernel void @loop(
; WARP: call void @__pacc_dev_launch_warp(
; WARP-NOT: call void @__pacc_dev_rounds
define ptx_kernel void @loop(i1 %c) #0 {
  %d = alloca %dim3, align 4
  store volatile i8 0, ptr addrspace(3) @taken
  br label %again
again:
  %a = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @first, ptr %a, ptr byval(%dim3) align 4 %d, ptr byval(%dim3) align 4 %d, i32 0, ptr null)
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @second, ptr %b, ptr byval(%dim3) align 4 %d, ptr byval(%dim3) align 4 %d, i32 0, ptr null)
  %a2 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @first, ptr %a2, ptr byval(%dim3) align 4 %d, ptr byval(%dim3) align 4 %d, i32 0, ptr null)
  br i1 %c, label %again, label %done
done:
  %t = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @first, ptr %t, ptr byval(%dim3) align 4 %d, ptr byval(%dim3) align 4 %d, i32 0, ptr inttoptr (i64 3 to ptr))
  ret void
}

define ptx_kernel void @first() #0 {
  ret void
}

define ptx_kernel void @second() #0 {
  ret void
}

declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)

attributes #0 = { convergent nounwind "target-cpu"="sm_90" }
