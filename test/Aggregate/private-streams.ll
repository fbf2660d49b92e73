; A stream that a thread makes for one launch orders nothing: the launch is
; merged, and the stream is not made. Other streams stay as they are.
;
; RUN: %pacc_opt -passes=polly-acc-agg -pass-remarks=polly-acc-agg -pass-remarks-missed=polly-acc-agg -S %s 2>&1 | %FileCheck %s
; RUN: %pacc_opt -passes='print<polly-acc-agg-sites>' -disable-output %s 2>&1 | %FileCheck %s --check-prefix=SITES

target triple = "nvptx64-nvidia-cuda"

%dim3 = type { i32, i32, i32 }
@d = constant %dim3 { i32 1, i32 1, i32 1 }

declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)
declare i32 @__cudaCDP2StreamCreateWithFlags(ptr, i32)
declare i32 @__cudaCDP2StreamDestroy(ptr)
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)

define ptx_kernel void @leaf() #0 {
  ret void
}

; The header's functions, as clang has them before it inlines.
define internal i32 @create(ptr %stream, i32 %flags) #0 {
  %slot = alloca ptr
  store ptr %stream, ptr %slot
  %s = load ptr, ptr %slot
  %e = call i32 @__cudaCDP2StreamCreateWithFlags(ptr %s, i32 %flags)
  ret i32 %e
}
define internal i32 @destroy(ptr %stream) #0 {
  %e = call i32 @__cudaCDP2StreamDestroy(ptr %stream)
  ret i32 %e
}

; CHECK: launches of 'leaf' are merged over the grid
; CHECK: launches of 'leaf' are merged over the grid
; CHECK-COUNT-5: launch of 'leaf' stays as it is: it goes into a stream that the program made
; SITES: one: launch of 'leaf', 0 bytes, private stream: merged over the grid into the per-thread stream
; SITES: each_round: launch of 'leaf', 0 bytes, private stream: merged over the grid into the per-thread stream
; SITES: shared: launch of 'leaf', 0 bytes, other stream: stays as it is
; SITES: before_loop: launch of 'leaf', 0 bytes, other stream: stays as it is
; SITES: seen: launch of 'leaf', 0 bytes, other stream: stays as it is
; SITES: blocking: launch of 'leaf', 0 bytes, other stream: stays as it is

; CHECK-LABEL: define ptx_kernel void @one(
; CHECK-NOT: __cudaCDP2Stream
; CHECK: ret void
define ptx_kernel void @one() #0 {
  %stream = alloca ptr
  call void @llvm.lifetime.start.p0(ptr %stream)
  %c = call i32 @create(ptr %stream, i32 1)
  %s = load ptr, ptr %stream
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr %s)
  %t = load ptr, ptr %stream
  %e = call i32 @destroy(ptr %t)
  call void @llvm.lifetime.end.p0(ptr %stream)
  ret void
}

; A stream for each round of a loop.
; CHECK-LABEL: define ptx_kernel void @each_round(
; CHECK-NOT: __cudaCDP2Stream
; CHECK: ret void
define ptx_kernel void @each_round(i32 %n) #0 {
entry:
  %stream = alloca ptr
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %c = call i32 @create(ptr %stream, i32 1)
  %s = load ptr, ptr %stream
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr %s)
  %e = call i32 @destroy(ptr %s)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; Two launches in one stream are in order.
; CHECK-LABEL: define ptx_kernel void @shared(
; CHECK: call i32 @__cudaCDP2StreamCreateWithFlags
define ptx_kernel void @shared() #0 {
  %stream = alloca ptr
  %c = call i32 @create(ptr %stream, i32 1)
  %s = load ptr, ptr %stream
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr %s)
  %b2 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b2, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr %s)
  %e = call i32 @destroy(ptr %s)
  ret void
}

; And so are those of a loop.
; CHECK-LABEL: define ptx_kernel void @before_loop(
; CHECK: call i32 @__cudaCDP2StreamCreateWithFlags
define ptx_kernel void @before_loop(i32 %n) #0 {
entry:
  %stream = alloca ptr
  %c = call i32 @create(ptr %stream, i32 1)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = load ptr, ptr %stream
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr %s)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  %e = call i32 @destroy(ptr %s)
  ret void
}

; The handle goes elsewhere.
; CHECK-LABEL: define ptx_kernel void @seen(
; CHECK: call i32 @__cudaCDP2StreamCreateWithFlags
define ptx_kernel void @seen(ptr %to) #0 {
  %stream = alloca ptr
  %c = call i32 @create(ptr %stream, i32 1)
  %s = load ptr, ptr %stream
  store ptr %s, ptr %to
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr %s)
  ret void
}

; A stream that waits for the NULL stream.
; CHECK-LABEL: define ptx_kernel void @blocking(
; CHECK: call i32 @__cudaCDP2StreamCreateWithFlags
define ptx_kernel void @blocking() #0 {
  %stream = alloca ptr
  %c = call i32 @create(ptr %stream, i32 0)
  %s = load ptr, ptr %stream
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr %s)
  %e = call i32 @destroy(ptr %s)
  ret void
}

; Launches of one kernel without an order share their records.
; CHECK-LABEL: define ptx_kernel void @two(
; CHECK: call void @__pacc_dev_grid_record(ptr %launch{{[0-9]*}}, i32 0, i32 1,
; CHECK: call void @__pacc_dev_grid_record(ptr %launch{{[0-9]*}}, i32 0, i32 1,
define ptx_kernel void @two() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 4 to ptr))
  %b2 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b2, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 4 to ptr))
  ret void
}

attributes #0 = { convergent nounwind "target-cpu"="sm_90" }
