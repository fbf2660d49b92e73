; What the original may leave undefined stays so where the pass rewrites it.
; RUN: %pacc_opt -passes=polly-acc -pass-remarks=polly-acc -S %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=REMARK
; RUN: FileCheck %s --input-file=%t.ll
; REMARK-DAG: offloaded region 'by_data_scop
; REMARK-DAG: offloaded region 'by_counter_scop
; REMARK-DAG: offloaded region 'rows_scop
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; A choice by a value that may be undef becomes a branch by a frozen one.
; CHECK-LABEL: define void @by_data(
; CHECK: [[IS:%.*]] = icmp sgt i32
; CHECK: [[FROZEN:%.*]] = freeze i1 [[IS]]
; CHECK: br i1 [[FROZEN]]
define void @by_data(ptr noalias %to, ptr noalias %p, ptr noalias %q, ptr noalias %which) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %w.at = getelementptr inbounds i32, ptr %which, i64 %i
  %w = load i32, ptr %w.at
  %is = icmp sgt i32 %w, 0
  %from = select i1 %is, ptr %p, ptr %q
  %at = getelementptr inbounds double, ptr %from, i64 %i
  %x = load double, ptr %at
  %to.at = getelementptr inbounds double, ptr %to, i64 %i
  store double %x, ptr %to.at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 5000
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; If it comes from before the loop, it is frozen there, and the condition is
; affine as before.
; CHECK-LABEL: define void @by_counter(
; CHECK: [[M:%.*]] = freeze i64 %m
; CHECK-NOT: freeze i1
; CHECK: icmp {{.*}}[[M]]
; CHECK-LABEL: define void @rows(
define void @by_counter(i64 %m, ptr noalias %to, ptr noalias %p, ptr noalias %q) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %is = icmp slt i64 %i, %m
  %from = select i1 %is, ptr %p, ptr %q
  %at = getelementptr inbounds double, ptr %from, i64 %i
  %x = load double, ptr %at
  %to.at = getelementptr inbounds double, ptr %to, i64 %i
  store double %x, ptr %to.at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 5000
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; The address passes the row above on its new way to the element, but not on the
; old one: it is not in bounds there where i is 0.
; CHECK: getelementptr [100 x double], ptr %a
; CHECK: getelementptr inbounds [100 x double], ptr %b
define void @rows(ptr noalias %a, ptr noalias %b) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.end ]
  br label %loop
loop:
  %j = phi i64 [ 0, %outer ], [ %j.next, %loop ]
  %a.row = getelementptr inbounds [100 x double], ptr %a, i64 %i
  %a.at = getelementptr inbounds double, ptr %a.row, i64 %j
  %a.back = getelementptr inbounds i8, ptr %a.at, i64 -800
  %x = load double, ptr %a.back
  %b.row = getelementptr inbounds [100 x double], ptr %b, i64 %i
  %b.at = getelementptr inbounds double, ptr %b.row, i64 %j
  store double %x, ptr %b.at
  %j.next = add nuw nsw i64 %j, 1
  %j.more = icmp ult i64 %j.next, 100
  br i1 %j.more, label %loop, label %outer.end
outer.end:
  %i.next = add nuw nsw i64 %i, 1
  %i.more = icmp ult i64 %i.next, 100
  br i1 %i.more, label %outer, label %exit
exit:
  ret void
}
