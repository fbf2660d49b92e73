//===- Choices.h - Accesses of one of several arrays ------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_CHOICES_H
#define PACC_PLUGIN_OFFLOAD_CHOICES_H

#include "llvm/IR/PassManager.h"

namespace pacc {

/// `(c ? p : q)[i]` in a loop, which InstCombine also makes of
/// `c ? p[i] : q[j]`, becomes one access under c and one under !c. To Polly a
/// chosen pointer is a scalar; two accesses are what they are. Returns true if
/// anything changed.
bool splitChosenAccesses(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace pacc

#endif
