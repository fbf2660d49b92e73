//===- ConditionalUpdates.cpp - Updates that may not happen ---------------===//
#include "Offload/Combination.h"
#include "Offload/Reductions.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace pacc {

namespace {

/// One value that meets in a PHI: the base after some updates.
struct Arm {
  BasicBlock *From;
  SmallVector<std::pair<Instruction *, Combination>, 2> Updates; // last first
};

/// A PHI each of whose values is the base or comes from it by updates:
///   s' = phi(s + x, s)  ->  s' = s + phi(x, 0)
class ConditionalUpdate {
public:
  ConditionalUpdate(PHINode &Join, DominatorTree &DT) : Join(Join), DT(DT) {}

  bool match() {
    SmallSetVector<Value *, 8> Candidates;
    for (Value *V : Join.incoming_values()) {
      Candidates.insert(V);
      if (auto *I = dyn_cast<Instruction>(V))
        Candidates.insert(I->op_begin(), I->op_end());
    }
    return any_of(Candidates, [&](Value *V) { return matchBase(V); });
  }

  void rewrite() {
    IRBuilder<> Builder(&Join);
    PHINode *Operand = Builder.CreatePHI(Join.getType(), Arms.size());
    for (Arm &A : Arms) {
      Value *Merged = How->identity();
      Builder.SetInsertPoint(A.From->getTerminator());
      for (auto &[Update, Its] : reverse(A.Updates)) {
        Value *New = Its.createNew(Builder, *Update);
        Merged =
            Merged == How->identity() ? New : How->create(Builder, Merged, New);
      }
      Operand->addIncoming(Merged, A.From);
    }
    BasicBlock *BB = Join.getParent();
    Builder.SetInsertPoint(BB, BB->getFirstInsertionPt());
    Join.replaceAllUsesWith(How->create(Builder, Base, Operand));
    SmallVector<WeakTrackingVH, 4> Unused(Join.incoming_values());
    Join.eraseFromParent();
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(Unused);
  }

private:
  bool matchBase(Value *V) {
    Base = V;
    How.reset();
    Arms.clear();
    auto *I = dyn_cast<Instruction>(V);
    if (isa<Constant>(V) || (I && !DT.dominates(I, &Join)))
      return false;
    for (BasicBlock *From : Join.blocks()) {
      if (any_of(Arms, [&](const Arm &A) { return A.From == From; }))
        return false;
      Arms.push_back({From, {}});
      if (!matchArm(Join.getIncomingValueForBlock(From), Arms.back()))
        return false;
    }
    return How.has_value();
  }

  bool matchArm(Value *V, Arm &A) {
    const unsigned MaxUpdates = 4;
    if (V == Base)
      return true;
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !I->hasOneUse() || A.Updates.size() == MaxUpdates)
      return false;
    for (Value *Old : I->operands()) {
      auto Its = Combination::of(*I, *Old);
      if (!Its || (How && !How->isLike(*Its)))
        continue;
      auto Before = How;
      How = How ? How->meet(*Its) : *Its;
      A.Updates.push_back({I, *Its});
      if (matchArm(Old, A))
        return true;
      A.Updates.pop_back();
      How = Before;
    }
    return false;
  }

  PHINode &Join;
  DominatorTree &DT;
  Value *Base = nullptr;
  std::optional<Combination> How;
  SmallVector<Arm, 4> Arms;
};

} // namespace

bool makeUnconditional(PHINode &Join, DominatorTree &DT) {
  ConditionalUpdate Update(Join, DT);
  if (!Update.match())
    return false;
  Update.rewrite();
  return true;
}

bool makeUnconditional(SelectInst &Select) {
  for (bool Happens : {true, false}) {
    Value *Base = Select.getOperand(Happens ? 2 : 1);
    auto *Update = dyn_cast<Instruction>(Select.getOperand(Happens ? 1 : 2));
    auto How = Update && Update->hasOneUse() ? Combination::of(*Update, *Base)
                                             : std::nullopt;
    if (!How)
      continue;
    IRBuilder<> Builder(&Select);
    Value *New = How->createNew(Builder, *Update), *None = How->identity();
    New = Builder.CreateSelect(Select.getCondition(), Happens ? New : None,
                               Happens ? None : New);
    Select.replaceAllUsesWith(How->create(Builder, Base, New));
    Select.eraseFromParent();
    RecursivelyDeleteTriviallyDeadInstructions(Update);
    return true;
  }
  return false;
}

} // namespace pacc
