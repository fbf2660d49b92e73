//===- Subscripts.cpp - Subscripts of arrays of fixed size ----------------===//
#include "Offload/Subscripts.h"

#include "llvm/ADT/MapVector.h"
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

/// An address as base + bytes + sum of terms.
struct Address {
  Value *Base;
  int64_t Bytes = 0;
  SmallVector<std::pair<Value *, int64_t>, 4> Terms;
  bool InBounds = true;
  unsigned NumGEPs = 0;
};

} // namespace

static std::optional<Address> decompose(Value *Pointer, const DataLayout &DL) {
  Address A;
  while (auto *GEP = dyn_cast<GEPOperator>(Pointer)) {
    SmallMapVector<Value *, APInt, 4> Variable;
    APInt Constant(64, 0);
    if (!GEP->collectOffset(DL, 64, Variable, Constant))
      return std::nullopt;
    for (auto &[V, Scale] : Variable)
      A.Terms.push_back({V, Scale.getSExtValue()});
    A.Bytes += Constant.getSExtValue();
    A.InBounds &= GEP->isInBounds();
    Pointer = GEP->getPointerOperand();
    ++A.NumGEPs;
  }
  A.Base = Pointer;
  return A;
}

/// Rounds towards minus infinity.
static int64_t floorDivide(int64_t A, int64_t B) {
  return A / B - (A % B != 0 && (A < 0) != (B < 0));
}

bool Subscripts::restoreAccess(Instruction &Access) const {
  const DataLayout &DL = Access.getDataLayout();
  Value *Pointer = getLoadStorePointerOperand(&Access);
  std::optional<Address> A = decompose(Pointer, DL);
  if (!A || A->NumGEPs == 0)
    return false;
  auto Known =
      find_if(Rows, [&](const auto &Entry) { return Entry.first == A->Base; });
  if (Known == Rows.end())
    return false;
  Type *Row = Known->second;
  auto *Only = cast<GEPOperator>(Pointer);
  if (A->NumGEPs == 1 && Only->getSourceElementType() == Row &&
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

  // Each term goes to the outermost subscript whose step divides its scale.
  SmallVector<SmallVector<std::pair<Value *, int64_t>, 2>, 4> Terms(
      Strides.size());
  unsigned Innermost = 0;
  for (auto [V, Scale] : A->Terms) {
    unsigned D = 0;
    while (D < Strides.size() && Scale % Strides[D] != 0)
      ++D;
    if (D == Strides.size())
      return false;
    Terms[D].push_back({V, Scale / Strides[D]});
    Innermost = std::max(Innermost, D);
  }
  // The constant is split so that the subscripts further in stay small where
  // they have a variable part (A[i-1][j+1]), and in the row where they have
  // none (A[i][3]).
  SmallVector<int64_t, 4> Constants;
  int64_t Rest = A->Bytes;
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
  for (unsigned D = 0; D < Strides.size(); ++D) {
    Value *Index = nullptr;
    for (auto [V, Factor] : Terms[D]) {
      Value *Wide = Builder.CreateSExtOrTrunc(V, Builder.getInt64Ty());
      if (Factor != 1)
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
  }
  // Delinearisation drops a leading zero; let it drop one that says nothing.
  if (auto *First = dyn_cast<ConstantInt>(Indices[0]);
      First && First->isZero()) {
    Row = ArrayType::get(Row, 1);
    Indices.insert(Indices.begin(), Builder.getInt64(0));
  }
  Value *GEP = Builder.CreateGEP(Row, A->Base, Indices, Pointer->getName(),
                                 A->InBounds ? GEPNoWrapFlags::inBounds()
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
