//===- Child.cpp - Aggregated versions of kernels -------------------------===//
#include "Child.h"
#include "Runtime.h"
#include "Sites.h"
#include "Uniform.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace pacc {

/// The word of struct pacc_ids that stands for a register, or -1.
static int idsIndexOf(Intrinsic::ID ID) {
  switch (ID) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    return IdsThread;
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    return IdsThread + 1;
  case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    return IdsThread + 2;
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
    return IdsBlockSize;
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
    return IdsBlockSize + 1;
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
    return IdsBlockSize + 2;
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    return IdsBlock;
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
    return IdsBlock + 1;
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    return IdsBlock + 2;
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    return IdsGridSize;
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
    return IdsGridSize + 1;
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
    return IdsGridSize + 2;
  default:
    return -1;
  }
}

/// A register whose value in a merged grid is not that of the source's grid
/// and that is not replaced, if the text names one.
static StringRef foreignRegister(StringRef Text) {
  static constexpr StringLiteral Foreign[] = {
      "cluster",           "gridid",          "envreg",
      "dynamic_smem_size", "total_smem_size", "aggr_smem_size"};
  for (StringRef R : Foreign)
    if (Text.contains(R))
      return R;
  return {};
}

static std::string asmObstacle(StringRef Text) {
  static constexpr StringLiteral Ids[] = {"%tid", "%ntid", "%ctaid", "%nctaid"};
  for (StringRef R : Ids)
    if (Text.contains(R))
      return ("its inline assembly reads " + R).str();
  StringRef R = foreignRegister(Text);
  if (!R.empty())
    return ("its inline assembly names " + R).str();
  return {};
}

SmallVector<Parameter> parametersOf(const Function &Kernel) {
  const DataLayout &DL = Kernel.getParent()->getDataLayout();
  SmallVector<Parameter> Result;
  uint64_t End = 0;
  for (const Argument &A : Kernel.args()) {
    Type *Ty = A.hasByValAttr() ? A.getParamByValType() : A.getType();
    Align Alignment = DL.getABITypeAlign(Ty);
    if (A.hasByValAttr())
      Alignment = std::max(Alignment, A.getParamAlign().valueOrOne());
    uint64_t Offset = alignTo(End, Alignment);
    uint64_t Bytes = A.hasByValAttr() ? DL.getTypeAllocSize(Ty).getFixedValue()
                                      : DL.getTypeStoreSize(Ty).getFixedValue();
    Result.push_back({Ty, Offset, Bytes, Alignment});
    End = Offset + Bytes;
  }
  return Result;
}

uint64_t argumentBytes(const Function &Kernel) {
  SmallVector<Parameter> Parameters = parametersOf(Kernel);
  return Parameters.empty()
             ? 0
             : Parameters.back().Offset + Parameters.back().Bytes;
}

Align argumentAlign(const Function &Kernel) {
  Align Result;
  for (const Parameter &P : parametersOf(Kernel))
    Result = std::max(Result, P.Alignment);
  return Result;
}

std::string childObstacle(Function &Kernel, uint64_t ArgBytes) {
  std::string Name = "'" + readableName(Kernel) + "' ";
  for (StringRef Attr : {"nvvm.reqntid", "nvvm.cluster_dim",
                         "nvvm.maxclusterrank", "nvvm.blocksareclusters"})
    if (Kernel.hasFnAttribute(Attr))
      return Name + "asks for a fixed block or cluster size";
  uint64_t Bytes = argumentBytes(Kernel);
  if (Bytes != ArgBytes)
    return Name + "takes " + std::to_string(Bytes) +
           " bytes of arguments, the launch passes " + std::to_string(ArgBytes);

  Reach R = reachableFrom(Kernel);
  if (!R.Unknown.empty())
    return Name + "calls " + R.Unknown + ", whose code is not known here";
  for (Function *F : R.Functions) {
    if (isRuntimeFunction(*F))
      continue;
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand())) {
        std::string Why = asmObstacle(Asm->getAsmString());
        if (!Why.empty())
          return Name + "can't be merged: " + Why;
      } else if (auto *Intr = dyn_cast<IntrinsicInst>(Call)) {
        // In intrinsics' names the underscores of registers are dots.
        std::string Reg = Intrinsic::getBaseName(Intr->getIntrinsicID()).str();
        std::replace(Reg.begin(), Reg.end(), '.', '_');
        StringRef Bad = foreignRegister(Reg);
        if (!Bad.empty())
          return Name + "can't be merged: it uses " + Bad.str();
      }
    }
  }
  return {};
}

