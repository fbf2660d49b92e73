//===- StructCopies.h - Copies of a few bytes -------------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_STRUCTCOPIES_H
#define PACC_PLUGIN_OFFLOAD_STRUCTCOPIES_H

#include "llvm/IR/PassManager.h"

namespace pacc {

/// Writes memcpy, memmove and memset of a small constant size in loops (what
/// the front end makes of `a[i] = b[i]` for structs) as loads and stores of
/// whole numbers, one per field. Returns true if anything changed.
bool splitStructCopies(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace pacc

#endif
