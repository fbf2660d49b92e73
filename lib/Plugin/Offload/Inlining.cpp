//===- Inlining.cpp - Functions that loops call ---------------------------===//
#include "Offload/Inlining.h"

#include "Offload/Prepare.h"
#include "Offload/ScopFacts.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace pacc {

namespace {

class Inliner {
public:
  explicit Inliner(FunctionAnalysisManager &FAM) : FAM(FAM) {}

  bool run(Function &F);

private:
  bool isInlined(CallBase &Call);
  /// Once everything is inlined, is no call left that a kernel can't have?
  bool vanishes(CallBase &Call);
  bool hasTransparentBody(Function &F);
  SmallVector<CallBase *, 8> callsOf(const Loop &L);
  bool hasLoops(Function &F);
  /// What is called outside of loops, and has loops, is a matter of its own.
  void inlineAll(SmallVector<CallBase *, 8> Calls, bool InLoop);

  FunctionAnalysisManager &FAM;
  bool Changed = false;
  InlineParams Params = getInlineParams();
  /// By function; false too while its body is being looked at, so that
  /// recursion ends.
  DenseMap<Function *, bool> Transparent;
  std::function<AssumptionCache &(Function &)> GetAssumptions =
      [this](Function &F) -> AssumptionCache & {
    return FAM.getResult<AssumptionAnalysis>(F);
  };
};

} // namespace

bool Inliner::isInlined(CallBase &Call) {
  Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->isDeclaration() || Callee == Call.getFunction())
    return false;
  return bool(getInlineCost(
      Call, Params, FAM.getResult<TargetIRAnalysis>(*Callee), GetAssumptions,
      [this](Function &F) -> const TargetLibraryInfo & {
        return FAM.getResult<TargetLibraryAnalysis>(F);
      }));
}

bool Inliner::hasTransparentBody(Function &F) {
  auto [Known, IsNew] = Transparent.try_emplace(&F, false);
  if (!IsNew)
    return Known->second;
  bool Result = all_of(instructions(F), [&](Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    return !Call || vanishes(*Call);
  });
  return Transparent[&F] = Result;
}

bool Inliner::vanishes(CallBase &Call) {
  // A failed check is no part of the loop.
  if (!isOpaqueCall(Call) ||
      isa<UnreachableInst>(Call.getParent()->getTerminator()))
    return true;
  return isInlined(Call) && hasTransparentBody(*Call.getCalledFunction());
}

bool Inliner::hasLoops(Function &F) {
  return !FAM.getResult<LoopAnalysis>(F).empty();
}

void Inliner::inlineAll(SmallVector<CallBase *, 8> Calls, bool InLoop) {
  while (!Calls.empty()) {
    CallBase *Call = Calls.pop_back_val();
    if (!isInlined(*Call) || (!InLoop && hasLoops(*Call->getCalledFunction())))
      continue;
    InlineFunctionInfo Info(GetAssumptions);
    if (!InlineFunction(*Call, Info, /*MergeAttributes=*/true).isSuccess())
      continue;
    Calls.append(Info.InlinedCallSites);
    Changed = true;
  }
}

/// The calls in \p L, none if one of them has to stay.
SmallVector<CallBase *, 8> Inliner::callsOf(const Loop &L) {
  SmallVector<CallBase *, 8> Calls;
  for (BasicBlock *BB : L.blocks())
    for (Instruction &I : *BB) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      if (!vanishes(*Call))
        return {};
      Calls.push_back(Call);
    }
  return Calls;
}

bool Inliner::run(Function &F) {
  if (!hasLoops(F))
    return false;
  SmallSetVector<CallBase *, 8> Inside;
  SmallVector<CallBase *, 8> Outside;
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  for (Loop *L : LI.getLoopsInPreorder())
    Inside.insert_range(callsOf(*L));
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (Call && !LI.getLoopFor(Call->getParent()) && vanishes(*Call))
      Outside.push_back(Call);
  }
  inlineAll(Inside.takeVector(), /*InLoop=*/true);
  inlineAll(std::move(Outside), /*InLoop=*/false);
  if (Changed)
    FAM.invalidate(F, PreservedAnalyses::none());
  return Changed;
}

bool inlineIntoLoops(Function &F, FunctionAnalysisManager &FAM) {
  return Inliner(FAM).run(F);
}

} // namespace pacc
