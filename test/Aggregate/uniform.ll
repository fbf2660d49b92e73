; Arguments that all threads of a grid pass alike are kept once per merged launch:
; constants, parameters of the kernel that launches, and what is computed from
; them. So are size of block and shared memory.
;
; RUN: %pacc_opt -passes='print<polly-acc-agg-sites>' -disable-output %s 2>&1 | %FileCheck %s --check-prefix=SITES
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=grid>' -S %s -o %t.ll
; RUN: %FileCheck %s --check-prefixes=CHECK,GRID < %t.ll
; RUN: %FileCheck %s --check-prefix=CHILD < %t.ll
; RUN: %pacc_opt -passes='polly-acc-agg<granularity=warp>' -S %s | %FileCheck %s --check-prefixes=CHECK,WARP
; RUN: %pacc_opt -passes='polly-acc-agg<other-files>' -S %s | %FileCheck %s --check-prefix=OTHER

target triple = "nvptx64-nvidia-cuda"

%dim3 = type { i32, i32, i32 }
@d = internal global %dim3 zeroinitializer

; Four words: the pointer and the count vary, `n + 1` shares its word with the
; count, so that only the last two words are the same. A record has 16 bytes and
; two words.
; SITES: parent: launch of 'leaf', 32 bytes (2 of 5 arguments the same for all) in blocks of one size, NULL stream:
; GRID: @__pacc_dev_rooms = internal constant [2 x i32] [i32 32, i32 32]
; CHECK-LABEL: define ptx_kernel void @parent(
; CHECK: %[[same:.*]] = getelementptr inbounds nuw {{.*}}, ptr %launch, i32 0, i32 6
; CHECK-NEXT: store i64 12, ptr %[[same]]
; CHECK: %[[shape:.*]] = getelementptr inbounds nuw {{.*}}, ptr %launch, i32 0, i32 10
; CHECK-NEXT: store i32 1, ptr %[[shape]]
; GRID: call void @__pacc_dev_finish_parent(ptr %out, i32 %n, i32 %{{.*}})
; WARP: call void @__pacc_dev_finish_parent(i32 %{{.*}})
; OTHER-LABEL: define ptx_kernel void @parent(
; OTHER: %[[same:.*]] = getelementptr inbounds nuw {{.*}}, ptr %launch, i32 0, i32 6
; OTHER-NEXT: store i64 0, ptr %[[same]]
define ptx_kernel void @parent(ptr %out, i32 %n) #0 {
  %block = alloca %dim3, align 4
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %mine = getelementptr i32, ptr %out, i32 %i
  %next = add i32 %n, 1
  %out4 = getelementptr i8, ptr %out, i64 4
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 32)
  store ptr %mine, ptr %b
  %b1 = getelementptr i8, ptr %b, i64 8
  store i32 %i, ptr %b1
  %b2 = getelementptr i8, ptr %b, i64 12
  store i32 %next, ptr %b2
  %b3 = getelementptr i8, ptr %b, i64 16
  store ptr %out4, ptr %b3
  %b4 = getelementptr i8, ptr %b, i64 24
  store i64 7, ptr %b4
  store i32 %n, ptr %block
  %y = getelementptr i8, ptr %block, i64 4
  store i32 2, ptr %y
  %z = getelementptr i8, ptr %block, i64 8
  store i32 1, ptr %z
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 %block, i32 64, ptr null)
  ret void
}
define ptx_kernel void @leaf(ptr %to, i32 %count, i32 %depth, ptr %all, i64 %seven) #0 {
  ret void
}

; The last thread computes them again.
; GRID-LABEL: define internal void @__pacc_dev_finish_parent(ptr %0, i32 %1, i32 %pended)
; GRID: last1:
; GRID: %[[out4:.*]] = getelementptr i8, ptr %0, i64 4
; GRID-NEXT: %[[at:.*]] = getelementptr inbounds i8, ptr %[[args:.*]], i64 16
; GRID-NEXT: store ptr %[[out4]], ptr %[[at]], align 16
; GRID-NEXT: %[[at:.*]] = getelementptr inbounds i8, ptr %[[args]], i64 24
; GRID-NEXT: store i64 7, ptr %[[at]], align 8
; GRID: store ptr %[[args]],
; GRID: %[[block:.*]] = getelementptr inbounds nuw {{.*}}, i32 0, i32 12
; GRID-NEXT: getelementptr inbounds i32, ptr %[[block]], i64 0
; GRID-NEXT: store i32 %1,
; GRID-NEXT: getelementptr inbounds i32, ptr %[[block]], i64 1
; GRID-NEXT: store i32 2,
; GRID: call void @__pacc_dev_grid_flush(

; CHILD-LABEL: define ptx_kernel void @leaf__pacc_agg(ptr %batch)
; CHILD: %[[args:.*]] = call ptr @__pacc_dev_child_begin(
; CHILD-NEXT: %[[common:.*]] = getelementptr inbounds i8, ptr %batch, i64 160
; CHILD: getelementptr inbounds i8, ptr %[[args]], i64 0
; CHILD: getelementptr inbounds i8, ptr %[[args]], i64 8
; CHILD: getelementptr inbounds i8, ptr %[[args]], i64 12
; CHILD: getelementptr inbounds i8, ptr %[[common]], i64 16
; CHILD-NEXT: load ptr,
; CHILD: getelementptr inbounds i8, ptr %[[common]], i64 24
; CHILD-NEXT: load i64,

; Two launches of a kernel by the same parent have to pass the same; what is
; read from memory may change.
; SITES: twice: launch of 'pair', 24 bytes (1 of 3 arguments the same for all), NULL stream:
; SITES-NEXT: twice: launch of 'pair', 24 bytes (1 of 3 arguments the same for all), NULL stream:
define ptx_kernel void @twice(ptr %out, i64 %n) #0 {
  %m = load i64, ptr %out
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 24)
  store i64 %n, ptr %b
  %b1 = getelementptr i8, ptr %b, i64 8
  store i64 1, ptr %b1
  %b2 = getelementptr i8, ptr %b, i64 16
  store i64 %m, ptr %b2
  call i32 @__cudaCDP2LaunchDevice(ptr @pair, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %c = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 24)
  store i64 %n, ptr %c
  %c1 = getelementptr i8, ptr %c, i64 8
  store i64 2, ptr %c1
  %c2 = getelementptr i8, ptr %c, i64 16
  store i64 %m, ptr %c2
  call i32 @__cudaCDP2LaunchDevice(ptr @pair, ptr %c, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}
define ptx_kernel void @pair(i64 %n, i64 %i, i64 %m) #0 {
  ret void
}

; The merged grid of this kernel has the parameters of many launches, and only
; constants are the same.
; SITES: again: launch of 'again', 16 bytes (1 of 2 arguments the same for all), NULL stream:
define ptx_kernel void @again(i64 %n, i64 %k) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 16)
  store i64 %n, ptr %b
  %b1 = getelementptr i8, ptr %b, i64 8
  store i64 5, ptr %b1
  call i32 @__cudaCDP2LaunchDevice(ptr @again, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)

attributes #0 = { convergent nounwind "target-cpu"="sm_90" }
