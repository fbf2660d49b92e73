//===- Invariants.cpp - Values that stay the same in a loop ---------------===//
#include "Offload/Invariants.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/MemorySSAUpdater.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace pacc {

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Is \p V computed, without memory, from what doesn't change in \p L?
static bool isInvariant(const Value *V, const Loop &L) {
  if (L.isLoopInvariant(V))
    return true;
  auto *I = cast<Instruction>(V);
  return (isa<GetElementPtrInst>(I) || isa<CastInst>(I) ||
          isa<BinaryOperator>(I)) &&
         all_of(I->operands(), [&](Value *Op) { return isInvariant(Op, L); });
}

static bool isCandidate(const Instruction &I, const Loop &L) {
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && Load->isSimple() &&
         (Load->getType()->isIntegerTy() || Load->getType()->isPointerTy()) &&
         isInvariant(Load->getPointerOperand(), L);
}

static void hoistFrom(Loop &L, LoopInfo &LI, DominatorTree &DT,
                      MemorySSA &MSSA) {
  BasicBlock *Preheader = L.getLoopPreheader();
  if (!Preheader)
    return;
  MemorySSAUpdater Updater(&MSSA);
  SimpleLoopSafetyInfo Safety;
  Safety.computeLoopSafetyInfo(&L);
  LoopBlocksRPO Order(&L);
  Order.perform(&LI);
  for (BasicBlock *BB : Order)
    for (Instruction &I : make_early_inc_range(*BB)) {
      if (!isCandidate(I, L))
        continue;
      bool Happens = Safety.isGuaranteedToExecute(I, &DT, &L);
      if (!Happens && !isSafeToSpeculativelyExecute(
                          &I, Preheader->getTerminator(), nullptr, &DT))
        continue;
      MemoryAccess *Clobber = MSSA.getWalker()->getClobberingMemoryAccess(&I);
      bool Moved = false;
      if (L.contains(Clobber->getBlock()) ||
          !L.makeLoopInvariant(I.getOperand(0), Moved,
                               Preheader->getTerminator(), &Updater))
        continue;
      I.moveBefore(Preheader->getTerminator()->getIterator());
      if (!Happens)
        I.dropUBImplyingAttrsAndMetadata();
      Updater.moveToPlace(MSSA.getMemoryAccess(&I), Preheader,
                          MemorySSA::BeforeTerminator);
    }
}

void hoistLoads(Function &F, FunctionAnalysisManager &FAM) {
  auto HasCandidate = [](Loop *L) {
    return any_of(L->blocks(), [&](BasicBlock *BB) {
      return any_of(*BB, [&](Instruction &I) { return isCandidate(I, *L); });
    });
  };
  if (none_of(FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder(),
              HasCandidate))
    return;
  // In a rotated loop the first test of the bound stands before the loop, and
  // what follows it happens at least once.
  FunctionPassManager Rotate;
  Rotate.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass()));
  Rotate.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  FAM.invalidate(F, Rotate.run(F, FAM));

  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &MSSA = FAM.getResult<MemorySSAAnalysis>(F).getMSSA();
  // Outermost loops first: what moves where it need not happen forgets its
  // type, and goes no further. Then from loop to loop.
  auto Loops = LI.getLoopsInPreorder();
  for (Loop *L : Loops)
    hoistFrom(*L, LI, DT, MSSA);
  for (Loop *L : reverse(Loops))
    hoistFrom(*L, LI, DT, MSSA);
  PreservedAnalyses Preserved;
  Preserved.preserveSet<CFGAnalyses>();
  FAM.invalidate(F, Preserved);
}

//===----------------------------------------------------------------------===//
// Extensions
//===----------------------------------------------------------------------===//

