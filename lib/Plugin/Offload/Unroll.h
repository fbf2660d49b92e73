//===- Unroll.h - More loads under way -------------------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_UNROLL_H
#define PACC_PLUGIN_OFFLOAD_UNROLL_H

#include "Offload/Blocks.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"

namespace pacc {

/// Has LLVM unroll the innermost loops of a kernel whose threads are too few to
/// keep memory busy, as often as pacc_iterations_in_flight says. Loops that
/// write memory stay as they are: no load passes a store. For optimised code in
/// which sums are values.
void unrollWaitingLoops(const llvm::LoopInfo &LI, KernelWork &Work,
                        const Options &Opts);

/// Moves loads to the front of innermost loops without branches, past stores
/// that do not touch what they load: in PTX nothing says that they may pass.
/// True if any moved. For loops that are unrolled already.
bool moveLoadsFirst(const llvm::LoopInfo &LI, llvm::AAResults &AA);

} // namespace pacc

#endif
