//===- Unroll.cpp - More loads under way ----------------------------------===//

#include "Offload/Unroll.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace pacc {

/// Does each iteration load something else, and write nothing?
static bool onlyLoads(const Loop &L) {
  bool Loads = false;
  for (const BasicBlock *BB : L.blocks())
    for (const Instruction &I : *BB) {
      if (I.mayWriteToMemory())
        return false;
      auto *Load = dyn_cast<LoadInst>(&I);
      Loads |= Load && !L.isLoopInvariant(Load->getPointerOperand());
    }
  return Loads;
}

void unrollWaitingLoops(const LoopInfo &LI, KernelWork &Work,
                        const Options &Opts) {
  // LLVM's own unrolling gives some four; shorter loops would mostly run the
  // iterations that are left over.
  const unsigned Least = 8, ShortLoop = 8;
  const pacc_work Model = modelWork(Work, KernelResources());
  unsigned Count =
      pacc_iterations_in_flight(pacc_gpu_find(Opts.Arch.c_str()), &Model);
  if (Count < Least || Work.Iterations < double(ShortLoop) * Count)
    return;
  for (Loop *L : LI.getLoopsInPreorder())
    if (L->isInnermost() && onlyLoads(*L)) {
      addStringMetadataToLoop(L, "llvm.loop.unroll.count", Count);
      Work.Unrolled = Count;
    }
}

} // namespace pacc