bool unifyExtensions(Function &F, FunctionAnalysisManager &FAM) {
  DenseSet<Value *> ZeroExtended;
  for (Instruction &I : instructions(F))
    if (isa<ZExtInst>(I))
      ZeroExtended.insert(I.getOperand(0));
  SmallVector<SExtInst *, 8> Found;
  for (Instruction &I : instructions(F))
    if (auto *SExt = dyn_cast<SExtInst>(&I);
        SExt && ZeroExtended.contains(SExt->getOperand(0)))
      Found.push_back(SExt);
  bool Changed = false;
  for (SExtInst *SExt : Found) {
    auto &LVI = FAM.getResult<LazyValueAnalysis>(F);
    Value *Narrow = SExt->getOperand(0);
    if (!LVI.getConstantRange(Narrow, SExt, /*UndefAllowed=*/false)
             .isAllNonNegative())
      continue;
    IRBuilder<> Builder(SExt);
    SExt->replaceAllUsesWith(Builder.CreateZExt(
        Narrow, SExt->getType(), SExt->getName(), /*IsNonNeg=*/true));
    SExt->eraseFromParent();
    Changed = true;
  }
  return Changed;
}

//===----------------------------------------------------------------------===//
// Trip counts
//===----------------------------------------------------------------------===//

bool countIterations(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  bool Changed = false;
  for (Loop *L : LI.getLoopsInPreorder()) {
    BasicBlock *Latch = L->getLoopLatch(), *Preheader = L->getLoopPreheader();
    auto IsAddress = [](const SCEV *S) { return isa<SCEVPtrToIntExpr>(S); };
    const SCEV *Trips = SE.getBackedgeTakenCount(L);
    if (!Preheader || !Latch || L->getExitingBlock() != Latch ||
        isa<SCEVCouldNotCompute>(Trips) || !SCEVExprContains(Trips, IsAddress))
      continue;
    SCEVExpander Expander(SE, "trips");
    if (!Expander.isSafeToExpandAt(Trips, Preheader->getTerminator()))
      continue;
    Type *Ty = Trips->getType();
    Value *Last = Expander.expandCodeFor(Trips, Ty, Preheader->getTerminator());
    bool Small = SE.getUnsignedRangeMax(Trips).isNonNegative();
    IRBuilder<> Builder(Preheader->getTerminator());
    Last = Builder.CreateFreeze(Last);
    Builder.SetInsertPoint(L->getHeader(), L->getHeader()->begin());
    PHINode *Iteration = Builder.CreatePHI(Ty, 2);
    auto *Branch = cast<BranchInst>(Latch->getTerminator());
    Builder.SetInsertPoint(Branch);
    Value *Next = Builder.CreateAdd(Iteration, ConstantInt::get(Ty, 1), "",
                                    /*HasNUW=*/Small, /*HasNSW=*/Small);
    Iteration->addIncoming(ConstantInt::get(Ty, 0), Preheader);
    Iteration->addIncoming(Next, Latch);
    bool GoesOnIfTrue = L->contains(Branch->getSuccessor(0));
    Branch->setCondition(GoesOnIfTrue ? Builder.CreateICmpNE(Iteration, Last)
                                      : Builder.CreateICmpEQ(Iteration, Last));
    SE.forgetLoop(L);
    Changed = true;
  }
  return Changed;
}

//===----------------------------------------------------------------------===//
// Row lengths
//===----------------------------------------------------------------------===//

static bool isFactor(const Value &V) {
  return any_of(V.users(), [](const User *U) {
    auto *I = cast<Instruction>(U);
    return I->getOpcode() == Instruction::Mul ||
           (isa<SExtInst, ZExtInst>(I) && isFactor(*I));
  });
}

bool hideRowLengths(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  SmallVector<IntrinsicInst *, 4> Found;
  for (Instruction &I : instructions(F))
    if (auto *Max = dyn_cast<IntrinsicInst>(&I);
        Max && Max->getIntrinsicID() == Intrinsic::smax &&
        match(Max->getArgOperand(1), PatternMatch::m_Zero()) &&
        !LI.getLoopFor(Max->getParent()) && isFactor(*Max))
      Found.push_back(Max);
  for (IntrinsicInst *Max : Found) {
    auto *Length =
        new FreezeInst(Max, Max->getName(), *Max->getInsertionPointAfterDef());
    Max->replaceUsesWithIf(Length,
                           [&](Use &U) { return U.getUser() != Length; });
  }
  return !Found.empty();
}

} // namespace pacc
