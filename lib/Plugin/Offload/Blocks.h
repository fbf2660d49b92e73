//===- Blocks.h - The thread block of a kernel ------------------*- C++ -*-===//
//
// Hands what lib/Poly knows of a kernel's accesses, and what its IR shows of
// its arithmetic, to the ranking of lib/Model.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_BLOCKS_H
#define PACC_PLUGIN_OFFLOAD_BLOCKS_H

#include "Options.h"
#include "pacc/model.h"
#include "pacc/poly.h"
#include <vector>

namespace llvm {
class Function;
}

namespace pacc {

/// A kernel as the model sees it, at the nominal size.
struct KernelWork {
  unsigned Dims = 0;
  uint64_t Extent[3] = {1, 1, 1};
  double Iterations = 1; // statement instances per thread
  std::vector<pacc_access> Accesses;
};

KernelWork describeWork(const pacc_kernel_plan &Plan, const pacc_scop &Facts);

/// The block, and how it was found ("model: 64x4, 3.1e-05 s; next 32x8, ...").
struct BlockChoice {
  unsigned Block[3] = {1, 1, 1};
  std::string Reason;
};

BlockChoice chooseBlock(const llvm::Function &Kernel, const KernelWork &Work,
                        const Options &Opts);

} // namespace pacc

#endif
