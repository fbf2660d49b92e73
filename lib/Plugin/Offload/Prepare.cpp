//===- Prepare.cpp - Getting a function ready for Polly -------------------===//
#include "Offload/Prepare.h"

#include "Offload/Choices.h"
#include "Offload/Invariants.h"
#include "Offload/Reductions.h"
#include "Offload/RowLengths.h"
#include "Offload/StructCopies.h"
#include "Offload/Subscripts.h"
#include "polly/Canonicalization.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace pacc {

/// By default Polly gives each a million operations, which can take 12 s; what
/// helps takes a fraction.
void boundPolly() {
  auto &Registered = cl::getRegisteredOptions();
  for (StringRef Name : {"polly-optree-max-ops", "polly-delicm-max-ops"})
    if (auto Found = Registered.find(Name);
        Found != Registered.end() && !Found->second->getNumOccurrences())
      Found->second->addOccurrence(0, Name, "250000");
}

//===----------------------------------------------------------------------===//
// Is it worth a look?
//===----------------------------------------------------------------------===//

bool isOpaqueCall(const CallBase &Call) {
  return Call.mayWriteToMemory() && !isa<IntrinsicInst>(Call);
}

const CallBase *unknownCallIn(const Loop &L) {
  for (const BasicBlock *BB : L.blocks())
    for (const Instruction &I : *BB)
      if (auto *Call = dyn_cast<CallBase>(&I); Call && isOpaqueCall(*Call))
        return Call;
  return nullptr;
}

/// A variable subscript, or a pointer that walks: p += 1, before SROA.
static bool isIndexed(const GetElementPtrInst &GEP) {
  return !GEP.hasAllConstantIndices() ||
         any_of(GEP.users(), [&](const User *U) {
           auto *Store = dyn_cast<StoreInst>(U);
           return Store && Store->getValueOperand() == &GEP;
         });
}

bool mayHaveAffineLoops(const Function &F) {
  if (F.size() < 2)
    return false;
  DominatorTree DT(const_cast<Function &>(F));
  LoopInfo LI(DT);
  for (const Loop *L : LI.getLoopsInPreorder()) {
    if (!L->isInnermost())
      continue;
    bool Indexed = any_of(L->blocks(), [](const BasicBlock *BB) {
      return any_of(*BB, [](const Instruction &I) {
        auto *GEP = dyn_cast<GetElementPtrInst>(&I);
        return GEP && isIndexed(*GEP);
      });
    });
    if (Indexed && !unknownCallIn(*L))
      return true;
  }
  return false;
}

/// *p = f(*p)
static bool updatesItself(const StoreInst &Store) {
  auto *Operation = dyn_cast<Instruction>(Store.getValueOperand());
  return Operation && any_of(Operation->operands(), [&](const Value *V) {
           auto *Load = dyn_cast<LoadInst>(V);
           return Load &&
                  Load->getPointerOperand() == Store.getPointerOperand();
         });
}

/// A store that moves, or a value that is carried from iteration to iteration
/// (perhaps a sum), in a loop whose trip count is known at its entry.
static bool hasResult(const Loop &L, ScalarEvolution &SE) {
  if (isa<SCEVCouldNotCompute>(SE.getBackedgeTakenCount(&L)))
    return false;
  for (PHINode &PHI : L.getHeader()->phis())
    if (!PHI.getType()->isPointerTy() &&
        !(SE.isSCEVable(PHI.getType()) &&
          isa<SCEVAddRecExpr>(SE.getSCEV(&PHI))))
      return true;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      auto *Store = dyn_cast<StoreInst>(&I);
      if (Store && Store->isSimple() &&
          (updatesItself(*Store) ||
           !SE.isLoopInvariant(SE.getSCEV(Store->getPointerOperand()), &L)))
        return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// What follows a failed check in a loop, as of assert() or at(), doesn't
/// return, and so belongs to no region with one exit. Let it go on to where the
/// check passes: Polly then assumes that it never fails, and tests that before
/// the region. SimplifyCFG takes the edge away again.
static bool joinFailedChecks(Function &F, const LoopInfo &LI) {
  bool Changed = false;
  for (BasicBlock &Failed : F) {
    if (!isa<UnreachableInst>(Failed.getTerminator()) || Failed.size() < 2)
      continue;
    auto *Last = dyn_cast<CallInst>(Failed.getTerminator()->getPrevNode());
    BasicBlock *Check = Failed.getSinglePredecessor();
    if (!Last || !Last->doesNotReturn() || !Check || !LI.getLoopFor(Check))
      continue;
    auto *Branch = dyn_cast<BranchInst>(Check->getTerminator());
    if (!Branch || !Branch->isConditional())
      continue;
    BasicBlock *Passed =
        Branch->getSuccessor(Branch->getSuccessor(0) == &Failed ? 1 : 0);
    if (!LI.getLoopFor(Check)->contains(Passed))
      continue;
    for (PHINode &PHI : Passed->phis())
      PHI.addIncoming(PoisonValue::get(PHI.getType()), &Failed);
    ReplaceInstWithInst(Failed.getTerminator(), BranchInst::Create(Passed));
    Changed = true;
  }
  return Changed;
}

//===----------------------------------------------------------------------===//

static void run(FunctionPassManager FPM, Function &F,
                FunctionAnalysisManager &FAM) {
  FAM.invalidate(F, FPM.run(F, FAM));
}

/// Branches on `!c` become branches on c: ScalarEvolution counts no trips of a
/// loop that ends so, as C++'s `it != end` does.
static void simplifyBranches(Function &F) {
  for (BasicBlock &BB : F) {
    auto *Branch = dyn_cast<BranchInst>(BB.getTerminator());
    Value *Inverse;
    while (Branch && Branch->isConditional() &&
           match(Branch->getCondition(),
                 PatternMatch::m_Not(PatternMatch::m_Value(Inverse)))) {
      Branch->setCondition(Inverse);
      Branch->swapSuccessors();
    }
  }
}

bool prepareForPolly(Function &F, FunctionAnalysisManager &FAM) {
  if (splitStructCopies(F, FAM))
    FAM.invalidate(F, PreservedAnalyses::none());
  FunctionPassManager First;
  First.addPass(SROAPass(SROAOptions::ModifyCFG));
  First.addPass(EarlyCSEPass());
  First.addPass(SimplifyCFGPass());
  run(std::move(First), F, FAM);
  simplifyBranches(F);
  hoistLoads(F, FAM);
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  if (none_of(LI.getLoopsInPreorder(),
              [&](Loop *L) { return hasResult(*L, SE); }))
    return false;

  Subscripts Written(F);
  ModulePassManager Unused;
  run(polly::buildCanonicalicationPassesForNPM(Unused, OptimizationLevel::O3),
      F, FAM);
  if (joinFailedChecks(F, FAM.getResult<LoopAnalysis>(F)))
    FAM.invalidate(F, PreservedAnalyses::none());
  bool Changed = countIterations(F, FAM);
  Changed |= splitChosenAccesses(F, FAM);
  Changed |= Written.restore(F);
  Changed |= hideExtents(F, FAM);
  Changed |= demoteReductions(F, FAM);
  if (Changed)
    FAM.invalidate(F, PreservedAnalyses::none());
  if (unifyExtensions(F, FAM))
    FAM.invalidate(F, PreservedAnalyses::none());
  return true;
}

} // namespace pacc
