//===- Prepare.h - Getting a function ready for Polly -----------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_PREPARE_H
#define PACC_PLUGIN_OFFLOAD_PREPARE_H

#include "llvm/IR/PassManager.h"

namespace llvm {
class CallBase;
class Loop;
} // namespace llvm

namespace pacc {

/// Can \p F have a loop worth offloading at all? Looks at the front end's
/// output: a loop that stores to memory and calls nothing unknown.
bool mayHaveAffineLoops(const llvm::Function &F);

/// Bounds what Polly's passes may ask isl, unless its own options say how much.
void boundPolly();

/// A call that may do what a kernel can't, as far as its site tells.
bool isOpaqueCall(const llvm::CallBase &Call);

/// A call in \p L of a function that may do anything, or null.
const llvm::CallBase *unknownCallIn(const llvm::Loop &L);

/// Brings \p F into the form that Polly's detection understands (its own
/// canonicalisation, and one GEP per multi-dimensional access). Returns false
/// as soon as no loop with a computable trip count and a store that walks
/// memory, or a sum, is left; the function has then seen only what -O1 and
/// above do to it first anyway.
bool prepareForPolly(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace pacc

#endif
