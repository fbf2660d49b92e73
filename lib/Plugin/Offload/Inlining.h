//===- Inlining.h - Functions that loops call -------------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_INLINING_H
#define PACC_PLUGIN_OFFLOAD_INLINING_H

#include "llvm/IR/PassManager.h"

namespace pacc {

/// Inlines what the loops of \p F call, as far as the inliner would do it later
/// on: a helper of the program, C++'s `v[i]` or a lambda's body keeps a loop
/// from being affine only until its code is there. Loops that call something
/// else, too, are left as they are. Around loops, what their bounds may come
/// from (`end()`) is inlined. Returns true if anything changed.
bool inlineIntoLoops(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace pacc

#endif
