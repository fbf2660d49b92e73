; A launch as clang writes it. The argument buffer becomes memory of the
; thread, the launch a record, and the child gets an aggregated version that
; takes a batch.
;
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=warp>' -S %s | %FileCheck %s
; Twice is as good as once:
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=warp>' -S < %s | %opt -passes=verify -S > %t.once.ll
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=warp>' -S < %t.once.ll > %t.twice.ll
; RUN: cmp %t.once.ll %t.twice.ll

target triple = "nvptx64-nvidia-cuda"

%struct.dim3 = type { i32, i32, i32 }
%struct.pair = type { double, [3 x i8] }

; CHECK-DAG: @__pacc_dev_data_67108864 = linkonce global [67117056 x i8] zeroinitializer
; CHECK-DAG: @__pacc_dev_tags_67108864 = linkonce global [262144 x i64] zeroinitializer
; CHECK-DAG: @__pacc_dev_pool_67108864 = linkonce global {{.*}} { i64 0, i64 0, i64 262144, i64 262143, ptr @__pacc_dev_data_67108864, ptr @__pacc_dev_tags_67108864 }

; The plain version stays.
; CHECK-LABEL: define ptx_kernel void @child(
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define ptx_kernel void @child(ptr %out, i32 %n, i1 zeroext %flag, ptr byval(%struct.pair) align 8 %p) #0 {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %at = getelementptr i32, ptr %out, i32 %b
  %v = load double, ptr %p
  %i = fptosi double %v to i32
  %w = call i32 @width(i32 %i)
  %s = add i32 %w, %t
  store i32 %s, ptr %at
  ret void
}

; CHECK-LABEL: define internal i32 @width(
define internal i32 @width(i32 %i) {
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %r = add i32 %d, %i
  ret i32 %r
}

; CHECK-LABEL: define ptx_kernel void @parent(
; CHECK-DAG: %launch.args = alloca [32 x i8], align 16
; CHECK-DAG: %[[launch:launch[0-9]*]] = alloca { ptr, ptr, ptr, ptr, ptr, ptr, i64, i32, i32, i32, i32, [3 x i32], [3 x i32] }
; CHECK-NOT: @__cudaCDP2GetParameterBuffer
; CHECK: icmp eq ptr %launch.args, null
; CHECK: store ptr %out, ptr %launch.args
; CHECK: store ptr @child, ptr
; CHECK: store ptr @child__pacc_agg, ptr
; CHECK: store i32 32, ptr
; CHECK: store ptr %launch.args, ptr
; CHECK: store i32 %shared, ptr
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr align 4 {{.*}}, ptr align 4 %grid, i64 12, i1 false)
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr align 4 {{.*}}, ptr align 4 %block, i64 12, i1 false)
; CHECK: call void @__pacc_dev_launch_warp(ptr %[[launch]])
; CHECK-NOT: call i32 @__cudaCDP2LaunchDevice
; CHECK: ret void
define ptx_kernel void @parent(ptr %out, i32 %n, i32 %shared, ptr %sizes) #0 {
  %grid = alloca %struct.dim3, align 4
  %block = alloca %struct.dim3, align 4
  call void @llvm.memcpy.p0.p0.i64(ptr %grid, ptr %sizes, i64 12, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %block, ptr %sizes, i64 12, i1 false)
  %buffer = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 32)
  %none = icmp eq ptr %buffer, null
  br i1 %none, label %done, label %go

go:
  store ptr %out, ptr %buffer
  %a1 = getelementptr i8, ptr %buffer, i64 8
  store i32 %n, ptr %a1
  %a2 = getelementptr i8, ptr %buffer, i64 12
  store i8 1, ptr %a2
  %a3 = getelementptr i8, ptr %buffer, i64 16
  call void @llvm.memcpy.p0.p0.i64(ptr %a3, ptr %out, i64 16, i1 false)
  call i32 @__cudaCDP2LaunchDevice(ptr @child, ptr %buffer, ptr byval(%struct.dim3) align 4 %grid, ptr byval(%struct.dim3) align 4 %block, i32 %shared, ptr null)
  br label %done

done:
  ret void
}

; CHECK-LABEL: define internal void @__pacc_dev_launch_warp(
; CHECK-SAME: #[[rt:[0-9]+]]

; Atomics of the runtime are of the device's scope.
; CHECK: fence syncscope("device") acq_rel

; Arguments at the offsets of the buffer, those that all launches share from the
; batch, then the body in the launch's threads.
; CHECK-LABEL: define ptx_kernel void @child__pacc_agg(ptr %batch)
; CHECK: %[[ids:.*]] = alloca [13 x i32]
; CHECK: %[[args:.*]] = call ptr @__pacc_dev_child_begin(ptr %batch, ptr %[[ids]])
; CHECK: %[[same:.*]] = getelementptr inbounds i8, ptr %batch, i64 160
; CHECK: %[[p0:.*]] = getelementptr inbounds i8, ptr %[[same]], i64 0
; CHECK: %[[a0:.*]] = load ptr, ptr %[[p0]], align 16
; CHECK: %[[p1:.*]] = getelementptr inbounds i8, ptr %[[same]], i64 8
; CHECK: load i32, ptr %[[p1]], align 8
; CHECK: %[[p2:.*]] = getelementptr inbounds i8, ptr %[[same]], i64 12
; CHECK: %[[byte:.*]] = load i8, ptr %[[p2]], align 4
; CHECK: trunc i8 %[[byte]] to i1
; CHECK: %[[p3:.*]] = getelementptr inbounds i8, ptr %[[args]], i64 0
; CHECK: %[[copy:.*]] = alloca %struct.pair, align 8
; CHECK: call void @llvm.memcpy.p0.p0.i64(ptr align 8 %[[copy]], ptr align 16 %[[p3]], i64 16, i1 false)
; CHECK: %[[here:.*]] = call i32 @__pacc_dev_child_loaded(ptr %batch, ptr %[[ids]])
; CHECK: br i1 {{.*}}, label %run, label %end
; CHECK: call void @child__pacc_body(ptr %[[a0]], {{.*}}, ptr %[[copy]], ptr %[[ids]])

; Registers are read from the ids, also in functions that the child calls.
; CHECK-LABEL: define internal void @child__pacc_body(ptr %out, i32 %n, i1 zeroext %flag, ptr align 8 %p, ptr noalias nonnull readonly %ids)
; CHECK-NOT: sreg
; CHECK: getelementptr inbounds [13 x i32], ptr %ids, i32 0, i32 6
; CHECK: load i32, ptr {{.*}}, !range
; CHECK: getelementptr inbounds [13 x i32], ptr %ids, i32 0, i32 1
; CHECK: call i32 @width__pacc_ids(i32 %i, ptr %ids)
; CHECK-LABEL: define internal i32 @width__pacc_ids(i32 %i, ptr noalias nonnull readonly %ids)
; CHECK-NOT: sreg
; CHECK: getelementptr inbounds [13 x i32], ptr %ids, i32 0, i32 5

; CHECK: attributes #[[rt]] = { {{.*}}noinline {{.*}}"pacc-device-rt" {{.*}}"target-cpu"="sm_90" "target-features"="+ptx88,+sm_90"
; CHECK: !{i32 6, !"polly-acc-agg", !

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%struct.dim3) align 4, ptr byval(%struct.dim3) align 4, i32, ptr)

attributes #0 = { convergent nounwind "target-cpu"="sm_90" "target-features"="+ptx88,+sm_90" }
