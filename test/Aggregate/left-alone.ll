; Launches that can't be merged soundly stay, and a remark says why.
;
; RUN: %split-file %s %t
; RUN: cat %t/rest.ll %t/site.ll > %t/site.whole.ll
; RUN: cat %t/rest.ll %t/error.ll > %t/error.whole.ll
; RUN: cat %t/rest.ll %t/serial.ll > %t/serial.whole.ll
; RUN: cat %t/rest.ll %t/thread.ll > %t/thread.whole.ll
; RUN: %pacc_opt -passes=polly-acc-agg -pass-remarks-missed=polly-acc-agg -S %t/site.whole.ll 2>&1 | %FileCheck %s
; RUN: %pacc_opt -passes=polly-acc-agg -pass-remarks-missed=polly-acc-agg -S %t/error.whole.ll 2>&1 | %FileCheck %s --check-prefix=ERROR
; RUN: %pacc_opt -passes='polly-acc-agg<siblings=serialized>' -pass-remarks-missed=polly-acc-agg -S %t/serial.whole.ll 2>&1 | %FileCheck %s --check-prefix=SERIAL
; RUN: %pacc_opt -passes=polly-acc-agg -pass-remarks-missed=polly-acc-agg -S %t/thread.whole.ll 2>&1 | %FileCheck %s --check-prefix=THREAD
; RUN: sed 's/sm_90/sm_60/' %t/serial.whole.ll | %pacc_opt -passes=polly-acc-agg -pass-remarks-missed=polly-acc-agg -S 2>&1 | %FileCheck %s --check-prefix=OLD

;--- site.ll
; CHECK-DAG: launch of a kernel stays as it is: the kernel is not known at compile time
define ptx_kernel void @unknown_kernel(ptr %k) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr %k, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}

; CHECK-DAG: launch of 'elsewhere' stays as it is: the kernel is defined in another file; -polly-acc-agg-other-files, given for both, merges it
declare ptx_kernel void @elsewhere()
define ptx_kernel void @external_kernel() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @elsewhere, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}

; CHECK-DAG: launch of 'leaf' stays as it is: the program reads the launch's error code
define ptx_kernel void @reads_code(ptr %p) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  %e = call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  store i32 %e, ptr %p
  ret void
}

; CHECK-DAG: launch of 'leaf' stays as it is: it goes into a stream that the program made
define ptx_kernel void @named_stream(ptr %s) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr %s)
  ret void
}

; CHECK-DAG: launch of 'leaf' stays as it is: it goes into a stream that the program made
define ptx_kernel void @legacy_stream() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 1 to ptr))
  ret void
}

; CHECK-DAG: launch of a kernel stays as it is: grid and block are hidden in a buffer of cudaGetParameterBufferV2
define ptx_kernel void @second_version() #0 {
  %b = call ptr @__cudaCDP2GetParameterBufferV2(ptr @leaf, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0)
  call i32 @__cudaCDP2LaunchDeviceV2(ptr %b, ptr null)
  ret void
}

; CHECK-DAG: launch of 'leaf' stays as it is: the argument buffer does not come from this launch
define ptx_kernel void @own_buffer(ptr %b) #0 {
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}

; CHECK-DAG: launch of 'leaf' stays as it is: the argument buffer is used by other code
define ptx_kernel void @escaped_buffer(ptr %p) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  store ptr %b, ptr %p
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}

; CHECK-DAG: launch of 'leaf' stays as it is: 'leaf' takes 0 bytes of arguments, the launch passes 8
define ptx_kernel void @other_layout() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 8)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}

