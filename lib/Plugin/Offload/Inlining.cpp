//===- Inlining.cpp - Functions that loops call ---------------------------===//
#include "Offload/Inlining.h"

#include "Offload/ScopFacts.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace pacc {

namespace {

class LoopInliner {
public:
  LoopInliner(Function &F, FunctionAnalysisManager &FAM) : F(F), FAM(FAM) {}

  bool run() {
    bool Changed = false;
    // Each round goes one level deeper into what the functions call.
    for (unsigned Depth = 0; Depth < MaxDepth; ++Depth) {
      bool Any = false;
      for (CallBase *Call : collect())
        Any |= inlineCall(*Call);
      if (!Any)
        break;
      Changed = true;
    }
    return Changed;
  }

private:
  static constexpr unsigned MaxDepth = 8;

  /// What can be inlined into a loop, if it is all that is called there.
  SmallSetVector<CallBase *, 8> collect() {
    DominatorTree DT(F);
    LoopInfo LI(DT);
    SmallSetVector<CallBase *, 8> Result;
    for (Loop *L : LI.getLoopsInPreorder()) {
      SmallVector<CallBase *, 8> Calls;
      bool All = true;
      for (BasicBlock *BB : L->blocks())
        for (Instruction &I : *BB)
          if (auto *Call = dyn_cast<CallBase>(&I);
              Call && !isa<IntrinsicInst>(Call) && !isKnown(*Call)) {
            Calls.push_back(Call);
            All = All && isWorthIt(*Call);
          }
      if (All)
        Result.insert(Calls.begin(), Calls.end());
    }
    return Result;
  }

  static bool isKnown(const CallBase &Call) {
    auto *Plain = dyn_cast<CallInst>(&Call);
    return Plain && deviceFunctionFor(*Plain);
  }

  bool isWorthIt(CallBase &Call) {
    Function *Callee = Call.getCalledFunction();
    if (!Callee || Callee == &F || Callee->isDeclaration() ||
        Callee->hasOptNone())
      return false;
    auto Assumptions = [&](Function &G) -> AssumptionCache & {
      return FAM.getResult<AssumptionAnalysis>(G);
    };
    auto Library = [&](Function &G) -> const TargetLibraryInfo & {
      return FAM.getResult<TargetLibraryAnalysis>(G);
    };
    return bool(getInlineCost(Call, Params,
                              FAM.getResult<TargetIRAnalysis>(*Callee),
                              Assumptions, Library));
  }

  bool inlineCall(CallBase &Call) {
    InlineFunctionInfo Info([&](Function &G) -> AssumptionCache & {
      return FAM.getResult<AssumptionAnalysis>(G);
    });
    Function *Callee = Call.getCalledFunction();
    return InlineFunction(Call, Info, /*MergeAttributes=*/true,
                          &FAM.getResult<AAManager>(*Callee))
        .isSuccess();
  }

  Function &F;
  FunctionAnalysisManager &FAM;
  const InlineParams Params =
      getInlineParams(/*OptLevel=*/3, /*SizeOptLevel=*/0);
};

} // namespace

bool inlineIntoLoops(Function &F, FunctionAnalysisManager &FAM) {
  return LoopInliner(F, FAM).run();
}

} // namespace pacc
