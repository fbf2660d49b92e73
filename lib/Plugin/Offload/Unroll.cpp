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

/// What \p Load needs of its block, itself included, in order: no memory but
/// what is among \p First.
static std::optional<SmallVector<Instruction *, 8>>
neededBy(LoadInst &Load, const SmallPtrSetImpl<Instruction *> &First) {
  SmallSetVector<Instruction *, 8> Needed;
  Needed.insert(&Load);
  for (unsigned I = 0; I < Needed.size(); ++I)
    for (Value *V : Needed[I]->operands()) {
      auto *Operand = dyn_cast<Instruction>(V);
      if (!Operand || Operand->getParent() != Load.getParent() ||
          isa<PHINode>(Operand) || First.contains(Operand))
        continue;
      if (Operand->mayReadOrWriteMemory())
        return std::nullopt;
      Needed.insert(Operand);
    }
  SmallVector<Instruction *, 8> InOrder(Needed.begin(), Needed.end());
  sort(InOrder, [](const Instruction *A, const Instruction *B) {
    return A->comesBefore(B);
  });
  return InOrder;
}

static bool moveLoadsFirst(BasicBlock &BB, AAResults &AA) {
  SmallVector<Instruction *, 16> Accesses;
  for (Instruction &I : BB) {
    if (!I.mayReadOrWriteMemory())
      continue;
    auto *Load = dyn_cast<LoadInst>(&I);
    auto *Store = dyn_cast<StoreInst>(&I);
    if (!(Load && Load->isSimple()) && !(Store && Store->isSimple()))
      return false;
    Accesses.push_back(&I);
  }
  SmallVector<MemoryLocation, 8> Stored;
  SmallPtrSet<Instruction *, 32> First;
  BasicBlock::iterator Front = BB.getFirstNonPHIIt();
  bool Passed = false;
  for (Instruction *I : Accesses) {
    auto *Load = dyn_cast<LoadInst>(I);
    if (!Load) {
      Stored.push_back(MemoryLocation::get(cast<StoreInst>(I)));
      continue;
    }
    MemoryLocation Read = MemoryLocation::get(Load);
    if (!all_of(Stored, [&](const MemoryLocation &Location) {
          return AA.isNoAlias(Read, Location);
        }))
      continue;
    auto Needed = neededBy(*Load, First);
    if (!Needed)
      continue;
    for (Instruction *Moved : *Needed) {
      if (Moved == &*Front)
        ++Front;
      else
        Moved->moveBefore(BB, Front);
      First.insert(Moved);
    }
    Passed |= !Stored.empty();
  }
  return Passed;
}

bool moveLoadsFirst(const LoopInfo &LI, AAResults &AA) {
  bool Moved = false;
  for (Loop *L : LI.getLoopsInPreorder())
    if (L->getNumBlocks() == 1)
      Moved |= moveLoadsFirst(*L->getHeader(), AA);
  return Moved;
}

} // namespace pacc
