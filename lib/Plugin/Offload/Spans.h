//===- Spans.h - Data that stays on the device ------------------*- C++ -*-===//
//
// Several offloaded regions, with code between them that does nothing but
// compute values, become a span: their arrays stay on the device until its end
// (pacc/abi.h). The code of a span exists twice. One copy keeps the data on the
// device; when anything fails there, nothing has happened yet as far as the
// program can tell, and the other copy runs from the beginning, where each
// region is for itself.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_SPANS_H
#define PACC_PLUGIN_OFFLOAD_SPANS_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/ValueHandle.h"

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace pacc {

class DeviceModule;

/// Arrays of a region that this metadata is on do not outlive the region.
inline constexpr const char *CellMetadata = "pacc.cell";

/// Forms the spans of \p F, whose regions were opened by the calls \p Begins.
/// Copied blocks become \p Handled.
void formSpans(llvm::Function &F, llvm::FunctionAnalysisManager &FAM,
               DeviceModule &Device, llvm::ArrayRef<llvm::WeakVH> Begins,
               llvm::DenseSet<const llvm::BasicBlock *> &Handled);

} // namespace pacc

#endif
