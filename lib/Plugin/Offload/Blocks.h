//===- Blocks.h - The thread block of a kernel ------------------*- C++ -*-===//
//
// Hands what lib/Poly knows of a kernel's accesses, and what its IR shows of
// its arithmetic, to the ranking of lib/Model.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_BLOCKS_H
#define PACC_PLUGIN_OFFLOAD_BLOCKS_H

#include "Options.h"
#include "pacc/abi.h"
#include "pacc/model.h"
#include "pacc/poly.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

namespace llvm {
class Function;
}

namespace pacc {

/// A kernel as the model sees it, at the expected sizes. Accesses have numbers
/// of arrays and no names.
struct KernelWork {
  unsigned Dims = 0;
  uint64_t Extent[3] = {1, 1, 1};
  double Active = 1;     // share of the threads that do work
  double Iterations = 1; // statement instances per thread
  bool Combine = false;  // warps along x combine their updates
  std::vector<pacc_access> Accesses;
  std::vector<std::string> Arrays;
  /// Operations of a thread, counted before optimisation by countOperations.
  double Fp64 = 0, Fp32 = 0, Special = 0;
  unsigned Unrolled = 0;  // by unrollWaitingLoops
  bool LoadsPass = false; // stores of earlier iterations, by moveLoadsFirst
  /// The shape that is asked for, and where: "annotation", "file"; or none.
  BlockShape Given;
  const char *GivenBy = "annotation";
};

KernelWork describeWork(const pacc_kernel_plan &Plan, const pacc_scop &Facts);
void countOperations(const llvm::Function &Kernel, KernelWork &Work);

/// What a thread and a block of a kernel take: from ptxas, or registers that
/// were estimated.
struct KernelResources {
  uint32_t Registers = 0;
  uint32_t Spills = 0; // bytes of stores and loads
  bool Exact = false;
};

/// The block and what else there was.
struct BlockChoice {
  uint32_t Block[3] = {1, 1, 1};
  /// "auto", "annotation", ..., or why nothing was ranked.
  std::string Reason;
  /// The chosen block, as the model sees it.
  pacc_block_score Score = {};
  /// All candidates, best first; empty if nothing was ranked.
  std::vector<pacc_block_score> Ranking;
  bool ComplexAccess = false, Sync = false;
  /// Better blocks for smaller launches, the smallest first.
  std::vector<pacc_sized_block> Smaller;
};

BlockChoice chooseBlock(const KernelWork &Work,
                        const KernelResources &Resources, const Options &Opts);

/// A kernel of which a loop makes launches: its number, or what it does, how
/// many launches are expected, and whether they wait for others.
struct LoopPhase {
  unsigned Kernel;
  double Launches;
  bool Waits;
};
struct PhaseWork {
  const KernelWork *Work;
  double Launches;
  bool Waits;
};

/// The block for a kernel that runs the whole loop, in which every phase has
/// the threads that it has in a block of its own dimensions. \p Loop: has the
/// shape that was asked for.
BlockChoice chooseLoopBlock(llvm::ArrayRef<PhaseWork> Phases,
                            const KernelResources &Resources,
                            const KernelWork &Loop, const Options &Opts);

/// The model's input for a kernel; it borrows from \p Work.
pacc_work modelWork(const KernelWork &Work, const KernelResources &Resources);

/// Shapes of kernels by their names. The file's lines are "KERNEL WxHxD"; what
/// follows a # does not count.
llvm::Expected<llvm::StringMap<BlockShape>> readBlockFile(llvm::StringRef Path);

/// The shape that `__attribute__((annotate("polly-acc-block=64x4")))` gives the
/// kernels of \p F; none without it.
llvm::Expected<BlockShape> annotatedBlock(const llvm::Function &F);

} // namespace pacc

#endif
