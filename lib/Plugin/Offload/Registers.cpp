//===- Registers.cpp - Registers of a kernel without ptxas ----------------===//
#include "Offload/Registers.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace pacc {

namespace {

/// Values that are live at the borders of a block, and the most registers that
/// live values fill anywhere.
class Liveness {
public:
  explicit Liveness(const Function &F) : F(F), DL(F.getDataLayout()) {}

  unsigned peak() {
    bool Changed = true;
    while (Changed) {
      Changed = false;
      for (const BasicBlock *BB : post_order(&F))
        Changed |= visit(*BB);
    }
    return Peak;
  }

private:
  using Set = DenseSet<const Value *>;

  /// Kernel parameters and constants are operands in constant memory, and a
  /// bit is a predicate register: none of them counts.
  unsigned width(const Value *V) const {
    if (!isa<Instruction>(V) || V->getType()->isVoidTy())
      return 0;
    uint64_t Bits = DL.getTypeSizeInBits(V->getType());
    return Bits == 1 ? 0 : (Bits + 31) / 32;
  }

  unsigned width(const Set &Live) const {
    unsigned Sum = 0;
    for (const Value *V : Live)
      Sum += width(V);
    return Sum;
  }

  /// Recomputes what is live at the block's begin. True if that grew.
  bool visit(const BasicBlock &BB) {
    Set Live;
    for (const BasicBlock *Next : successors(&BB)) {
      for (const Value *V : LiveIn[Next])
        Live.insert(V);
      for (const PHINode &Phi : Next->phis())
        add(Live, Phi.getIncomingValueForBlock(&BB));
    }
    unsigned Registers = width(Live);
    Peak = std::max(Peak, Registers);
    for (const Instruction &I : reverse(BB)) {
      if (Live.erase(&I))
        Registers -= width(&I);
      if (isa<PHINode>(I))
        continue;
      for (const Value *V : I.operands())
        Registers += add(Live, V);
      Peak = std::max(Peak, Registers);
    }
    Set &Before = LiveIn[&BB];
    bool Grew = Live.size() != Before.size();
    Before = std::move(Live);
    return Grew;
  }

  /// Returns the registers that this makes live.
  unsigned add(Set &Live, const Value *V) const {
    return isa<Instruction>(V) && Live.insert(V).second ? width(V) : 0;
  }

  const Function &F;
  const DataLayout &DL;
  DenseMap<const BasicBlock *, Set> LiveIn;
  unsigned Peak = 0;
};

} // namespace

/// Registers for loads that ptxas issues ahead: those of an innermost loop
/// without stores all at once, of a short one in several copies.
static unsigned loadedAhead(const Function &F) {
  const unsigned Copies = 3, Enough = 12;
  DominatorTree DT(const_cast<Function &>(F));
  LoopInfo LI(DT);
  unsigned Most = 0;
  for (const Loop *L : LI.getLoopsInPreorder()) {
    if (!L->isInnermost())
      continue;
    unsigned Loaded = 0;
    bool Stores = false;
    for (const BasicBlock *BB : L->blocks())
      for (const Instruction &I : *BB) {
        Stores |= I.mayWriteToMemory();
        if (isa<LoadInst>(I))
          Loaded +=
              (F.getDataLayout().getTypeSizeInBits(I.getType()) + 31) / 32;
      }
    if (!Stores)
      Most = std::max({Most, Loaded, std::min(Loaded * Copies, Enough)});
  }
  return Most;
}

unsigned estimateRegisters(const Function &Kernel) {
  // The stack pointer, and what addresses are put together in.
  const unsigned Always = 4;
  // Sequences of instructions that need registers of their own.
  const unsigned Division = 10;
  bool Divides = any_of(instructions(Kernel), [](const Instruction &I) {
    return I.isIntDivRem() || I.getOpcode() == Instruction::FDiv ||
           I.getOpcode() == Instruction::FRem;
  });
  return Always + Liveness(Kernel).peak() + loadedAhead(Kernel) +
         (Divides ? Division : 0);
}

} // namespace pacc
