//===- Choices.cpp - Accesses of one of several arrays --------------------===//
#include "Offload/Choices.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace pacc {

namespace {

/// Makes conditions fit to branch on: what may be undef is frozen. Values from
/// before all loops are frozen there, for all their uses, so that conditions
/// that were affine still are.
class Freezer {
public:
  explicit Freezer(LoopInfo &LI) : LI(LI) {}

  Value *freeze(Value *Condition, Instruction *Before) {
    Visited.clear();
    if (freezeSources(Condition))
      return Condition;
    return new FreezeInst(Condition, "", Before->getIterator());
  }

private:
  /// Returns false, perhaps after some freezing, if that is not enough.
  bool freezeSources(Value *V) {
    if (isGuaranteedNotToBeUndef(V) || !Visited.insert(V).second)
      return true;
    auto *I = dyn_cast<Instruction>(V);
    if (isa<Argument>(V) || (I && !LI.getLoopFor(I->getParent())))
      return freezeDefinition(V);
    return I && isa<PHINode, CmpInst, CastInst, BinaryOperator>(I) &&
           all_of(SmallVector<Value *, 4>(I->operands()),
                  [&](Value *Operand) { return freezeSources(Operand); });
  }

  bool freezeDefinition(Value *V) {
    std::optional<BasicBlock::iterator> Place;
    if (auto *I = dyn_cast<Instruction>(V))
      Place = I->getInsertionPointAfterDef();
    else
      Place = cast<Argument>(V)
                  ->getParent()
                  ->getEntryBlock()
                  .getFirstNonPHIOrDbgOrAlloca();
    if (!Place)
      return false;
    auto *Frozen = new FreezeInst(V, V->getName(), *Place);
    V->replaceUsesWithIf(Frozen, [&](Use &U) { return U.getUser() != Frozen; });
    return true;
  }

  LoopInfo &LI;
  SmallPtrSet<Value *, 8> Visited;
};

/// One load or store whose address is GEPs of a select or of a PHI.
class ChosenAccess {
public:
  ChosenAccess(Instruction &Access, DominatorTree &DT, LoopInfo &LI)
      : Access(Access), DT(DT), LI(LI) {
    Value *Address = getLoadStorePointerOperand(&Access);
    while (auto *GEP = dyn_cast<GetElementPtrInst>(Address)) {
      GEPs.push_back(GEP);
      Address = GEP->getPointerOperand();
    }
    Choice = dyn_cast<Instruction>(Address);
  }

  /// Splits it; \p New gets the accesses that stand for it. Returns false and
  /// changes nothing where that is not possible.
  bool split(SmallVectorImpl<Instruction *> &New) {
    if (!Choice || !LI.getLoopFor(Choice->getParent()))
      return false;
    if (auto *Select = dyn_cast<SelectInst>(Choice))
      splitSelect(*Select, New);
    else if (auto *PHI = dyn_cast<PHINode>(Choice); PHI && canSplit(*PHI))
      splitPHI(*PHI, New);
    else
      return false;
    SmallVector<WeakTrackingVH, 4> Unused;
    for (Value *Operand : Access.operands())
      Unused.push_back(Operand);
    if (Join)
      Access.replaceAllUsesWith(Join);
    Access.eraseFromParent();
    RecursivelyDeleteTriviallyDeadInstructionsPermissive(Unused);
    return true;
  }

private:
  void splitSelect(SelectInst &Select, SmallVectorImpl<Instruction *> &New) {
    Instruction *Then, *Else;
    DomTreeUpdater Updater(DT, DomTreeUpdater::UpdateStrategy::Eager);
    Value *Condition = Freezer(LI).freeze(Select.getCondition(), &Access);
    SplitBlockAndInsertIfThenElse(Condition, Access.getIterator(), &Then, &Else,
                                  nullptr, &Updater, &LI);
    createJoin(Access.getParent(), 2);
    auto Same = [](Value *V) { return V; };
    New.push_back(copyTo(Then, Select.getTrueValue(), Same));
    New.push_back(copyTo(Else, Select.getFalseValue(), Same));
  }

