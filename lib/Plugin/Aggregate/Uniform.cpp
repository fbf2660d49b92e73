//===- Uniform.cpp - Arguments that all launches share --------------------===//
#include "Uniform.h"
#include "Child.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace pacc {

static constexpr unsigned MostWords = 64, WordBytes = 8;

namespace {
/// Bytes of the argument buffer that are written; `Stored` is null for copies.
struct Write {
  uint64_t From;
  uint64_t To;
  Value *Stored;
};
} // namespace

/// False if it is not known where something is written.
static bool collectWrites(Value &Pointer, uint64_t Offset,
                          SmallVectorImpl<Write> &Writes) {
  const Module &M = *cast<Instruction>(Pointer).getModule();
  const DataLayout &DL = M.getDataLayout();
  for (User *U : Pointer.users()) {
    if (auto *GEP = dyn_cast<GetElementPtrInst>(U)) {
      APInt By(64, 0);
      if (!GEP->accumulateConstantOffset(DL, By) ||
          !collectWrites(*GEP, Offset + By.getZExtValue(), Writes))
        return false;
    } else if (auto *Cast = dyn_cast<BitCastInst>(U)) {
      if (!collectWrites(*Cast, Offset, Writes))
        return false;
    } else if (auto *Store = dyn_cast<StoreInst>(U)) {
      Value *V = Store->getValueOperand();
      uint64_t Bytes = DL.getTypeStoreSize(V->getType()).getFixedValue();
      Writes.push_back({Offset, Offset + Bytes, V});
    } else if (auto *Fill = dyn_cast<MemIntrinsic>(U)) {
      auto *Bytes = dyn_cast<ConstantInt>(Fill->getLength());
      if (!Bytes)
        return false;
      Writes.push_back({Offset, Offset + Bytes->getZExtValue(), nullptr});
    }
  }
  return true;
}

/// The value of the only write that touches the bytes, if it writes just them.
static Value *storedAt(ArrayRef<Write> Writes, uint64_t From, uint64_t To) {
  auto Overlaps = [&](const Write &W) { return W.From < To && From < W.To; };
  const Write *First = find_if(Writes, Overlaps);
  if (First == Writes.end() || First->From != From || First->To != To ||
      std::any_of(First + 1, Writes.end(), Overlaps))
    return nullptr;
  return First->Stored;
}

SmallVector<Value *> passedValues(const Site &S) {
  SmallVector<Parameter> Parameters = parametersOf(*S.Kernel);
  SmallVector<Value *> Result(Parameters.size(), nullptr);
  SmallVector<Write, 8> Writes;
  if (collectWrites(*S.Buffer, 0, Writes))
    for (auto [V, P] : zip(Result, Parameters))
      V = storedAt(Writes, P.Offset, P.Offset + P.Bytes);
  return Result;
}

/// Whether memory is written by nothing but what collectWrites finds.
static bool isOnlyStored(const AllocaInst &Memory, const CallBase &Launch) {
  auto isStoreTo = [](const User *By, const Value &Pointer) {
    const auto *Store = dyn_cast<StoreInst>(By);
    return Store && Store->getPointerOperand() == &Pointer;
  };
  return all_of(Memory.users(), [&](const User *By) {
    if (const auto *GEP = dyn_cast<GetElementPtrInst>(By))
      return all_of(GEP->users(),
                    [&](const User *At) { return isStoreTo(At, *GEP); });
    return isStoreTo(By, Memory) || By == &Launch || isa<LifetimeIntrinsic>(By);
  });
}

SmallVector<Value *, 4> passedShape(const Site &S) {
  SmallVector<Value *, 4> Result(3, nullptr);
  SmallVector<Write, 8> Writes;
  auto *Block = dyn_cast<AllocaInst>(S.Launch->getArgOperand(3));
  if (Block && isOnlyStored(*Block, *S.Launch) &&
      collectWrites(*Block, 0, Writes))
    for (auto [Dimension, V] : enumerate(Result))
      V = storedAt(Writes, 4 * Dimension, 4 * Dimension + 4);
  Result.push_back(S.Launch->getArgOperand(4));
  return Result;
}

static bool isSameInGrid(const Value &V, bool WithParameters, unsigned Depth) {
  if (isa<Constant>(V))
    return true;
  if (const auto *A = dyn_cast<Argument>(&V))
    return WithParameters && !A->hasByValAttr();
  const auto *I = dyn_cast<Instruction>(&V);
  constexpr unsigned MostDepth = 8;
  if (!I || Depth == MostDepth ||
      !isa<BinaryOperator, CastInst, CmpInst, SelectInst, GetElementPtrInst>(
          I) ||
      !isSafeToSpeculativelyExecute(I))
    return false;
  return all_of(I->operands(), [&](const Use &U) {
    return isSameInGrid(*U, WithParameters, Depth + 1);
  });
}

bool isSameInGrid(const Value &V, bool WithParameters) {
  return isSameInGrid(V, WithParameters, 0);
}

uint64_t sameWords(const Function &Kernel, SmallVectorImpl<bool> &IsSame) {
  SmallVector<Parameter> Parameters = parametersOf(Kernel);
  uint64_t Same = ~UINT64_C(0);
  auto wordsOf = [](const Parameter &P) {
    return seq(P.Offset / WordBytes,
               (P.Offset + P.Bytes + WordBytes - 1) / WordBytes);
  };
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto [P, Flag] : zip(Parameters, IsSame)) {
      Flag = Flag && all_of(wordsOf(P), [&](uint64_t Word) {
               return Word < MostWords && (Same >> Word & 1);
             });
      if (Flag)
        continue;
      for (uint64_t Word : wordsOf(P))
        if (Word < MostWords && (Same >> Word & 1)) {
          Same &= ~(UINT64_C(1) << Word);
          Changed = true;
        }
    }
  }
  uint64_t Words = (argumentBytes(Kernel) + WordBytes - 1) / WordBytes;
  return Words < MostWords ? Same & ((UINT64_C(1) << Words) - 1) : Same;
}

uint64_t packedOffset(uint64_t Offset, uint64_t Same) {
  uint64_t Word = Offset / WordBytes;
  uint64_t Before = Word < MostWords ? (UINT64_C(1) << Word) - 1 : ~UINT64_C(0);
  return Offset - WordBytes * static_cast<uint64_t>(popcount(Same & Before));
}

} // namespace pacc
