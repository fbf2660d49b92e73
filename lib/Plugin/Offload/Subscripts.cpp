//===- Subscripts.cpp - Subscripts of arrays of fixed size ----------------===//
#include "Offload/Subscripts.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace pacc {

static unsigned depthOf(Type *Ty) {
  unsigned Depth = 0;
  for (; Ty->isArrayTy(); Ty = Ty->getArrayElementType())
    ++Depth;
  return Depth;
}

Subscripts::Subscripts(Function &F) {
  MapVector<Value *, Type *> Found;
  for (Instruction &I : instructions(F)) {
    auto *GEP = dyn_cast<GetElementPtrInst>(&I);
    if (!GEP || isa<GetElementPtrInst>(GEP->getPointerOperand()))
      continue;
    Type *Row = GEP->getSourceElementType();
    // A whole array, [N x [M x T]], is indexed with a leading zero.
    auto *First = dyn_cast<ConstantInt>(GEP->idx_begin()->get());
    if (Row->isArrayTy() && First && First->isZero() &&
        GEP->getNumIndices() > 1)
      Row = Row->getArrayElementType();
    Type *&Known = Found[GEP->getPointerOperand()];
    if (Row->isArrayTy() && (!Known || depthOf(Row) > depthOf(Known)))
      Known = Row;
  }
  for (auto &[Base, Row] : Found)
    if (Row)
      Rows.emplace_back(Base, Row);
}

namespace {

/// V * Bytes, or Bytes without a value.
struct Offset {
  Value *V;
  int64_t Bytes;
};

/// An address as a base and what is added to it, in this order.
struct Address {
  Value *Base;
  SmallVector<Offset, 4> Offsets;
  bool InBounds = true;
  bool IsSingleGEP = false;
};

} // namespace

static std::optional<Address> decompose(Value *Pointer, const DataLayout &DL) {
  Address A;
  SmallVector<GEPOperator *, 4> GEPs; // the access's own one first
  for (; auto *GEP = dyn_cast<GEPOperator>(Pointer);
       Pointer = GEP->getPointerOperand())
    GEPs.push_back(GEP);
  A.Base = Pointer;
  A.IsSingleGEP = GEPs.size() == 1;
  for (GEPOperator *GEP : reverse(GEPs)) {
    A.InBounds &= GEP->isInBounds();
    for (auto I = gep_type_begin(GEP), E = gep_type_end(GEP); I != E; ++I) {
      Value *Index = I.getOperand();
      auto *Constant = dyn_cast<ConstantInt>(Index);
      if (StructType *Ty = I.getStructTypeOrNull()) {
        unsigned Field = Constant->getZExtValue();
        A.Offsets.push_back(
            {nullptr,
             int64_t(DL.getStructLayout(Ty)->getElementOffset(Field))});
        continue;
      }
      TypeSize Stride = I.getSequentialElementStride(DL);
      if (Stride.isScalable() || !Index->getType()->isIntegerTy())
        return std::nullopt;
      int64_t Bytes = Stride.getFixedValue();
      if (!Constant)
        A.Offsets.push_back({Index, Bytes});
      else if (MulOverflow(Constant->getValue().sextOrTrunc(64).getSExtValue(),
                           Bytes, Bytes))
        return std::nullopt;
      else
        A.Offsets.push_back({nullptr, Bytes});
    }
  }
  return A;
}

/// Rounds towards minus infinity.
static int64_t floorDivide(int64_t A, int64_t B) {
  return A / B - (A % B != 0 && (A < 0) != (B < 0));
}

/// Is the sum of all variables of the subscripts 0 to \p D and of \p Constant
/// an address on the way that \p Offsets goes?
static bool passes(ArrayRef<Offset> Offsets, ArrayRef<unsigned> SubscriptOf,
                   unsigned D, int64_t Constant) {
  auto Left = count_if(zip(Offsets, SubscriptOf), [&](auto Pair) {
    return std::get<0>(Pair).V && std::get<1>(Pair) <= D;
  });
  for (auto [Offset, Subscript] : zip(Offsets, SubscriptOf)) {
    if (Left == 0 && Constant == 0)
      return true;
    if (Offset.V && Subscript > D)
      return false;
    if (Offset.V)
      --Left;
    else
      Constant -= Offset.Bytes;
  }
  return Left == 0 && Constant == 0;
}

