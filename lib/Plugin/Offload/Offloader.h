//===- Offloader.h - From a module to kernels -------------------*- C++ -*-===//
//
// Finds the regions of a module, plans each (lib/Poly), accepts or rejects it
// with a remark, and has its code generated. The original loops stay in the
// program in any case, so that a plan that fails late just never runs.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_OFFLOADER_H
#define PACC_PLUGIN_OFFLOAD_OFFLOADER_H

#include "Offload/DeviceModule.h"
#include "Offload/ScopFacts.h"
#include "Options.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/ValueHandle.h"

namespace llvm {
class BasicBlock;
class OptimizationRemarkEmitter;
} // namespace llvm

namespace pacc {

/// What became of one region.
struct RegionReport {
  std::string Function, Name, Location;
  llvm::DebugLoc Loc;
  std::string Rejected; // the reason; empty for an offloaded region
  unsigned FirstKernel = 0, NumKernels = 0;
  std::vector<std::string> Arrays; // "A: in, out"
};

class Offloader {
public:
  Offloader(llvm::Module &M, llvm::FunctionAnalysisManager &FAM,
            const Options &Opts)
      : M(M), FAM(FAM), Opts(Opts), Device(M, Opts) {}

  /// Returns true if the module changed.
  bool run();

  llvm::ArrayRef<RegionReport> reports() const { return Reports; }
  const DeviceModule &device() const { return Device; }

private:
  bool isCandidate(const llvm::Function &F) const;
  bool runOnFunction(llvm::Function &F);
  bool offloadNext(llvm::Function &F);
  bool offloadRegion(polly::Scop &S);
  /// False: Polly can't load a value before the region that its bounds need;
  /// the original loops are all that is left then.
  bool generate(polly::Scop &S, const struct RegionAst &Region,
                llvm::ArrayRef<Cell> Cells, const RegionReport &Report);
  bool reject(polly::Scop &S, const Rejection &Why, RegionReport Report);
  bool cut(const llvm::Region &R, size_t MaxLoops);
  bool cutOffSerial(polly::Scop &S, const pacc_mapping &Mapping);
  struct LoopSequence;
  bool cutAt(const llvm::Region &R, const LoopSequence &Sequence, size_t Twice);
  void removeCuts();
  void reportLeftLoops(llvm::Function &F);
  void reportKernels();

  llvm::Module &M;
  llvm::FunctionAnalysisManager &FAM;
  const Options &Opts;
  DeviceModule Device;
  std::vector<RegionReport> Reports;
  /// Blocks of regions that are done with, offloaded or not.
  llvm::DenseSet<const llvm::BasicBlock *> Handled;
  /// Calls that open the regions of the function that is worked on.
  llvm::SmallVector<llvm::WeakVH, 4> Begins;
  /// Calls that no region can have in it, until the function is done.
  llvm::SmallVector<llvm::WeakVH, 4> Cuts;
  unsigned NumHalved = 0;
  unsigned NumRegions = 0;
  /// What the function that is worked on asks for.
  BlockShape Annotated;
};

} // namespace pacc

#endif
