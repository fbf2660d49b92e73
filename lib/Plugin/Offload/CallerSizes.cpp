//===- CallerSizes.cpp - Sizes that a function is called with -------------===//
#include "Offload/CallerSizes.h"

#include "polly/ScopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace polly;

namespace pacc {

/// Calls that pass on what they were called with.
static const unsigned MaxCalls = 4;

/// Where others may call a function, constants below this are those of a test,
/// say, and no sizes that it is meant for.
static const int64_t LeastTypical = 1000;

namespace {
struct Size {
  int64_t Largest;
  bool IsOnly; // or smaller: is every call known?
};
} // namespace

static std::optional<Size> sizeOf(const Value *V, unsigned Calls);

/// What is passed for \p A.
static std::optional<Size> sizeOf(const Argument &A, unsigned Calls) {
  const Function &F = *A.getParent();
  std::optional<Size> All;
  bool IsOnly = F.hasLocalLinkage();
  if (Calls == 0)
    return All;
  for (const Use &U : F.uses()) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    std::optional<Size> One;
    if (Call && Call->isCallee(&U) && A.getArgNo() < Call->arg_size())
      One = sizeOf(Call->getArgOperand(A.getArgNo()), Calls - 1);
    IsOnly &= One && One->IsOnly;
    if (One && (!All || One->Largest > All->Largest))
      All = One;
  }
  if (All)
    All->IsOnly = IsOnly;
  return All;
}

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

/// Callers look as the front end wrote them: their variables are in memory.
static std::optional<Size> sizeOf(const Value *V, unsigned Calls) {
  if (auto *Constant = dyn_cast<ConstantInt>(V)) {
    auto Value = Constant->getValue().trySExtValue();
    return Value ? std::optional<Size>({*Value, true}) : std::nullopt;
  }
  if (auto *A = dyn_cast<Argument>(V))
    return A->getType()->isIntegerTy() ? sizeOf(*A, Calls) : std::nullopt;
  if (isa<SExtInst, ZExtInst>(V))
    return sizeOf(cast<CastInst>(V)->getOperand(0), Calls);
  auto *Load = dyn_cast<LoadInst>(V);
  auto *Variable = Load && Load->isSimple()
                       ? dyn_cast<AllocaInst>(Load->getPointerOperand())
                       : nullptr;
  const Value *Only = Variable ? onlyValueOf(*Variable) : nullptr;
  if (!Only || Only->getType() != V->getType())
    return std::nullopt;
  return sizeOf(Only, Calls);
}

isl::set callerSizes(const Scop &S) {
  ScalarEvolution &SE = *S.getSE();
  ValueToSCEVMapTy Constants;
  for (Argument &A : S.getFunction().args()) {
    auto Passed = sizeOf(&A, MaxCalls);
    if (Passed && (Passed->IsOnly || Passed->Largest >= LeastTypical))
      Constants[&A] =
          SE.getConstant(A.getType(), Passed->Largest, /*isSigned=*/true);
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