bool Subscripts::restoreAccess(Instruction &Access) const {
  const DataLayout &DL = Access.getDataLayout();
  Value *Pointer = getLoadStorePointerOperand(&Access);
  std::optional<Address> A = decompose(Pointer, DL);
  if (!A || A->Offsets.empty())
    return false;
  auto Known =
      find_if(Rows, [&](const auto &Entry) { return Entry.first == A->Base; });
  if (Known == Rows.end())
    return false;
  Type *Row = Known->second;
  auto *Only = cast<GEPOperator>(Pointer);
  if (A->IsSingleGEP && Only->getSourceElementType() == Row &&
      Only->getNumIndices() == depthOf(Row) + 1)
    return false;

  // Bytes that one step of each subscript moves, outermost first.
  SmallVector<int64_t, 4> Strides;
  Type *Element = Row;
  for (; Element->isArrayTy(); Element = Element->getArrayElementType())
    Strides.push_back(DL.getTypeAllocSize(Element));
  Strides.push_back(DL.getTypeAllocSize(Element));
  if (DL.getTypeStoreSize(getLoadStoreType(&Access)) !=
      uint64_t(Strides.back()))
    return false;

  // Each variable goes to the outermost subscript whose step divides its scale.
  SmallVector<unsigned, 8> SubscriptOf;
  unsigned Innermost = 0;
  int64_t Rest = 0;
  for (auto [V, Bytes] : A->Offsets) {
    unsigned D = 0;
    if (!V)
      Rest += Bytes;
    else
      while (D < Strides.size() && Bytes % Strides[D] != 0)
        ++D;
    if (D == Strides.size())
      return false;
    SubscriptOf.push_back(D);
    Innermost = std::max(Innermost, D);
  }
  // The constant is split so that the subscripts further in stay small where
  // they have a variable part (A[i-1][j+1]), and in the row where they have
  // none (A[i][3]).
  SmallVector<int64_t, 4> Constants;
  for (auto [D, Stride] : enumerate(Strides)) {
    int64_t Count =
        floorDivide(D < Innermost ? Rest + Stride / 2 : Rest, Stride);
    Constants.push_back(Count);
    Rest -= Count * Stride;
  }
  if (Rest != 0)
    return false;

  IRBuilder<> Builder(&Access);
  SmallVector<Value *, 4> Indices;
  int64_t Bytes = 0;
  bool InBounds = A->InBounds;
  for (unsigned D = 0; D < Strides.size(); ++D) {
    // Offsets within an object are far from overflow in any order.
    Value *Index = nullptr;
    for (auto [Offset, Subscript] : zip(A->Offsets, SubscriptOf)) {
      if (!Offset.V || Subscript != D)
        continue;
      Value *Wide = Builder.CreateSExtOrTrunc(Offset.V, Builder.getInt64Ty());
      if (int64_t Factor = Offset.Bytes / Strides[D]; Factor != 1)
        Wide = Builder.CreateMul(Wide, Builder.getInt64(Factor), "",
                                 /*HasNUW=*/false, A->InBounds);
      Index =
          Index ? Builder.CreateAdd(Index, Wide, "", false, A->InBounds) : Wide;
    }
    Value *Constant = Builder.getInt64(Constants[D]);
    if (!Index)
      Index = Constant;
    else if (Constants[D] != 0)
      Index = Builder.CreateAdd(Index, Constant, "", false, A->InBounds);
    Indices.push_back(Index);
    Bytes += Constants[D] * Strides[D];
    InBounds = InBounds && passes(A->Offsets, SubscriptOf, D, Bytes);
  }
  // Delinearisation drops a leading zero; let it drop one that says nothing.
  if (auto *First = dyn_cast<ConstantInt>(Indices[0]);
      First && First->isZero()) {
    Row = ArrayType::get(Row, 1);
    Indices.insert(Indices.begin(), Builder.getInt64(0));
  }
  Value *GEP = Builder.CreateGEP(Row, A->Base, Indices, Pointer->getName(),
                                 InBounds ? GEPNoWrapFlags::inBounds()
                                          : GEPNoWrapFlags::none());
  Access.setOperand(isa<LoadInst>(Access) ? 0 : 1, GEP);
  RecursivelyDeleteTriviallyDeadInstructions(Pointer);
  return true;
}

bool Subscripts::restore(Function &F) const {
  bool Changed = false;
  if (Rows.empty())
    return false;
  SmallVector<Instruction *, 32> Accesses;
  for (Instruction &I : instructions(F))
    if (isa<LoadInst>(I) || isa<StoreInst>(I))
      Accesses.push_back(&I);
  for (Instruction *I : Accesses)
    Changed |= restoreAccess(*I);
  return Changed;
}

} // namespace pacc
