; Launches that wait for the end of their block or grid: every thread leaves at
; one place, through a function whose last caller launches, and the aggregated
; version of a parent does the same, also in threads that the launch does not
; have. The threads of a block meet there if they wait for each other nowhere
; else; else they are counted.
;
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=grid;pool=1M>' -S %s | %FileCheck %s --check-prefixes=CHECK,GRID
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=block;pool=1M>' -S %s | %FileCheck %s --check-prefixes=CHECK,BLOCK
; RUN: %pacc_opt -passes='polly-acc-agg<pool=1M>' -S %s | %FileCheck %s --check-prefixes=CHECK,GRID

target triple = "nvptx64-nvidia-cuda"

%struct.dim3 = type { i32, i32, i32 }

; Records: 32 bytes and the arguments. The parameters of a kernel that is merged
; itself are not the same for all of its launches.
; CHECK-DAG: @__pacc_dev_rooms = internal constant [4 x i32] [i32 64, i32 0, i32 64, i32 0]
; CHECK-DAG: @__pacc_dev_data_1048576 =

; CHECK-LABEL: define ptx_kernel void @walk(
; GRID-NOT: block_begin
; BLOCK: call void @__pacc_dev_block_begin()
; GRID: call void @__pacc_dev_grid_record(ptr %launch{{.*}}, i32 0, i32 2, ptr @__pacc_dev_rooms)
; BLOCK: call void @__pacc_dev_block_record(ptr %launch{{.*}}, i32 0, i32 2, ptr @__pacc_dev_rooms)
; CHECK: early:
; CHECK-NEXT: br label %leave
; GRID: call void @__pacc_dev_grid_record(ptr %launch{{.*}}, i32 1, i32 2, ptr @__pacc_dev_rooms)
; BLOCK: call void @__pacc_dev_block_record(ptr %launch{{.*}}, i32 1, i32 2, ptr @__pacc_dev_rooms)
; CHECK: leave:
; CHECK-NEXT: load i32, ptr %pended
; CHECK-NEXT: call void @__pacc_dev_finish_walk(i32 %{{.*}})
; CHECK-NEXT: ret void
; CHECK-NEXT: }
define ptx_kernel void @walk(ptr %out, i32 %n) #0 {
  %grid = alloca %struct.dim3, align 4
  %block = alloca %struct.dim3, align 4
  %b0 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 12)
  store ptr %out, ptr %b0
  %n0 = getelementptr i8, ptr %b0, i64 8
  store i32 %n, ptr %n0
  call i32 @__cudaCDP2LaunchDevice(ptr @walk, ptr %b0, ptr byval(%struct.dim3) align 4 %grid, ptr byval(%struct.dim3) align 4 %block, i32 0, ptr null)
  %stop = icmp slt i32 %n, 5
  br i1 %stop, label %early, label %more

early:
  ret void

more:
  %b1 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 8)
  store ptr %out, ptr %b1
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b1, ptr byval(%struct.dim3) align 4 %grid, ptr byval(%struct.dim3) align 4 %block, i32 0, ptr null)
  ret void
}

; GRID-LABEL: define ptx_kernel void @barrier(
define ptx_kernel void @barrier(ptr %out) #0 {
  %grid = alloca %struct.dim3, align 4
  call void @synchronise()
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 8)
  store ptr %out, ptr %b
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%struct.dim3) align 4 %grid, ptr byval(%struct.dim3) align 4 %grid, i32 0, ptr null)
  ret void
}

define internal void @synchronise() #0 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; Each thread passes the barrier once: nobody waits there for one that is at the
; kernel's end.
define ptx_kernel void @once(ptr %out, i1 %c) #0 {
  %grid = alloca %struct.dim3, align 4
  br i1 %c, label %left, label %right
left:
  br label %right
right:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 8)
  store ptr %out, ptr %b
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%struct.dim3) align 4 %grid, ptr byval(%struct.dim3) align 4 %grid, i32 0, ptr null)
  ret void
}

; Not each thread does, and it may do so more than once.
define ptx_kernel void @some(ptr %out, i1 %c) #0 {
  %grid = alloca %struct.dim3, align 4
  br i1 %c, label %left, label %right
left:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %right
right:
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 8)
  store ptr %out, ptr %b
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%struct.dim3) align 4 %grid, ptr byval(%struct.dim3) align 4 %grid, i32 0, ptr null)
  ret void
}
define ptx_kernel void @often(ptr %out, i1 %c) #0 {
  %grid = alloca %struct.dim3, align 4
  br label %again
again:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br i1 %c, label %again, label %done
done:
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 8)
  store ptr %out, ptr %b
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%struct.dim3) align 4 %grid, ptr byval(%struct.dim3) align 4 %grid, i32 0, ptr null)
  ret void
}

