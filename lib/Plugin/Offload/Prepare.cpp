//===- Prepare.cpp - Getting a function ready for Polly -------------------===//
#include "Offload/Prepare.h"

#include "Offload/ScopFacts.h"
#include "polly/Canonicalization.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace pacc {

//===----------------------------------------------------------------------===//
// Is it worth a look?
//===----------------------------------------------------------------------===//

static bool isOpaqueCall(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<DbgInfoIntrinsic>(Call))
    return false;
  return Call->mayWriteToMemory() && !isa<IntrinsicInst>(Call);
}

bool mayHaveAffineLoops(const Function &F) {
  if (F.size() < 2)
    return false;
  DominatorTree DT(const_cast<Function &>(F));
  LoopInfo LI(DT);
  for (const Loop *L : LI.getLoopsInPreorder()) {
    if (!L->isInnermost())
      continue;
    bool Indexed = false, Opaque = false;
    for (const BasicBlock *BB : L->blocks())
      for (const Instruction &I : *BB) {
        Opaque |= isOpaqueCall(I);
        if (auto *GEP = dyn_cast<GetElementPtrInst>(&I))
          Indexed |= !GEP->hasAllConstantIndices();
      }
    if (Indexed && !Opaque)
      return true;
  }
  return false;
}

/// A store that moves with a loop whose trip count is known at its entry.
static bool hasAffineStore(const Loop &L, ScalarEvolution &SE) {
  if (isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(&L)))
    return false;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (Store && Store->isSimple() &&
          isa<SCEVAddRecExpr>(SE.getSCEV(Store->getPointerOperand())))
        return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// One GEP per access
//===----------------------------------------------------------------------===//

/// Clang emits `gep [N x T], p, i` and then `gep T, q, j` for p[i][j]; Polly
/// finds the two subscripts of an array of fixed size in one GEP only.
static bool mergeGEP(GetElementPtrInst &Inner) {
  auto *Outer = dyn_cast<GetElementPtrInst>(Inner.getPointerOperand());
  if (!Outer || Inner.getNumIndices() == 0)
    return false;
  Type *Row = Outer->getResultElementType();
  SmallVector<Value *, 4> Indices(Outer->indices());
  auto First = Inner.idx_begin();
  if (Inner.getSourceElementType() == Row) {
    auto *Zero = dyn_cast<ConstantInt>(*First);
    if (!Zero || !Zero->isZero() || Inner.getNumIndices() < 2)
      return false;
    ++First;
  } else if (!Row->isArrayTy() ||
             Row->getArrayElementType() != Inner.getSourceElementType()) {
    return false;
  }
  Indices.append(First, Inner.idx_end());
  auto *Merged = GetElementPtrInst::Create(Outer->getSourceElementType(),
                                           Outer->getPointerOperand(), Indices,
                                           "", Inner.getIterator());
  Merged->setIsInBounds(Outer->isInBounds() && Inner.isInBounds());
  Merged->setDebugLoc(Inner.getDebugLoc());
  Merged->takeName(&Inner);
  Inner.replaceAllUsesWith(Merged);
  Inner.eraseFromParent();
  if (Outer->use_empty())
    Outer->eraseFromParent();
  return true;
}

static bool mergeGEPs(Function &F) {
  bool Changed = false;
  for (BasicBlock *BB : depth_first(&F.getEntryBlock()))
    for (Instruction &I : make_early_inc_range(*BB))
      if (auto *GEP = dyn_cast<GetElementPtrInst>(&I))
        Changed |= mergeGEP(*GEP);
  return Changed;
}

//===----------------------------------------------------------------------===//

static void run(FunctionPassManager FPM, Function &F,
                FunctionAnalysisManager &FAM) {
  FAM.invalidate(F, FPM.run(F, FAM));
}

bool prepareForPolly(Function &F, FunctionAnalysisManager &FAM) {
  FunctionPassManager First;
  First.addPass(SROAPass(SROAOptions::ModifyCFG));
  First.addPass(EarlyCSEPass());
  First.addPass(SimplifyCFGPass());
  run(std::move(First), F, FAM);
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  if (none_of(LI.getLoopsInPreorder(),
              [&](Loop *L) { return hasAffineStore(*L, SE); }))
    return false;

  ModulePassManager Unused;
  run(polly::buildCanonicalicationPassesForNPM(Unused, OptimizationLevel::O3),
      F, FAM);
  if (mergeGEPs(F))
    FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

} // namespace pacc
