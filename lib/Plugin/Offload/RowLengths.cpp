//===- RowLengths.cpp - Rows as long as some unknown value ----------------===//
#include "Offload/RowLengths.h"

#include "polly/ScopDetection.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace pacc {

static bool isFactor(const Value &V) {
  return any_of(V.users(), [](const User *U) {
    auto *I = cast<Instruction>(U);
    return I->getOpcode() == Instruction::Mul ||
           (isa<SExtInst, ZExtInst>(I) && isFactor(*I));
  });
}

bool hideExtents(Function &F, FunctionAnalysisManager &FAM) {
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

static bool isPlain(const SCEV *Length) {
  while (auto *Cast = dyn_cast<SCEVCastExpr>(Length))
    Length = Cast->getOperand();
  return isa<SCEVUnknown, SCEVConstant>(Length);
}

bool mayBeFoldedWrongly(const SCEV *Subscript, const SCEV *Length,
                        ScalarEvolution &SE) {
  return !isPlain(Length) && !SE.isKnownNonNegative(Subscript);
}

/// Adds the lengths in \p I, which is part of an address: factors in \p R that
/// don't change there.
static void addLengths(const Instruction *I, const Region &R,
                       ScalarEvolution &SE, SmallSetVector<Use *, 8> &Lengths) {
  if (!R.contains(I) || isa<PHINode, LoadInst>(I))
    return;
  for (const Use &Operand : I->operands()) {
    auto *Factor = dyn_cast<Instruction>(Operand);
    if (!Factor || !SE.isSCEVable(Factor->getType()))
      continue;
    const SCEV *Length = SE.getSCEV(Factor);
    if (I->getOpcode() == Instruction::Mul &&
        Factor->getOpcode() != Instruction::Mul && !isPlain(Length) &&
        SE.dominates(Length, R.getEnteringBlock()))
      Lengths.insert(const_cast<Use *>(&Operand));
    else
      addLengths(Factor, R, SE, Lengths);
  }
}

bool hideLengths(const Region &R, polly::ScopDetection &SD,
                 ScalarEvolution &SE) {
  if (!SD.isMaxRegionInScop(R) || !R.getEnteringBlock())
    return false;
  auto &Accesses = SD.getDetectionContext(&R)->InsnToMemAcc;
  SmallPtrSet<const polly::ArrayShape *, 4> Arrays;
  for (auto &[I, Access] : Accesses) {
    ArrayRef<const SCEV *> Subscripts = Access.DelinearizedSubscripts;
    if (Subscripts.empty())
      continue;
    // The sizes lack the outermost one, and have an element's in addition.
    for (auto [Subscript, Length] :
         zip(drop_begin(Subscripts), Access.Shape->DelinearizedSizes))
      if (mayBeFoldedWrongly(Subscript, Length, SE))
        Arrays.insert(Access.Shape.get());
  }
  SmallSetVector<Use *, 8> Lengths;
  for (auto &[I, Access] : Accesses)
    if (auto *Address =
            dyn_cast_or_null<Instruction>(getLoadStorePointerOperand(I));
        Address && Arrays.contains(Access.Shape.get()))
      addLengths(Address, R, SE, Lengths);

  Instruction *Before = R.getEnteringBlock()->getTerminator();
  SCEVExpander Expander(SE, "length");
  DenseMap<const SCEV *, Value *> Hidden;
  for (Use *Length : Lengths) {
    const SCEV *Known = SE.getSCEV(*Length);
    if (!Expander.isSafeToExpandAt(Known, Before))
      continue;
    Value *&Unknown = Hidden[Known];
    if (!Unknown)
      Unknown = IRBuilder<>(Before).CreateFreeze(
          Expander.expandCodeFor(Known, Known->getType(), Before));
    Length->set(Unknown);
  }
  return !Hidden.empty();
}

} // namespace pacc
