//===- CallerSizes.cpp - Sizes that a function is called with -------------===//
#include "Offload/CallerSizes.h"

#include "polly/ScopInfo.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace polly;

namespace pacc {

/// Where others may call a function, constants below this are those of a test,
/// say, and no sizes that it is meant for.
static const int64_t LeastTypical = 1000;

namespace {
struct Sizes {
  std::optional<int64_t> Largest;
  bool IsOnly = true; // or smaller: is every call known?
};
} // namespace

/// The only value that is ever stored in a variable; nullptr: it is not known.
static const Value *onlyValueOf(const AllocaInst &Variable) {
  const Value *Only = nullptr;
  for (const User *U : Variable.users()) {
    auto *I = cast<Instruction>(U);
    if (isa<LoadInst>(I) || I->isLifetimeStartOrEnd())
      continue;
    auto *Store = dyn_cast<StoreInst>(I);
    if (!Store || Store->getPointerOperand() != &Variable || Only)
      return nullptr;
    Only = Store->getValueOperand();
  }
  return Only;
}

/// What \p V is a copy of; nullptr: it is not known. Callers look as the front
/// end wrote them: their variables are in memory.
static const Value *originalOf(const Value *V) {
  if (isa<SExtInst, ZExtInst>(V))
    return cast<CastInst>(V)->getOperand(0);
  auto *Load = dyn_cast<LoadInst>(V);
  auto *Variable = Load && Load->isSimple()
                       ? dyn_cast<AllocaInst>(Load->getPointerOperand())
                       : nullptr;
  const Value *Only = Variable ? onlyValueOf(*Variable) : nullptr;
  return Only && Only->getType() == V->getType() ? Only : nullptr;
}

/// What is passed for \p Parameter, also by calls that pass on what they were
/// called with. Functions may call each other, and variables be copied, in a
/// circle.
static Sizes sizesOf(const Argument &Parameter) {
  Sizes Found;
  SmallSetVector<const Value *, 16> Values;
  Values.insert(&Parameter);
  for (size_t I = 0; I < Values.size(); ++I) {
    const Value *V = Values[I];
    if (auto *Constant = dyn_cast<ConstantInt>(V)) {
      if (auto Number = Constant->getValue().trySExtValue())
        Found.Largest = std::max(Found.Largest.value_or(*Number), *Number);
    } else if (auto *A = dyn_cast<Argument>(V)) {
      Found.IsOnly &= A->getParent()->hasLocalLinkage();
      for (const Use &U : A->getParent()->uses()) {
        auto *Call = dyn_cast<CallBase>(U.getUser());
        if (Call && Call->isCallee(&U) && A->getArgNo() < Call->arg_size())
          Values.insert(Call->getArgOperand(A->getArgNo()));
        else
          Found.IsOnly = false;
      }
    } else if (const Value *Original = originalOf(V)) {
      Values.insert(Original);
    } else {
      Found.IsOnly = false;
    }
  }
  return Found;
}

isl::set callerSizes(const Scop &S) {
  ScalarEvolution &SE = *S.getSE();
  ValueToSCEVMapTy Constants;
  for (Argument &A : S.getFunction().args()) {
    if (!A.getType()->isIntegerTy())
      continue;
    Sizes Passed = sizesOf(A);
    if (Passed.Largest && (Passed.IsOnly || *Passed.Largest >= LeastTypical))
      Constants[&A] =
          SE.getConstant(A.getType(), *Passed.Largest, /*isSigned=*/true);
  }
  isl_set *Sizes = S.getParamSpace().universe_set().release();
  for (const SCEV *Parameter : S.parameters()) {
    auto *Value = dyn_cast<SCEVConstant>(
        SCEVParameterRewriter::rewrite(Parameter, SE, Constants));
    int At = isl_set_find_dim_by_id(Sizes, isl_dim_param,
                                    S.getIdForParam(Parameter).get());
    auto Known =
        Value ? Value->getAPInt().trySExtValue() : std::optional<int64_t>();
    if (Known && At >= 0)
      Sizes = isl_set_fix_val(Sizes, isl_dim_param, At,
                              isl_val_int_from_si(S.getIslCtx().get(), *Known));
  }
  return isl::manage(Sizes);
}

} // namespace pacc
