; What print<polly-acc-agg-sites> says: granularity, stream and reason.
;
; RUN: %pacc_opt -passes='print<polly-acc-agg-sites>' -disable-output %s 2>&1 | %FileCheck %s
; RUN: %pacc_opt -polly-acc-agg=warp -passes='print<polly-acc-agg-sites>' -disable-output %s 2>&1 | %FileCheck %s --check-prefix=WARP
; RUN: %pacc_opt -polly-acc-agg=block -passes='print<polly-acc-agg-sites>' -disable-output %s 2>&1 | %FileCheck %s --check-prefix=BLOCK
; RUN: sed 's/nvptx64-nvidia-cuda/x86_64-linux-gnu/' %s | %pacc_opt -passes='print<polly-acc-agg-sites>' -disable-output 2>&1 | %FileCheck %s --check-prefix=HOST
; HOST: no device code

target triple = "nvptx64-nvidia-cuda"
%dim3 = type { i32, i32, i32 }
@d = constant %dim3 { i32 1, i32 1, i32 1 }

; With one launch per thread no order is left to keep.
; CHECK: once: launch of 'leaf', 0 bytes, NULL stream: merged over the grid into the per-thread stream: each thread launches at most once here, and nothing depends on when
; WARP: once: launch of 'leaf', 0 bytes, NULL stream: merged over the warp into the per-thread stream: as asked for
; BLOCK: once: launch of 'leaf', 0 bytes, NULL stream: merged over the block into the per-thread stream: as asked for
define ptx_kernel void @once(i1 %c) #0 {
  br i1 %c, label %go, label %done
go:
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  br label %done
done:
  ret void
}

; Two launches of a thread stay in order, in the block's NULL stream.
; CHECK: two: launch of 'leaf', 0 bytes, NULL stream: merged over the grid into the NULL stream
; CHECK: two: launch of 'leaf', 0 bytes, per-thread stream: merged over the grid into the NULL stream
define ptx_kernel void @two() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %b2 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice_ptsz(ptr @leaf, ptr %b2, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}

; CHECK: loop: launch of 'leaf', 0 bytes, NULL stream: merged over the block into the NULL stream: it is in a loop
; WARP: loop: launch of 'leaf', 0 bytes, NULL stream: merged over the warp into the NULL stream: as asked for
; BLOCK: loop: launch of 'leaf', 0 bytes, NULL stream: merged over the block into the NULL stream: it is in a loop
define ptx_kernel void @loop(i1 %c) #0 {
  br label %go
go:
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  br i1 %c, label %go, label %done
done:
  ret void
}

; CHECK: tail: launch of 'leaf', 0 bytes, tail stream: merged over the grid into the tail stream
; CHECK: tail: launch of 'leaf', 0 bytes, fire-and-forget stream: merged over the grid into the per-thread stream
define ptx_kernel void @tail() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 3 to ptr))
  %b2 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b2, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 4 to ptr))
  ret void
}

; The launch that stays pins the order of the other.
; CHECK: mixed: launch of 'leaf', 0 bytes, NULL stream: merged over the warp into the NULL stream: its order with other operations has to stay: it has launches that stay as they are
; CHECK: mixed: launch of 'leaf', 0 bytes, other stream: stays as it is: it goes into a stream that the program made
define ptx_kernel void @mixed(ptr %s) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  %b2 = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b2, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr %s)
  ret void
}

; CHECK: exits: launch of 'leaf', 0 bytes, NULL stream: merged over the warp into the per-thread stream: threads end by an exit instruction
define ptx_kernel void @exits(i1 %c) #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  br i1 %c, label %out, label %done
out:
  call void asm sideeffect "exit;", ""()
  unreachable
done:
  ret void
}

; A helper becomes part of its kernel. One that calls itself can't; nothing is
; known about who else calls a function that other files see.
; CHECK: inlined: launch of 'leaf', 0 bytes, NULL stream: merged over the grid into the per-thread stream
define ptx_kernel void @inlined() #0 {
  call void @helper()
  ret void
}
define internal void @helper() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr null)
  ret void
}
define ptx_kernel void @recursive(i32 %n) #0 {
  call void @again(i32 %n)
  ret void
}
; CHECK: again: launch of 'leaf', 0 bytes, NULL stream: merged over the warp into the NULL stream: it is in a function that could not be inlined into a kernel
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
; CHECK: seen: launch of 'leaf', 0 bytes, per-thread stream: stays as it is: the thread's stream may hold other operations: it may be called from another file
define void @seen() #0 {
  %b = call ptr @__cudaCDP2GetParameterBuffer(i64 64, i64 0)
  call i32 @__cudaCDP2LaunchDevice(ptr @leaf, ptr %b, ptr byval(%dim3) align 4 @d, ptr byval(%dim3) align 4 @d, i32 0, ptr inttoptr (i64 2 to ptr))
  ret void
}

; Nine launches are more than a kernel keeps waiting.
; CHECK-COUNT-9: many: launch of 'leaf', 0 bytes, NULL stream: merged over the warp into the NULL stream: the kernel has more than 8 launches
define ptx_kernel void @many() #0 {
  call void @three()
  call void @three()
  call void @three()
  ret void
}
define internal void @three() #0 {
  call void @helper()
  call void @helper()
  call void @helper()
  ret void
}

define ptx_kernel void @leaf() #0 {
  ret void
}
declare ptr @__cudaCDP2GetParameterBuffer(i64, i64)
declare i32 @__cudaCDP2LaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)
declare i32 @__cudaCDP2LaunchDevice_ptsz(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)
attributes #0 = { convergent nounwind "target-cpu"="sm_90" }
