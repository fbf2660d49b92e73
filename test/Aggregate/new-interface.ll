; The first version of CUDA's launch interface, which clang uses, refuses tail
; and fire-and-forget launches. Those that are not merged go out through the
; second, with their error code; where that can't be, a remark says what CUDA
; will do. No memory for records is needed for that.
;
; RUN: %pacc_opt -passes='polly-acc-agg,globaldce' -pass-remarks-missed=polly-acc-agg -S %s 2>&1 | %FileCheck %s

target triple = "nvptx64-nvidia-cuda"
%dim3 = type { i32, i32, i32 }
@d = constant %dim3 { i32 1, i32 1, i32 1 }

; CHECK-DAG: launch of 'leaf' stays as it is: the program reads the launch's error code; it goes out through the second version of CUDA's launch interface
; CHECK-DAG: launch of a kernel stays as it is: the kernel is not known at compile time; it goes out through the second version
; CHECK-DAG: launch of 'leaf' stays as it is: the argument buffer is used by other code; CUDA 13 refuses clang's launches into this stream
; CHECK-DAG: launch of 'leaf' stays as it is: the program reads the launch's error code{{$}}
; CHECK-NOT: @__pacc_dev_pool

; CHECK-LABEL: define ptx_kernel void @leaf(
define ptx_kernel void @leaf(i32 %n) #0 {
  ret void
}

; CHECK-LABEL: define ptx_kernel void @fire_and_forget(
; CHECK: store i32 7, ptr %launch.args
; CHECK: store ptr inttoptr (i64 4 to ptr), ptr
; CHECK: store ptr @leaf, ptr %
; CHECK: %[[e:.*]] = call i32 @__pacc_dev_launch_plain(ptr %launch)
; CHECK: store i32 %[[e]], ptr %p
define ptx_kernel void @fire_and_forget(ptr %p) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 4)
  store i32 7, ptr %b
  %e = call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 4 to ptr))
  store i32 %e, ptr %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @tail(
; CHECK: store ptr inttoptr (i64 3 to ptr), ptr
; CHECK: store ptr %k, ptr %
; CHECK: call i32 @__pacc_dev_launch_plain(ptr %launch)
define ptx_kernel void @tail(ptr %k) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 4)
  store i32 7, ptr %b
  call i32 @__cudaCDP2LaunchDevice(ptr %k, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 3 to ptr))
  ret void
}

; CHECK-LABEL: define ptx_kernel void @escaped(
; CHECK: call i32 @__cudaCDP2LaunchDevice(ptr @leaf
define ptx_kernel void @escaped(ptr %p) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 4)
  store ptr %b, ptr %p
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 3 to ptr))
  ret void
}

; CHECK-LABEL: define ptx_kernel void @null_stream(
; CHECK: call i32 @__cudaCDP2LaunchDevice(ptr @leaf
define ptx_kernel void @null_stream(ptr %p) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 4)
  store i32 7, ptr %b
  %e = call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  store i32 %e, ptr %p
  ret void
}

declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)

attributes #0 = { "target-cpu"="sm_90" "target-features"="+ptx80,+sm_90" }
