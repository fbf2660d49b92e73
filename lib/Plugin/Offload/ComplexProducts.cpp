//===- ComplexProducts.cpp - Products of complex numbers ------------------===//
#include "Offload/ComplexProducts.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace pacc {

namespace {

/// (a + b i) (c + d i), without branches.
class Product {
public:
  Product(IRBuilderBase &Builder, Value *A, Value *B, Value *C, Value *D)
      : Builder(Builder), A(A), B(B), C(C), D(D) {}

  std::pair<Value *, Value *> create();

private:
  Value *isNaN(Value *V) { return Builder.CreateFCmpUNO(V, V); }
  Value *isInfinite(Value *V) {
    return Builder.CreateFCmpOEQ(
        Builder.CreateUnaryIntrinsic(Intrinsic::fabs, V),
        ConstantFP::getInfinity(V->getType()));
  }
  Value *withSignOf(Value *Size, Value *Sign) {
    return Builder.CreateBinaryIntrinsic(Intrinsic::copysign, Size, Sign);
  }
  /// V becomes a zero if it is NaN, in the case of \p When.
  void clear(Value *&V, Value *When) {
    Value *Zero = withSignOf(ConstantFP::get(V->getType(), 0), V);
    V = Builder.CreateSelect(Builder.CreateAnd(When, isNaN(V)), Zero, V);
  }
  /// An infinite V becomes a one, another one a zero.
  void box(Value *&V, Value *When) {
    Value *Size = Builder.CreateUIToFP(isInfinite(V), V->getType());
    V = Builder.CreateSelect(When, withSignOf(Size, V), V);
  }
  /// If a part of one number is infinite, all are made finite.
  Value *makeFinite(Value *&Re, Value *&Im, Value *&OtherRe, Value *&OtherIm) {
    Value *When = Builder.CreateOr(isInfinite(Re), isInfinite(Im));
    box(Re, When);
    box(Im, When);
    clear(OtherRe, When);
    clear(OtherIm, When);
    return When;
  }

  IRBuilderBase &Builder;
  Value *A, *B, *C, *D;
};

} // namespace

std::pair<Value *, Value *> Product::create() {
  Value *AC = Builder.CreateFMul(A, C), *BD = Builder.CreateFMul(B, D);
  Value *AD = Builder.CreateFMul(A, D), *BC = Builder.CreateFMul(B, C);
  Value *Re = Builder.CreateFSub(AC, BD), *Im = Builder.CreateFAdd(AD, BC);
  Value *Lost = Builder.CreateAnd(isNaN(Re), isNaN(Im));
  Value *Again = makeFinite(A, B, C, D);
  Again = Builder.CreateOr(Again, makeFinite(C, D, A, B));
  Value *Overflow =
      Builder.CreateOr(Builder.CreateOr(isInfinite(AC), isInfinite(BD)),
                       Builder.CreateOr(isInfinite(AD), isInfinite(BC)));
  Overflow = Builder.CreateAnd(Overflow, Builder.CreateNot(Again));
  for (Value **V : {&A, &B, &C, &D})
    clear(*V, Overflow);
  Again = Builder.CreateAnd(Lost, Builder.CreateOr(Again, Overflow));
  Value *Infinity = ConstantFP::getInfinity(A->getType());
  Value *NewRe = Builder.CreateFMul(
      Infinity,
      Builder.CreateFSub(Builder.CreateFMul(A, C), Builder.CreateFMul(B, D)));
  Value *NewIm = Builder.CreateFMul(
      Infinity,
      Builder.CreateFAdd(Builder.CreateFMul(A, D), Builder.CreateFMul(B, C)));
  return {Builder.CreateSelect(Again, NewRe, Re),
          Builder.CreateSelect(Again, NewIm, Im)};
}

/// Is it the library's function, with the result in one value?
static bool isProduct(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration() || Call.arg_size() != 4)
    return false;
  Type *Part = Call.getArgOperand(0)->getType(), *Both = Call.getType();
  if (Callee->getName() == "__muldc3"
          ? !Part->isDoubleTy()
          : Callee->getName() != "__mulsc3" || !Part->isFloatTy())
    return false;
  return Both == StructType::get(Part, Part) ||
         Both == FixedVectorType::get(Part, 2);
}

static void expand(CallInst &Call) {
  IRBuilder<> Builder(&Call);
  auto [Re, Im] = Product(Builder, Call.getArgOperand(0), Call.getArgOperand(1),
                          Call.getArgOperand(2), Call.getArgOperand(3))
                      .create();
  Value *Both = PoisonValue::get(Call.getType());
  for (auto [I, Part] : enumerate(ArrayRef<Value *>({Re, Im})))
    Both = Call.getType()->isVectorTy()
               ? Builder.CreateInsertElement(Both, Part, I)
               : Builder.CreateInsertValue(Both, Part, I);
  Call.replaceAllUsesWith(Both);
  Call.eraseFromParent();
}

bool expandComplexProducts(Function &F) {
  SmallVector<CallInst *, 4> Found;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && isProduct(*Call))
      Found.push_back(Call);
  if (Found.empty())
    return false;
  DominatorTree DT(F);
  LoopInfo LI(DT);
  bool Changed = false;
  for (CallInst *Call : Found)
    if (LI.getLoopFor(Call->getParent())) {
      expand(*Call);
      Changed = true;
    }
  return Changed;
}

} // namespace pacc
