//===- RuntimeCalls.h - Calls of the host runtime ---------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_RUNTIMECALLS_H
#define PACC_PLUGIN_OFFLOAD_RUNTIMECALLS_H

#include "llvm/IR/IRBuilder.h"

namespace pacc {

/// Calls a function of pacc/abi.h at the builder's position.
llvm::CallInst *callRuntime(llvm::IRBuilderBase &Builder,
                            llvm::StringRef Function, llvm::Type *Result,
                            llvm::ArrayRef<llvm::Value *> Arguments);

/// The call is no reason not to inline the function that it stands in.
void ignoreInlineCost(llvm::CallInst &Call);

} // namespace pacc

#endif
