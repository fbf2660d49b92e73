//===- RuntimeCalls.cpp - Calls of the host runtime -----------------------===//
#include "Offload/RuntimeCalls.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace pacc {

CallInst *callRuntime(IRBuilderBase &Builder, StringRef Function, Type *Result,
                      ArrayRef<Value *> Arguments) {
  Module *M = Builder.GetInsertBlock()->getModule();
  SmallVector<Type *, 8> Types;
  for (Value *V : Arguments)
    Types.push_back(V->getType());
  FunctionCallee Callee =
      M->getOrInsertFunction(Function, FunctionType::get(Result, Types, false));
  CallInst *Call = Builder.CreateCall(Callee, Arguments);
  // Some targets want whole registers. Numbers of 32 bits are uint32_t as
  // parameters and int32_t as results (pacc/abi.h).
  const Triple &Target = M->getTargetTriple();
  Type *Int32 = Builder.getInt32Ty();
  auto Parameter = TargetLibraryInfo::getExtAttrForI32Param(Target, false);
  for (auto [I, Ty] : enumerate(Types))
    if (Ty == Int32 && Parameter != Attribute::None)
      Call->addParamAttr(I, Parameter);
  auto Returned = TargetLibraryInfo::getExtAttrForI32Return(Target, true);
  if (Result == Int32 && Returned != Attribute::None)
    Call->addRetAttr(Returned);
  return Call;
}

void ignoreInlineCost(CallInst &Call) {
  Call.addFnAttr(Attribute::get(Call.getContext(), "call-inline-cost", "0"));
}

} // namespace pacc
