//===- BlockReport.h - Why a kernel has its block ---------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_BLOCKREPORT_H
#define PACC_PLUGIN_OFFLOAD_BLOCKREPORT_H

#include "Offload/Blocks.h"
#include "llvm/IR/DebugLoc.h"

namespace llvm {
class BasicBlock;
class OptimizationRemarkEmitter;
class raw_ostream;
} // namespace llvm

namespace pacc {

/// A kernel and all that its block was chosen from.
struct BlockReport {
  llvm::StringRef Kernel;
  const KernelWork &Work;
  const KernelResources &Resources;
  const BlockChoice &Choice;
};

/// Accesses under the chosen block, and every candidate with its terms.
void printBlocks(llvm::raw_ostream &OS, const BlockReport &Report);

/// An analysis remark of polly-acc-blocks: the choice, the runner-up and the
/// reason; accesses and candidates go into the serialised remark alone, for
/// pacc-report.
void remarkBlocks(llvm::OptimizationRemarkEmitter &ORE,
                  const llvm::DebugLoc &Loc, llvm::BasicBlock &BB,
                  const BlockReport &Report);

/// "34 registers (ptxas)" or "36 registers (estimated)".
std::string printRegisters(const KernelResources &Resources);

} // namespace pacc

#endif
