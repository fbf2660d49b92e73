//===- StoredValues.h - What an iteration stored for the next ---*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_STOREDVALUES_H
#define PACC_PLUGIN_OFFLOAD_STOREDVALUES_H

#include "llvm/IR/PassManager.h"

namespace pacc {

/// Recurrences along an array (v[j] = p[j] * v[j + 1] + q[j]) keep the value in
/// a register for the next iteration, which would wait for memory else. LLVM's
/// own pass does so for neighbouring addresses only; a thread mostly walks
/// along a column. For innermost loops without branches, before they are
/// unrolled.
struct KeepStoredValues : llvm::PassInfoMixin<KeepStoredValues> {
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
};

} // namespace pacc

#endif
