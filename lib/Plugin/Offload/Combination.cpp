//===- Combination.cpp - What an update computes --------------------------===//
#include "Offload/Combination.h"

#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/KnownFPClass.h"

using namespace llvm;

namespace pacc {

namespace {
enum : unsigned {
  FirstIntrinsic = Instruction::OtherOpsEnd,
  FCmpGreater = FirstIntrinsic + Intrinsic::num_intrinsics,
  FCmpLess,
};
} // namespace

/// 0: the order of such operations matters.
static unsigned kindOf(const Instruction &Operation) {
  if (auto *Call = dyn_cast<IntrinsicInst>(&Operation))
    switch (Call->getIntrinsicID()) {
    case Intrinsic::maximum:
    case Intrinsic::maximumnum:
    case Intrinsic::maxnum:
    case Intrinsic::minimum:
    case Intrinsic::minimumnum:
    case Intrinsic::minnum:
    case Intrinsic::smax:
    case Intrinsic::smin:
    case Intrinsic::umax:
    case Intrinsic::umin:
      return FirstIntrinsic + Call->getIntrinsicID();
    default:
      return 0;
    }
  switch (Operation.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
    return Instruction::Add;
  case Instruction::FAdd:
  case Instruction::FSub:
    return Operation.hasAllowReassoc() ? unsigned(Instruction::FAdd) : 0;
  case Instruction::FMul:
    return Operation.hasAllowReassoc() ? unsigned(Instruction::FMul) : 0;
  case Instruction::Mul:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
    return Operation.getOpcode();
  default:
    return 0;
  }
}

/// What one atomic operation can hold.
static bool isAtomicType(const Type *Ty) {
  return Ty->isFloatTy() || Ty->isDoubleTy() || Ty->isIntegerTy(8) ||
         Ty->isIntegerTy(16) || Ty->isIntegerTy(32) || Ty->isIntegerTy(64);
}

Instruction *comparisonOf(const Instruction &Operation) {
  if (!isa<SelectInst>(Operation))
    return nullptr;
  return dyn_cast<FCmpInst>(Operation.getOperand(0));
}

/// P such that the select is `x P old ? x : old`, with a NaN for x never
/// chosen.
static std::optional<CmpInst::Predicate> matchExtremum(const SelectInst &Select,
                                                       const Value &Old) {
  auto *Compare = dyn_cast<FCmpInst>(Select.getCondition());
  if (!Compare || !Compare->hasOneUse())
    return std::nullopt;
  const Value *True = Select.getTrueValue(), *False = Select.getFalseValue();
  CmpInst::Predicate P = Compare->getPredicate();
  if (Compare->getOperand(0) == False && Compare->getOperand(1) == True)
    P = CmpInst::getSwappedPredicate(P);
  else if (Compare->getOperand(0) != True || Compare->getOperand(1) != False)
    return std::nullopt;
  // `old P x ? old : x` chooses x where the inverse holds.
  if (True == &Old)
    P = CmpInst::getSwappedPredicate(CmpInst::getInversePredicate(P));
  if (Select.hasNoNaNs() || Compare->hasNoNaNs())
    P = CmpInst::getOrderedPredicate(P);
  switch (P) {
  case CmpInst::FCMP_OGT:
  case CmpInst::FCMP_OGE:
  case CmpInst::FCMP_OLT:
  case CmpInst::FCMP_OLE:
    return P;
  default:
    return std::nullopt;
  }
}

std::optional<Combination> Combination::of(const Instruction &Operation,
                                           const Value &Old, bool CheckZeros) {
  Combination Result;
  Result.Ty = Operation.getType();
  if (!isAtomicType(Result.Ty))
    return std::nullopt;
  Result.Kind = kindOf(Operation);
  auto *Select = dyn_cast<SelectInst>(&Operation);
  if (!Select && !Result.Kind)
    return std::nullopt;
  const unsigned First = Select ? 1 : 0;
  bool IsFirst = Operation.getOperand(First) == &Old;
  if (!IsFirst && Operation.getOperand(First + 1) != &Old)
    return std::nullopt;
  const Value *New = Operation.getOperand(IsFirst ? First + 1 : First);
  if (New == &Old)
    return std::nullopt;
  Result.Old = IsFirst ? First : First + 1;
  if (Select) {
    auto Predicate = matchExtremum(*Select, Old);
    if (!Predicate)
      return std::nullopt;
    SimplifyQuery Query(Operation.getDataLayout(), &Operation);
    if (CheckZeros && !Select->hasNoSignedZeros() &&
        !computeKnownFPClass(New, fcNegZero, Query).isKnownNever(fcNegZero))
      return std::nullopt;
    Result.Predicate = *Predicate;
    Result.Kind =
        *Predicate == CmpInst::FCMP_OGT || *Predicate == CmpInst::FCMP_OGE
            ? FCmpGreater
            : FCmpLess;
    return Result;
  }
  bool Subtracts = Operation.getOpcode() == Instruction::Sub ||
                   Operation.getOpcode() == Instruction::FSub;
  if (Subtracts && !IsFirst)
    return std::nullopt;
  if (isa<FPMathOperator>(Operation)) {
    Result.Flags = Operation.getFastMathFlags();
    // The identity may be infinite or no number.
    Result.Flags.setNoNaNs(false);
    Result.Flags.setNoInfs(false);
  }
  return Result;
}

Value *Combination::createNew(IRBuilderBase &Builder,
                              Instruction &Operation) const {
  const unsigned First = isa<SelectInst>(Operation) ? 1 : 0;
  Value *New = Operation.getOperand(Old == First ? First + 1 : First);
  if (Operation.getOpcode() == Instruction::Sub)
    return Builder.CreateNeg(New);
  if (Operation.getOpcode() == Instruction::FSub)
    return Builder.CreateFNegFMF(New, Flags);
  return New;
}

Value *Combination::create(IRBuilderBase &Builder, Value *Old,
                           Value *New) const {
  if (Kind >= FCmpGreater)
    return Builder.CreateSelect(Builder.CreateFCmp(Predicate, New, Old), New,
                                Old);
  if (Kind >= FirstIntrinsic)
    return Builder.CreateBinaryIntrinsic(Kind - FirstIntrinsic, Old, New,
                                         Flags);
  Value *Result = Builder.CreateBinOp(Instruction::BinaryOps(Kind), Old, New);
  if (auto *I = dyn_cast<Instruction>(Result); I && isa<FPMathOperator>(I))
    I->setFastMathFlags(Flags);
  return Result;
}

Constant *Combination::identity() const {
  if (Kind < FirstIntrinsic)
    return ConstantExpr::getBinOpIdentity(Kind, Ty);
  if (Kind >= FCmpGreater)
    return ConstantFP::getInfinity(Ty, /*Negative=*/Kind == FCmpGreater);
  auto Number = [&](APInt (*Of)(unsigned)) {
    return ConstantInt::get(Ty, Of(Ty->getIntegerBitWidth()));
  };
  switch (Kind - FirstIntrinsic) {
  case Intrinsic::maximum:
    return ConstantFP::getInfinity(Ty, /*Negative=*/true);
  case Intrinsic::minimum:
    return ConstantFP::getInfinity(Ty);
  case Intrinsic::smax:
    return Number(APInt::getSignedMinValue);
  case Intrinsic::smin:
    return Number(APInt::getSignedMaxValue);
  case Intrinsic::umax:
    return Number(APInt::getMinValue);
  case Intrinsic::umin:
    return Number(APInt::getMaxValue);
  default: // maxnum and its kin choose the number
    return ConstantFP::getNaN(Ty);
  }
}

std::optional<AtomicRMWInst::BinOp> Combination::atomic() const {
  switch (Kind) {
  case Instruction::Add:
    return AtomicRMWInst::Add;
  case Instruction::FAdd:
    return AtomicRMWInst::FAdd;
  case Instruction::And:
    return AtomicRMWInst::And;
  case Instruction::Or:
    return AtomicRMWInst::Or;
  case Instruction::Xor:
    return AtomicRMWInst::Xor;
  case FirstIntrinsic + Intrinsic::smax:
    return AtomicRMWInst::Max;
  case FirstIntrinsic + Intrinsic::smin:
    return AtomicRMWInst::Min;
  case FirstIntrinsic + Intrinsic::umax:
    return AtomicRMWInst::UMax;
  case FirstIntrinsic + Intrinsic::umin:
    return AtomicRMWInst::UMin;
  default:
    return std::nullopt;
  }
}

} // namespace pacc