; CHECK-DAG: launch of 'asks_size' stays as it is: 'asks_size' asks for a fixed block or cluster size
define ptx_kernel void @asks_size() #1 {
  ret void
}
; CHECK-DAG: launch of 'calls_out' stays as it is: 'calls_out' calls helper, whose code is not known here
declare void @helper()
define ptx_kernel void @calls_out() #0 {
  call void @helper()
  ret void
}
; CHECK-DAG: launch of 'calls_pointer' stays as it is: 'calls_pointer' calls a function pointer, whose code is not known here
@target = global ptr null
define ptx_kernel void @calls_pointer() #0 {
  %f = load ptr, ptr @target
  call void %f()
  ret void
}
; CHECK-DAG: launch of 'reads_tid' stays as it is: 'reads_tid' can't be merged: its inline assembly reads %tid
define ptx_kernel void @reads_tid() #0 {
  %t = call i32 asm "mov.u32 $0, %tid.x;", "=r"()
  store i32 %t, ptr @target
  ret void
}
; CHECK-DAG: launch of 'cooperates' stays as it is: 'cooperates' can't be merged: it uses envreg
define ptx_kernel void @cooperates() #0 {
  call void @grid_sync()
  ret void
}
define internal void @grid_sync() {
  %e = call i32 @llvm.nvvm.read.ptx.sreg.envreg1()
  store i32 %e, ptr @target
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.envreg1()
; CHECK-DAG: launch of 'clustered' stays as it is: 'clustered' can't be merged: it uses cluster
define ptx_kernel void @clustered() #0 {
  %e = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  store i32 %e, ptr @target
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
define ptx_kernel void @children() #0 {
  %b0 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @asks_size, ptr %b0, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %b1 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @calls_out, ptr %b1, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %b2 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @calls_pointer, ptr %b2, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %b3 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @reads_tid, ptr %b3, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %b4 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @cooperates, ptr %b4, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %b5 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @clustered, ptr %b5, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}
; Nothing was merged, so nothing was added.
; CHECK-NOT: __pacc_dev_

;--- error.ll
; Reading errors anywhere in a kernel keeps all of its launches.
; ERROR-COUNT-1: launch of 'leaf' stays as it is: the program asks for launch errors (cudaGetLastError)
; ERROR-NOT: __pacc_dev_
define ptx_kernel void @checks(ptr %p) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  call void @check(ptr %p)
  ret void
}
define internal void @check(ptr %p) {
  %e = call i32 @__cudaCDP2PeekAtLastError()
  store i32 %e, ptr %p
  ret void
}
declare i32 @__cudaCDP2PeekAtLastError()

;--- serial.ll
; Only the NULL stream has an order among siblings.
; SERIAL: launch of 'leaf' stays as it is: launches of a block into its NULL stream run in order (siblings=serialized)
; SERIAL-LABEL: define ptx_kernel void @null_stream(
; SERIAL: call i32 @__cudaCDP2LaunchDevice(
; OLD: launch of 'leaf' stays as it is: merging needs sm_70 or later
; OLD-LABEL: define ptx_kernel void @null_stream(
; OLD: call i32 @__cudaCDP2LaunchDevice(
define ptx_kernel void @null_stream() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}
; SERIAL-LABEL: define ptx_kernel void @forget_stream(
; SERIAL: call void @__pacc_dev_grid_record(
define ptx_kernel void @forget_stream() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 4 to ptr))
  ret void
}

;--- thread.ll
; A copy in the thread's own stream pins a launch into it; a launch into the
; NULL stream goes on at warp granularity.
; THREAD: launch of 'leaf' stays as it is: the thread's stream may hold other operations: it calls cudaMemcpyAsync
; THREAD-LABEL: define ptx_kernel void @thread_stream(
; THREAD: call i32 @__cudaCDP2LaunchDevice(
define ptx_kernel void @thread_stream(ptr %p) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 2 to ptr))
  call i32 @__cudaCDP2MemcpyAsync(ptr %p, ptr %p, i64 4, i32 3, ptr inttoptr (i64 2 to ptr))
  ret void
}
declare i32 @__cudaCDP2MemcpyAsync(ptr, ptr, i64, i32, ptr)
; THREAD-LABEL: define ptx_kernel void @block_stream(
; THREAD: call void @__pacc_dev_launch_warp(
define ptx_kernel void @block_stream(ptr %p) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  call i32 @__cudaCDP2MemcpyAsync(ptr %p, ptr %p, i64 4, i32 3, ptr null)
  ret void
}

;--- rest.ll
target triple = "nvptx64-nvidia-cuda"
%dim3 = type { i32, i32, i32 }
@d = constant %dim3 { i32 1, i32 1, i32 1 }
define ptx_kernel void @leaf() #0 {
  ret void
}
declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare ptr @__cudaCDP2GetParameterBufferV2(ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)
declare i32 @__cudaCDP2LaunchDeviceV2(ptr, ptr)
attributes #0 = { convergent nounwind "target-cpu"="sm_90" }
attributes #1 = { convergent nounwind "target-cpu"="sm_90" "nvvm.reqntid"="64" }