; A merged grid has threads that do not pass it.
define ptx_kernel void @merged(ptr %out) #0 {
  %grid = alloca %struct.dim3, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 8)
  store ptr %out, ptr %b
  call i32 @__cudaCDP2LaunchDevice(ptr @merged, ptr %b, ptr byval(%struct.dim3) align 4 %grid, ptr byval(%struct.dim3) align 4 %grid, i32 0, ptr null)
  ret void
}

; GRID-LABEL: define ptx_kernel void @warps(
define ptx_kernel void @warps(ptr %out) #0 {
  %grid = alloca %struct.dim3, align 4
  call void asm sideeffect "bar.warp.sync -1;", ""() #0
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 8)
  store ptr %out, ptr %b
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%struct.dim3) align 4 %grid, ptr byval(%struct.dim3) align 4 %grid, i32 0, ptr null)
  ret void
}

; A kernel without launches of its own needs nothing at its end.
; CHECK-LABEL: define ptx_kernel void @leaf(
; CHECK-NEXT: ret void
define ptx_kernel void @leaf(ptr %out) #0 {
  ret void
}

; CHECK-LABEL: define internal void @__pacc_dev_finish_walk(i32 %pended)
; CHECK: call i32 @__pacc_dev_block_meet(i32 %
; CHECK: last:
; GRID: call i32 @__pacc_dev_block_leaves_grid(i32 %
; GRID: last1:
; CHECK: store ptr @walk__pacc_agg
; GRID: call void @__pacc_dev_grid_flush(ptr %{{.*}}, i32 0)
; BLOCK: call void @__pacc_dev_block_flush(ptr %{{.*}}, i32 0)
; CHECK: store ptr @leaf__pacc_agg
; GRID: call void @__pacc_dev_grid_flush(ptr %{{.*}}, i32 1)
; GRID-NEXT: call void @__pacc_dev_grid_close()
; BLOCK: call void @__pacc_dev_block_flush(ptr %{{.*}}, i32 1)
; BLOCK: call i32 @__pacc_dev_block_leaves_grid(i32 %
; BLOCK: call void @__pacc_dev_grid_close()

; CHECK-LABEL: define internal void @__pacc_dev_finish_barrier(i32 %pended)
; GRID: call i32 @__pacc_dev_grid_leave(i32 %
; BLOCK: call i32 @__pacc_dev_block_leave()
; BLOCK: call i32 @__pacc_dev_block_leaves_grid(i32 %

; CHECK-LABEL: define internal void @__pacc_dev_finish_once(
; CHECK: call i32 @__pacc_dev_block_meet(

; CHECK-LABEL: define internal void @__pacc_dev_finish_some(
; CHECK-NOT: block_meet
; CHECK-LABEL: define internal void @__pacc_dev_finish_often(
; CHECK-NOT: block_meet
; CHECK-LABEL: define internal void @__pacc_dev_finish_merged(
; CHECK-NOT: block_meet

; CHECK-LABEL: define internal void @__pacc_dev_finish_warps(i32 %pended)
; GRID: call i32 @__pacc_dev_grid_leave(i32 %
; BLOCK: call i32 @__pacc_dev_block_leave()

; CHECK-LABEL: define internal void @walk__pacc_body(
; GRID: call void @__pacc_dev_grid_record(
; BLOCK: call void @__pacc_dev_block_record(
; CHECK-NOT: call void @__pacc_dev_finish
; CHECK: ret void

; RUN: %pacc_opt -passes='polly-acc-agg<granularity=block>' -S %s | %FileCheck %s --check-prefix=AGG
; AGG-LABEL: define ptx_kernel void @walk__pacc_agg(
; AGG: call void @__pacc_dev_block_begin()
; AGG: call i32 @__pacc_dev_child_loaded(
; AGG: run:
; AGG: call void @walk__pacc_body(
; AGG: br label %end
; AGG: end:
; AGG-NEXT: call void @__pacc_dev_finish_walk(i32 1)
; AGG-NEXT: ret void

; What may be called takes no more registers than leave a multiprocessor full.
; CHECK-LABEL: define internal ptx_kernel void @__pacc_dev_limit(
; CHECK-SAME: #[[LIMIT:[0-9]+]]
; CHECK: @__pacc_dev_launch_warp(
; CHECK: attributes #[[LIMIT]] = {{.*}}"nvvm.maxnreg"="32"

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #0
declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%struct.dim3) align 4, ptr byval(%struct.dim3) align 4, i32, ptr)

attributes #0 = { convergent nounwind "target-cpu"="sm_90" }