Function *ChildBuilder::declare(Function &Kernel) {
  Function *&Child = Children[&Kernel];
  if (Child)
    return Child;
  Module &M = Runtime.module();
  LLVMContext &C = M.getContext();
  auto *Ty =
      FunctionType::get(Type::getVoidTy(C), PointerType::get(C, 0), false);
  Child = Function::Create(Ty, Kernel.getLinkage(),
                           Kernel.getName() + "__pacc_agg", M);
  Child->setCallingConv(CallingConv::PTX_Kernel);
  Child->setVisibility(Kernel.getVisibility());
  Child->setDSOLocal(Kernel.isDSOLocal());
  if (Kernel.hasComdat())
    Child->setComdat(M.getOrInsertComdat(Child->getName()));
  for (StringRef Key :
       {"target-cpu", "target-features", "frame-pointer", "no-trapping-math",
        "nvvm.minctasm", "nvvm.maxnreg", "uniform-work-group-size"})
    if (Kernel.hasFnAttribute(Key))
      Child->addFnAttr(Kernel.getFnAttribute(Key));
  Child->addFnAttr(Attribute::Convergent);
  Child->addFnAttr(Attribute::NoUnwind);
  // Blocks become one-dimensional.
  if (Kernel.hasFnAttribute("nvvm.maxntid")) {
    uint64_t Threads = 1;
    SmallVector<StringRef, 3> Sizes;
    Kernel.getFnAttribute("nvvm.maxntid").getValueAsString().split(Sizes, ',');
    for (StringRef Size : Sizes) {
      uint64_t Number = 1;
      Size.trim().getAsInteger(10, Number);
      Threads *= Number;
    }
    Child->addFnAttr("nvvm.maxntid",
                     std::to_string(std::min<uint64_t>(Threads, 1024)));
  }
  return Child;
}

/// What a clone does besides: a register is read, ids are loaded.
static MemoryEffects readsIdsToo() {
  return MemoryEffects::argMemOnly(ModRefInfo::Ref);
}

/// Whether F reads the registers of its threads, itself or in what it calls.
bool ChildBuilder::readsIds(Function &F) {
  auto [It, IsNew] = ReadsIds.try_emplace(&F, false);
  if (!IsNew)
    return It->second;
  bool Result = any_of(reachableFrom(F).Functions, [](Function *Reached) {
    return !isRuntimeFunction(*Reached) &&
           any_of(instructions(Reached), [](Instruction &I) {
             auto *Intr = dyn_cast<IntrinsicInst>(&I);
             return Intr && idsIndexOf(Intr->getIntrinsicID()) >= 0;
           });
  });
  return ReadsIds[&F] = Result;
}

void ChildBuilder::replaceRegisters(Function &Clone) {
  Argument *Ids = Clone.getArg(Clone.arg_size() - 1);
  MDBuilder MDB(Clone.getContext());
  for (Instruction &I : make_early_inc_range(instructions(Clone))) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !Call->getCalledFunction())
      continue;
    Function *Callee = Call->getCalledFunction();
    IRBuilder<> B(Call);
    if (int Index = idsIndexOf(Callee->getIntrinsicID()); Index >= 0) {
      Value *At = B.CreateConstInBoundsGEP2_32(Runtime.idsType(), Ids, 0,
                                               static_cast<unsigned>(Index));
      LoadInst *Load = B.CreateLoad(B.getInt32Ty(), At);
      // The register's range is the launch's range.
      if (auto Range = Callee->getRetAttribute(Attribute::Range);
          Range.isValid()) {
        const ConstantRange &CR = Range.getRange();
        Load->setMetadata(LLVMContext::MD_range,
                          MDB.createRange(CR.getLower(), CR.getUpper()));
      }
      Load->takeName(Call);
      Call->replaceAllUsesWith(Load);
      Call->eraseFromParent();
      continue;
    }
    if (Callee->isDeclaration() || isRuntimeFunction(*Callee) ||
        !readsIds(*Callee))
      continue;
    SmallVector<Value *, 8> Args(Call->args());
    Args.push_back(Ids);
    Function *To = cloneWithIds(*Callee);
    CallInst *NewCall = B.CreateCall(To, Args);
    AttributeList Old = Call->getAttributes();
    SmallVector<AttributeSet, 8> Params;
    for (unsigned A = 0; A < Call->arg_size(); ++A)
      Params.push_back(Old.getParamAttrs(A));
    NewCall->setAttributes(AttributeList::get(
        Clone.getContext(), Old.getFnAttrs(), Old.getRetAttrs(), Params));
    NewCall->setMemoryEffects(NewCall->getMemoryEffects() | readsIdsToo());
    NewCall->setCallingConv(Call->getCallingConv());
    NewCall->setDebugLoc(Call->getDebugLoc());
    NewCall->takeName(Call);
    Call->replaceAllUsesWith(NewCall);
    Call->eraseFromParent();
  }
}