  /// A PHI's access moves into the predecessors: nothing may stand before it
  /// that it could conflict with or that its operands need.
  bool canSplit(PHINode &PHI) const {
    BasicBlock *BB = PHI.getParent();
    if (Access.getParent() != BB || LI.isLoopHeader(BB) ||
        PHI.getNumIncomingValues() < 2)
      return false;
    for (Instruction &I : make_range(BB->begin(), Access.getIterator()))
      if (I.mayHaveSideEffects() ||
          (isa<StoreInst>(Access) && I.mayReadFromMemory()))
        return false;
    auto IsThere = [&](Value *V) {
      auto *I = dyn_cast<Instruction>(V);
      return !I || I->getParent() != BB || isa<PHINode>(I);
    };
    for (GetElementPtrInst *GEP : GEPs)
      if (!all_of(GEP->indices(), IsThere))
        return false;
    if (auto *Store = dyn_cast<StoreInst>(&Access);
        Store && !IsThere(Store->getValueOperand()))
      return false;
    SmallPtrSet<BasicBlock *, 4> Seen;
    return all_of(PHI.blocks(), [&](BasicBlock *Pred) {
      return Seen.insert(Pred).second &&
             (isa<BranchInst>(Pred->getTerminator()) ||
              isa<SwitchInst>(Pred->getTerminator()));
    });
  }

  void splitPHI(PHINode &PHI, SmallVectorImpl<Instruction *> &New) {
    BasicBlock *BB = PHI.getParent();
    // The PHIs of BB name the new blocks of split edges afterwards.
    SmallVector<BasicBlock *, 4> Predecessors(PHI.blocks());
    for (BasicBlock *&Pred : Predecessors)
      if (!Pred->getSingleSuccessor())
        Pred = SplitEdge(Pred, BB, &DT, &LI);
    createJoin(BB, Predecessors.size());
    for (BasicBlock *Pred : Predecessors) {
      auto Incoming = [&](Value *V) { return V->DoPHITranslation(BB, Pred); };
      New.push_back(copyTo(Pred->getTerminator(),
                           PHI.getIncomingValueForBlock(Pred), Incoming));
    }
  }

  void createJoin(BasicBlock *BB, unsigned Values) {
    if (isa<LoadInst>(Access))
      Join = PHINode::Create(Access.getType(), Values, Access.getName(),
                             BB->begin());
  }

  /// The access with \p Base instead of the choice.
  Instruction *copyTo(Instruction *Before, Value *Base,
                      function_ref<Value *(Value *)> Translate) {
    Value *Address = Base;
    for (GetElementPtrInst *GEP : reverse(GEPs)) {
      Instruction *Copy = GEP->clone();
      for (Use &Index : Copy->operands())
        Index.set(Translate(Index));
      Copy->setOperand(0, Address);
      Copy->insertBefore(Before->getIterator());
      Address = Copy;
    }
    Instruction *Copy = Access.clone();
    if (isa<StoreInst>(Copy))
      Copy->setOperand(0, Translate(Copy->getOperand(0)));
    Copy->setOperand(isa<StoreInst>(Copy) ? 1 : 0, Address);
    Copy->insertBefore(Before->getIterator());
    if (Join)
      Join->addIncoming(Copy, Before->getParent());
    return Copy;
  }

  Instruction &Access;
  DominatorTree &DT;
  LoopInfo &LI;
  SmallVector<GetElementPtrInst *, 4> GEPs; // the access's own one first
  Instruction *Choice = nullptr;
  PHINode *Join = nullptr; // of a load
};

} // namespace

bool splitChosenAccesses(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  SmallVector<Instruction *, 32> Worklist;
  for (Instruction &I : instructions(F)) {
    bool Simple = isa<LoadInst>(I)    ? cast<LoadInst>(I).isSimple()
                  : isa<StoreInst>(I) ? cast<StoreInst>(I).isSimple()
                                      : false;
    if (Simple && LI.getLoopFor(I.getParent()))
      Worklist.push_back(&I);
  }
  bool Changed = false;
  while (!Worklist.empty()) {
    Instruction *Access = Worklist.pop_back_val();
    // A new access may have a choice of its own.
    Changed |= ChosenAccess(*Access, DT, LI).split(Worklist);
  }
  return Changed;
}

} // namespace pacc
