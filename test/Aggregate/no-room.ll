; Launches that CUDA has no room for wait for the end of their grid, where the
; kernel's threads leave. With an order to keep, all later ones of the grid do
; (2); a single launch needs no order (1). They do not wait (0) where something
; that is not merged might come first, or where threads leave unseen.
;
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=warp>' -S %s -o %t.ll
; RUN: %FileCheck %s < %t.ll
; RUN: %FileCheck %s --check-prefix=DRAIN < %t.ll

target triple = "nvptx64-nvidia-cuda"
%dim3 = type { i32, i32, i32 }
@d = constant %dim3 { i32 1, i32 1, i32 1 }

; The kernel that drains what waits is a kernel for all files.
; DRAIN: define linkonce_odr {{.*}}ptx_kernel void @__pacc_dev_drain(

; CHECK-LABEL: define ptx_kernel void @single(
; CHECK: %[[wait:.*]] = getelementptr inbounds nuw {{.*}}, ptr %launch, i32 0, i32 9
; CHECK-NEXT: store i32 1, ptr %[[wait]]
; CHECK: call void @__pacc_dev_launch_warp(
; CHECK: call void @__pacc_dev_finish_single(i32 %{{.*}})
; CHECK-NEXT: ret void
define ptx_kernel void @single() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}

; The kernel's own launches are in a function; the kernel has the hook.
; CHECK-LABEL: define ptx_kernel void @through(
; CHECK: call void @again(
; CHECK-NEXT: br label %leave
; CHECK: call void @__pacc_dev_finish_through(i32 %{{.*}})
define ptx_kernel void @through(i32 %n) #0 {
  call void @again(i32 %n)
  ret void
}
; CHECK-LABEL: define internal void @again(
; CHECK: %[[wait:.*]] = getelementptr inbounds nuw {{.*}}, ptr %launch, i32 0, i32 9
; CHECK-NEXT: store i32 2, ptr %[[wait]]
; CHECK-NOT: call void @__pacc_dev_finish
; CHECK: ret void
define internal void @again(i32 %n) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %c = icmp eq i32 %n, 0
  br i1 %c, label %done, label %more
more:
  %m = sub i32 %n, 1
  call void @again(i32 %m)
  br label %done
done:
  ret void
}

; CHECK-LABEL: define ptx_kernel void @copies(
; CHECK: %[[wait:.*]] = getelementptr inbounds nuw {{.*}}, ptr %launch, i32 0, i32 9
; CHECK-NEXT: store i32 0, ptr %[[wait]]
; CHECK-NOT: call void @__pacc_dev_finish
; CHECK: ret void
define ptx_kernel void @copies(ptr %p) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  call i32 @__cudaCDP2MemsetAsync(ptr %p, i32 0, i64 4, ptr null)
  ret void
}
declare i32 @__cudaCDP2MemsetAsync(ptr, i32, i64, ptr)

; What waits would come after the tail.
; CHECK-LABEL: define ptx_kernel void @tail(
; CHECK: %[[wait:.*]] = getelementptr inbounds nuw {{.*}}, i32 0, i32 9
; CHECK-NEXT: store i32 0, ptr %[[wait]]
; CHECK: %[[wait:.*]] = getelementptr inbounds nuw {{.*}}, i32 0, i32 9
; CHECK-NEXT: store i32 0, ptr %[[wait]]
; CHECK: ret void
define ptx_kernel void @tail() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %b2 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b2, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 3 to ptr))
  ret void
}

; CHECK-LABEL: define ptx_kernel void @exits(
; CHECK: %[[wait:.*]] = getelementptr inbounds nuw {{.*}}, i32 0, i32 9
; CHECK-NEXT: store i32 0, ptr %[[wait]]
; CHECK-NOT: call void @__pacc_dev_finish
; CHECK: unreachable
define ptx_kernel void @exits() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  call void @llvm.nvvm.exit()
  unreachable
}
declare void @llvm.nvvm.exit()

; CHECK-LABEL: define internal void @__pacc_dev_finish_single(i32 %pended)
; CHECK: call i32 @__pacc_dev_block_meet(i32 %
; CHECK: call i32 @__pacc_dev_block_leaves_grid(i32 %
; CHECK: call void @__pacc_dev_grid_close()

define ptx_kernel void @leaf() #0 {
  ret void
}
declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)
attributes #0 = { convergent nounwind "target-cpu"="sm_90" }