Function *ChildBuilder::cloneWithIds(Function &F) {
  if (Function *Known = Clones.lookup(&F))
    return Known;
  bool IsKernel = F.getCallingConv() == CallingConv::PTX_Kernel;
  SmallVector<Type *, 8> Types;
  for (Argument &A : F.args())
    Types.push_back(A.getType());
  Types.push_back(PointerType::get(F.getContext(), 0));
  auto *Clone = Function::Create(
      FunctionType::get(F.getReturnType(), Types, false),
      GlobalValue::InternalLinkage,
      F.getName() + (IsKernel ? "__pacc_body" : "__pacc_ids"), F.getParent());
  Clones[&F] = Clone;

  ValueToValueMapTy Map;
  for (Argument &A : F.args()) {
    Argument *To = Clone->getArg(A.getArgNo());
    To->setName(A.getName());
    Map[&A] = To;
  }
  SmallVector<ReturnInst *, 4> Returns;
  CloneFunctionInto(Clone, &F, Map, CloneFunctionChangeType::LocalChangesOnly,
                    Returns);
  Clone->setCallingConv(CallingConv::C);
  Clone->setVisibility(GlobalValue::DefaultVisibility);
  Clone->setDSOLocal(true);
  Clone->setComdat(nullptr);
  AttributeMask NotCloned;
  NotCloned.addAttribute(Attribute::NoInline);
  NotCloned.addAttribute(Attribute::OptimizeNone);
  for (StringRef Key : {"nvvm.maxntid", "nvvm.minctasm", "nvvm.maxnreg",
                        "uniform-work-group-size"})
    NotCloned.addAttribute(Key);
  Clone->removeFnAttrs(NotCloned);
  Clone->setMemoryEffects(Clone->getMemoryEffects() | readsIdsToo());
  Argument *Ids = Clone->getArg(Clone->arg_size() - 1);
  Ids->setName("ids");
  Ids->addAttr(Attribute::NoAlias);
  Ids->addAttr(Attribute::ReadOnly);
  Ids->addAttr(Attribute::NonNull);
  if (IsKernel) {
    // Structures come as pointers to this thread's own copies.
    Clone->addFnAttr(Attribute::AlwaysInline);
    for (Argument &A : Clone->args()) {
      A.removeAttr(Attribute::ByVal);
      Clone->removeParamAttr(A.getArgNo(), "nvvm.grid_constant");
    }
  }
  replaceRegisters(*Clone);
  return Clone;
}

void ChildBuilder::define(Function &Kernel, uint64_t Same, Emit AtStart,
                          Emit AtEnd) {
  Function *Child = declare(Kernel);
  Function *Body = cloneWithIds(Kernel);
  Module &M = Runtime.module();
  LLVMContext &C = M.getContext();
  auto *Entry = BasicBlock::Create(C, "entry", Child);
  auto *Run = BasicBlock::Create(C, "run", Child);
  auto *End = BasicBlock::Create(C, "end", Child);
  IRBuilder<> B(Entry);
  Argument *Batch = Child->getArg(0);
  Batch->setName("batch");
  AllocaInst *Ids = B.CreateAlloca(Runtime.idsType(), nullptr, "ids");
  Ids->setAlignment(Align(16));
  AtStart(B);
  Value *Args = B.CreateCall(Runtime.function("child_begin"), {Batch, Ids});

  Value *Common =
      B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Batch, PACC_BATCH_HEAD);
  SmallVector<Value *, 8> Values;
  for (auto [A, P] : zip(Kernel.args(), parametersOf(Kernel))) {
    bool IsCommon = P.Offset / 8 < 64 && (Same >> P.Offset / 8 & 1);
    uint64_t Offset = IsCommon ? P.Offset : packedOffset(P.Offset, Same);
    Value *From = B.CreateConstInBoundsGEP1_64(
        B.getInt8Ty(), IsCommon ? Common : Args, Offset);
    Align Known = commonAlignment(Align(16), Offset);
    if (A.hasByValAttr()) {
      AllocaInst *Copy = B.CreateAlloca(P.Ty);
      Copy->setAlignment(P.Alignment);
      B.CreateMemCpy(Copy, P.Alignment, From, Known, P.Bytes);
      Values.push_back(Copy);
    } else if (P.Ty->isIntegerTy(1)) {
      Value *Byte = B.CreateAlignedLoad(B.getInt8Ty(), From, Known);
      Values.push_back(B.CreateTrunc(Byte, P.Ty));
    } else {
      Values.push_back(B.CreateAlignedLoad(P.Ty, From, Known));
    }
  }
  Values.push_back(Ids);
  Value *Here = B.CreateCall(Runtime.function("child_loaded"), {Batch, Ids});
  B.CreateCondBr(B.CreateIsNotNull(Here), Run, End);

  B.SetInsertPoint(Run);
  B.CreateCall(Body, Values);
  B.CreateBr(End);
  B.SetInsertPoint(End);
  AtEnd(B);
  B.CreateRetVoid();
}

void ChildBuilder::defineForward(Function &Kernel) {
  Function *Child = declare(Kernel);
  IRBuilder<> B(BasicBlock::Create(Child->getContext(), "entry", Child));
  B.CreateCall(Runtime.function("child_forward"), {Child->getArg(0)});
  B.CreateRetVoid();
}

} // namespace pacc
