//===- HostCode.cpp - The host's part of an offloaded region --------------===//
#include "Offload/RegionBuilder.h"

#include "pacc/abi.h"
#include "polly/ScopInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace polly;

namespace pacc {

Value *RegionBuilder::callRuntime(StringRef Function, Type *Result,
                                  ArrayRef<Value *> Arguments) {
  Module *M = Builder.GetInsertBlock()->getModule();
  SmallVector<Type *, 8> Types;
  for (Value *V : Arguments)
    Types.push_back(V->getType());
  FunctionCallee Callee =
      M->getOrInsertFunction(Function, FunctionType::get(Result, Types, false));
  return Builder.CreateCall(Callee, Arguments);
}

AllocaInst *RegionBuilder::createEntryAlloca(Type *Ty, const Twine &Name) {
  BasicBlock &Entry = Builder.GetInsertBlock()->getParent()->getEntryBlock();
  return new AllocaInst(Ty, DL.getAllocaAddrSpace(), Name,
                        Entry.getFirstInsertionPt());
}

Value *RegionBuilder::toInt64(Value *V) {
  Type *Int64 = Builder.getInt64Ty();
  if (V->getType()->isPointerTy())
    return Builder.CreatePtrToInt(V, Int64);
  return Builder.CreateSExtOrTrunc(V, Int64);
}

/// Bytes from \p Base to the address that \p Address computes.
Value *RegionBuilder::offsetFrom(Value *Base, const isl::ast_expr &Address) {
  return Builder.CreateSub(toInt64(ExprBuilder.create(Address.copy())),
                           toInt64(Base));
}

void RegionBuilder::createCopy(const ArrayAst &Array, const ExtentAst &Extent,
                               unsigned Index, unsigned Direction) {
  Value *Base = getLatestValue(Array.SAI->getBasePtr());
  Value *Size = Builder.getInt64(Array.SAI->getElemSizeInBytes());
  Value *When = ExprBuilder.createBool(Extent.When.copy());
  Value *First = offsetFrom(Base, Extent.First);
  const isl::ast_expr &RowEnd = Extent.isBox() ? Extent.RowEnd : Extent.Last;
  Value *Width = Builder.CreateAdd(
      Builder.CreateSub(offsetFrom(Base, RowEnd), First), Size);
  Width = Builder.CreateSelect(When, Width, Builder.getInt64(0));
  Value *Rows = Builder.getInt64(1), *Pitch = Builder.getInt64(0);
  if (Extent.isBox()) {
    Rows = toInt64(ExprBuilder.create(Extent.Rows.copy()));
    Pitch = Builder.CreateSub(offsetFrom(Base, Extent.NextRow), First);
  }
  callRuntime("__pacc_rt_copy", Builder.getVoidTy(),
              {Run, Builder.getInt32(Index), Builder.getInt32(Direction), First,
               Width, Rows, Pitch});
}

void RegionBuilder::createArray(const ArrayAst &Array, unsigned Index) {
  Value *Base = getLatestValue(Array.SAI->getBasePtr());
  Value *When = ExprBuilder.createBool(Array.Touched.When.copy());
  Value *First = offsetFrom(Base, Array.Touched.First);
  Value *Last = offsetFrom(Base, Array.Touched.Last);
  Value *End = Builder.CreateAdd(
      Last, Builder.getInt64(Array.SAI->getElemSizeInBytes()));
  End = Builder.CreateSelect(When, End, First);
  Value *Label = Builder.CreateGlobalString(Array.SAI->getName());
  Value *Address = callRuntime("__pacc_rt_array", Builder.getInt64Ty(),
                               {Run, Label, Base, First, End});
  AllocaInst *Slot =
      createEntryAlloca(Builder.getInt64Ty(), Array.SAI->getName() + ".device");
  Builder.CreateStore(Address, Slot);
  DeviceAddress[Array.SAI->getBasePtr()] = Slot;
}

std::pair<Value *, Value *> RegionBuilder::createRegion(const RegionAst &Region,
                                                        Value *Descriptor) {
  Run = callRuntime("__pacc_rt_begin", Builder.getPtrTy(), {Descriptor});
  Value *Opened = Builder.CreateIsNotNull(Run);
  // The branch to the original loops is placed here later.
  BasicBlock *Body = SplitBlock(Builder.GetInsertBlock(),
                                &*Builder.GetInsertPoint(), &DT, &LI);
  Body->setName("pacc.region");
  Builder.SetInsertPoint(&Body->front());

  for (auto [Index, Array] : enumerate(Region.Arrays))
    createArray(Array, Index);
  for (auto [Index, Array] : enumerate(Region.Arrays))
    if (Array.HasIn)
      createCopy(Array, Array.In, Index, PACC_COPY_IN);
  for (auto [Index, Array] : enumerate(Region.Arrays))
    if (Array.HasOut)
      createCopy(Array, Array.Out, Index, PACC_COPY_OUT);
  create(Region.Root.copy());
  Value *Status = callRuntime("__pacc_rt_end", Builder.getInt32Ty(), {Run});
  return {Opened, Builder.CreateIsNotNull(Status)};
}

void RegionBuilder::createLaunch(const LaunchAst &Launch, unsigned Kernel,
                                 ArrayRef<Value *> Arguments,
                                 ArrayRef<Value *> Threads) {
  auto *Table = ArrayType::get(Builder.getPtrTy(), Arguments.size());
  AllocaInst *Pointers = createEntryAlloca(Table, "pacc.arguments");
  for (auto [I, Value] : enumerate(Arguments)) {
    AllocaInst *Slot = createEntryAlloca(Value->getType(), "pacc.argument");
    Builder.CreateStore(Value, Slot);
    Builder.CreateStore(
        Slot, Builder.CreateConstInBoundsGEP2_64(Table, Pointers, 0, I));
  }
  SmallVector<Value *, 6> Parameters = {Run, Builder.getInt32(Kernel)};
  for (unsigned D = 0; D < PACC_MAX_DIMS; ++D)
    Parameters.push_back(D < Threads.size() ? Threads[D] : Builder.getInt64(1));
  Parameters.push_back(Pointers);
  callRuntime("__pacc_rt_launch", Builder.getVoidTy(), Parameters);
}

void RegionBuilder::createMark(__isl_take isl_ast_node *Mark) {
  isl::ast_node Node = isl::manage(Mark);
  const LaunchAst *Launch = RegionAst::launchOf(Node);
  if (!Launch) {
    IslNodeBuilder::createMark(Node.release());
    return;
  }
  createKernel(*Launch, isl::manage(isl_ast_node_mark_get_node(Node.get())));
}

} // namespace pacc
