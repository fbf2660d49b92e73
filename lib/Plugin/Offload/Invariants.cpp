//===- Invariants.cpp - Values that stay the same in a loop ---------------===//
#include "Offload/Invariants.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/AssumptionCache.h"
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
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace pacc {

//===----------------------------------------------------------------------===//
// Loads and what is computed from them
//===----------------------------------------------------------------------===//

/// What bounds and subscripts are computed with.
static bool isArithmetic(const Instruction &I) {
  return (isa<GetElementPtrInst>(I) || isa<CastInst>(I) ||
          isa<BinaryOperator>(I)) &&
         (I.getType()->isIntegerTy() || I.getType()->isPointerTy());
}

/// Is \p V computed, without memory, from what doesn't change in \p L?
static bool isInvariant(const Value *V, const Loop &L) {
  if (L.isLoopInvariant(V))
    return true;
  auto *I = cast<Instruction>(V);
  return isArithmetic(*I) &&
         all_of(I->operands(), [&](Value *Op) { return isInvariant(Op, L); });
}

/// Would \p I, moved before \p L, be no value that statements hand on in
/// memory? ScalarEvolution rewrites sums and products where they are used; the
/// rest has to leave the whole nest.
static bool isMovable(const Instruction &I, const Loop &L) {
  if (!isArithmetic(I))
    return false;
  switch (I.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::GetElementPtr:
    return true;
  default:
    return L.getOutermostLoop()->hasLoopInvariantOperands(&I);
  }
}

static bool isCandidate(const Instruction &I, const Loop &L) {
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && Load->isSimple() &&
         (Load->getType()->isIntegerTy() || Load->getType()->isPointerTy()) &&
         isInvariant(Load->getPointerOperand(), L);
}

namespace {

class Hoister {
public:
  Hoister(Function &F, FunctionAnalysisManager &FAM)
      : M(*F.getParent()), LI(FAM.getResult<LoopAnalysis>(F)),
        DT(FAM.getResult<DominatorTreeAnalysis>(F)),
        AC(FAM.getResult<AssumptionAnalysis>(F)),
        MSSA(FAM.getResult<MemorySSAAnalysis>(F).getMSSA()), Updater(&MSSA) {}

  void run(Loop &L);

private:
  bool hoistValue(Value *V, Loop &L) {
    bool Moved = false;
    return L.makeLoopInvariant(V, Moved, L.getLoopPreheader()->getTerminator(),
                               &Updater);
  }
  void hoistLoad(LoadInst &Load, Loop &L);
  Value *findGuard(LoadInst &Load, Loop &L);

  Module &M;
  LoopInfo &LI;
  DominatorTree &DT;
  AssumptionCache &AC;
  MemorySSA &MSSA;
  MemorySSAUpdater Updater;
  SimpleLoopSafetyInfo Safety;
};

} // namespace

/// A value, known before \p L, that is true if the loop executes \p Load at
/// all; null if there is none.
Value *Hoister::findGuard(LoadInst &Load, Loop &L) {
  IRBuilder<> Builder(L.getLoopPreheader()->getTerminator());
  Value *Guard = Builder.getTrue();
  Instruction *At = &Load;
  while (!Safety.isGuaranteedToExecute(*At, &DT, &L)) {
    BasicBlock *Above = DT.getNode(At->getParent())->getIDom()->getBlock();
    auto *Branch = dyn_cast<BranchInst>(Above->getTerminator());
    if (!Branch || !L.contains(Above) ||
        !isGuaranteedToTransferExecutionToSuccessor(Above) ||
        !isGuaranteedToTransferExecutionToSuccessor(At->getParent()))
      return nullptr;
    if (Branch->isConditional()) {
      BasicBlockEdge IfTrue(Above, Branch->getSuccessor(0));
      BasicBlockEdge IfFalse(Above, Branch->getSuccessor(1));
      bool OnTrue = DT.dominates(IfTrue, At->getParent());
      if (!OnTrue && !DT.dominates(IfFalse, At->getParent()))
        return nullptr;
      if (!hoistValue(Branch->getCondition(), L))
        return nullptr;
      Value *Condition = Builder.CreateFreeze(Branch->getCondition());
      Guard = Builder.CreateAnd(Guard, OnTrue ? Condition
                                              : Builder.CreateNot(Condition));
    }
    At = Branch;
  }
  return Guard;
}

/// Memory to load from where the loop wouldn't.
static Constant *getNowhere(Module &M, Type *Ty) {
  auto *Nowhere = new GlobalVariable(
      M, Ty, /*isConstant=*/true, GlobalValue::PrivateLinkage,
      Constant::getNullValue(Ty), "pacc.nowhere");
  Nowhere->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return Nowhere;
}

void Hoister::hoistLoad(LoadInst &Load, Loop &L) {
  Instruction *Before = L.getLoopPreheader()->getTerminator();
  Value *Pointer = Load.getPointerOperand();
  MemoryAccess *Clobber = MSSA.getWalker()->getClobberingMemoryAccess(&Load);
  if (L.contains(Clobber->getBlock()) || !L.isLoopInvariant(Pointer))
    return;
  // The test of an inner loop is often one that an outer loop's has answered:
  // its guard is constant.
  Value *Guard = findGuard(Load, L);
  if (!Guard || !isa<Constant>(Guard)) {
    if (!isSafeToSpeculativelyExecute(&Load, Before, &AC, &DT)) {
      if (!Guard || Load.getPointerAddressSpace())
        return;
      Load.setOperand(0, IRBuilder<>(Before).CreateSelect(
                             Guard, Pointer, getNowhere(M, Load.getType())));
    }
    // What the type tells holds whenever the loop makes use of the value.
    Load.dropUBImplyingAttrsAndMetadata({LLVMContext::MD_tbaa});
  }
  Load.moveBefore(Before->getIterator());
  Updater.moveToPlace(MSSA.getMemoryAccess(&Load), Before->getParent(),
                      MemorySSA::BeforeTerminator);
}

void Hoister::run(Loop &L) {
  if (!L.getLoopPreheader())
    return;
  Safety.computeLoopSafetyInfo(&L);
  LoopBlocksRPO Order(&L);
  Order.perform(&LI);
  for (BasicBlock *BB : Order)
    for (Instruction &I : make_early_inc_range(*BB)) {
      if (isMovable(I, L) && L.hasLoopInvariantOperands(&I))
        hoistValue(&I, L);
      else if (isCandidate(I, L))
        hoistLoad(cast<LoadInst>(I), L);
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
  Hoister Work(F, FAM);
  auto Loops = FAM.getResult<LoopAnalysis>(F).getLoopsInPreorder();
  for (Loop *L : reverse(Loops))
    Work.run(*L);
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

} // namespace pacc
