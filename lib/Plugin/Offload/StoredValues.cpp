//===- StoredValues.cpp - What an iteration stored for the next -----------===//
#include "Offload/StoredValues.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace pacc {

namespace {

/// A loop that is one block, and its accesses; none if it does anything else
/// with memory.
struct Body {
  Loop &L;
  SmallVector<LoadInst *, 8> Loads;
  SmallVector<StoreInst *, 8> Stores;

  static std::optional<Body> of(Loop &L) {
    if (L.getNumBlocks() != 1 || !L.getLoopPreheader())
      return std::nullopt;
    Body B{L, {}, {}};
    for (Instruction &I : *L.getHeader()) {
      if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isSimple())
        B.Loads.push_back(Load);
      else if (auto *Store = dyn_cast<StoreInst>(&I);
               Store && Store->isSimple())
        B.Stores.push_back(Store);
      else if (I.mayReadOrWriteMemory())
        return std::nullopt;
    }
    return B;
  }
};

} // namespace

/// The address as {start, +, step} over the loop, with a step that is known.
static const SCEVAddRecExpr *addressOf(Value *Pointer, const Loop &L,
                                       ScalarEvolution &SE) {
  auto *Address = dyn_cast<SCEVAddRecExpr>(SE.getSCEV(Pointer));
  if (!Address || Address->getLoop() != &L || !Address->isAffine() ||
      !isa<SCEVConstant>(Address->getStepRecurrence(SE)))
    return nullptr;
  return Address;
}

/// Does \p Load read what \p Store wrote one iteration before, all of it and no
/// more, and does the store not touch that again before the load?
static bool readsLast(const LoadInst &Load, const StoreInst &Store,
                      const SCEVAddRecExpr *Address, const Loop &L,
                      ScalarEvolution &SE) {
  const SCEVAddRecExpr *Written =
      addressOf(const_cast<Value *>(Store.getPointerOperand()), L, SE);
  if (!Written || Load.getType() != Store.getValueOperand()->getType())
    return false;
  auto *Step = cast<SCEVConstant>(Address->getStepRecurrence(SE));
  auto *Distance = dyn_cast<SCEVConstant>(SE.getMinusSCEV(Written, Address));
  uint64_t Size =
      Load.getDataLayout().getTypeStoreSize(Load.getType()).getFixedValue();
  return Distance && Written->getStepRecurrence(SE) == Step &&
         Distance->getAPInt() == Step->getAPInt() &&
         Step->getAPInt().abs().uge(Size);
}

/// The store whose value \p Load reads in the next iteration. All others are to
/// memory that the load does not touch.
static StoreInst *findSource(const LoadInst &Load, const Body &B,
                             const SCEVAddRecExpr *Address, ScalarEvolution &SE,
                             AAResults &AA) {
  StoreInst *Source = nullptr;
  for (StoreInst *Store : B.Stores) {
    if (AA.isNoAlias(
            MemoryLocation::getBeforeOrAfter(Load.getPointerOperand()),
            MemoryLocation::getBeforeOrAfter(Store->getPointerOperand())))
      continue;
    if (Source || !readsLast(Load, *Store, Address, B.L, SE))
      return nullptr;
    Source = Store;
  }
  return Source;
}

/// The value of \p Load becomes that of \p Source in the iteration before; the
/// first one is loaded in front of the loop.
static void carry(LoadInst &Load, StoreInst &Source, Value *First,
                  BasicBlock *Preheader) {
  BasicBlock *Body = Load.getParent();
  IRBuilder<> Builder(Preheader->getTerminator());
  LoadInst *Initial =
      Builder.CreateAlignedLoad(Load.getType(), First, Load.getAlign());
  Initial->setDebugLoc(Load.getDebugLoc());
  Builder.SetInsertPoint(Body, Body->begin());
  PHINode *Value = Builder.CreatePHI(Load.getType(), 2);
  Value->addIncoming(Initial, Preheader);
  Value->addIncoming(Source.getValueOperand(), Body);
  Load.replaceAllUsesWith(Value);
  Load.eraseFromParent();
}

PreservedAnalyses KeepStoredValues::run(Function &F,
                                        FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  auto &AA = FAM.getResult<AAManager>(F);
  SCEVExpander Expander(SE, "pacc.first");
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder()) {
    std::optional<Body> B = Body::of(*L);
    if (!B)
      continue;
    Instruction *Before = L->getLoopPreheader()->getTerminator();
    for (LoadInst *Load : B->Loads) {
      auto *Address = addressOf(Load->getPointerOperand(), *L, SE);
      StoreInst *Source =
          Address ? findSource(*Load, *B, Address, SE, AA) : nullptr;
      if (!Source || !Expander.isSafeToExpandAt(Address->getStart(), Before))
        continue;
      carry(*Load, *Source,
            Expander.expandCodeFor(Address->getStart(),
                                   Load->getPointerOperandType(), Before),
            L->getLoopPreheader());
      Changed = true;
    }
  }
  if (!Changed)
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}

} // namespace pacc
