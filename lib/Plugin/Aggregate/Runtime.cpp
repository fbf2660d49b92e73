//===- Runtime.cpp - The device runtime in a module -----------------------===//
#include "Runtime.h"
#include "Sites.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

extern "C" {
extern const unsigned char pacc_device_rt[];
extern const unsigned long pacc_device_rt_size;
}

using namespace llvm;

namespace pacc {

static constexpr StringLiteral PoolName = "__pacc_dev_pool";

// Host and device lay structures out alike; what is emitted has to agree.
static_assert(offsetof(pacc_launch, kernel) == 8 * LaunchKernel &&
              offsetof(pacc_launch, aggregated) == 8 * LaunchAggregated &&
              offsetof(pacc_launch, args) == 8 * LaunchArgs &&
              offsetof(pacc_launch, stream) == 8 * LaunchStream &&
              offsetof(pacc_launch, agg_stream) == 8 * LaunchAggStream &&
              offsetof(pacc_launch, varying) == 8 * LaunchVarying &&
              offsetof(pacc_launch, same) == 8 * LaunchSame);
static_assert(offsetof(pacc_launch, arg_bytes) == 56 &&
              offsetof(pacc_launch, shared) == 60 &&
              offsetof(pacc_launch, wait) == 64 &&
              offsetof(pacc_launch, same_shape) == 68 &&
              offsetof(pacc_launch, grid) == 72 &&
              offsetof(pacc_launch, block) == 84 && sizeof(pacc_launch) == 96);
static_assert(offsetof(pacc_room, common) == 4 && sizeof(pacc_room) == 8);
static_assert(offsetof(pacc_pool, credit) == 16 &&
              offsetof(pacc_pool, mask) == 24 &&
              offsetof(pacc_pool, data) == 32 &&
              offsetof(pacc_pool, tags) == 40 && sizeof(pacc_pool) == 48);

DeviceRuntime::DeviceRuntime(Module &M) : M(&M) {
  LLVMContext &C = M.getContext();
  Type *Ptr = PointerType::get(C, 0);
  Type *I32 = Type::getInt32Ty(C);
  Type *Dim = ArrayType::get(I32, 3);
  Type *I64 = Type::getInt64Ty(C);
  LaunchTy = StructType::get(
      C, {Ptr, Ptr, Ptr, Ptr, Ptr, Ptr, I64, I32, I32, I32, I32, Dim, Dim});
  IdsTy = ArrayType::get(I32, IdsWords);
}

Function *DeviceRuntime::function(StringRef Name) const {
  Function *F = M->getFunction(("__pacc_dev_" + Name).str());
  assert(F && "not in lib/DeviceRT");
  return F;
}

/// C has no memory scopes on this target: all of the runtime's atomics mean
/// the device.
static void setScopes(Function &F, SyncScope::ID Device) {
  for (Instruction &I : instructions(F)) {
    if (auto *Fence = dyn_cast<FenceInst>(&I))
      Fence->setSyncScopeID(Device);
    else if (auto *RMW = dyn_cast<AtomicRMWInst>(&I))
      RMW->setSyncScopeID(Device);
    else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I))
      Exchange->setSyncScopeID(Device);
    else if (auto *Load = dyn_cast<LoadInst>(&I); Load && Load->isAtomic())
      Load->setSyncScopeID(Device);
    else if (auto *Store = dyn_cast<StoreInst>(&I); Store && Store->isAtomic())
      Store->setSyncScopeID(Device);
  }
}

/// The pool's memory. The files of a program share it, and files that merge
/// nothing have none; its size is in the names, so that files with different
/// sizes do not share.
static void definePool(Module &M, uint64_t Bytes) {
  LLVMContext &C = M.getContext();
  Type *I64 = Type::getInt64Ty(C);
  uint64_t Units = Bytes / PACC_POOL_UNIT;
  std::string Suffix = "_" + std::to_string(Bytes);
  auto Define = [&](Type *Ty, Constant *Init, const Twine &Name) {
    auto *G = new GlobalVariable(M, Ty, false, GlobalValue::LinkOnceAnyLinkage,
                                 Init, Name + Suffix);
    G->setAlignment(Align(256));
    return G;
  };
  Type *DataTy = ArrayType::get(Type::getInt8Ty(C), Bytes + PACC_POOL_SLACK);
  Type *TagsTy = ArrayType::get(I64, Units);
  auto *Data =
      Define(DataTy, ConstantAggregateZero::get(DataTy), "__pacc_dev_data");
  auto *Tags =
      Define(TagsTy, ConstantAggregateZero::get(TagsTy), "__pacc_dev_tags");
  auto *Zero = ConstantInt::get(I64, 0);
  Constant *Init =
      ConstantStruct::getAnon({Zero, Zero, ConstantInt::get(I64, Units),
                               ConstantInt::get(I64, Units - 1), Data, Tags});
  GlobalVariable *Declared = M.getGlobalVariable(PoolName, true);
  assert(Declared && "lib/DeviceRT declares it");
  auto *Pool = Define(Init->getType(), Init, PoolName);
  Declared->replaceAllUsesWith(Pool);
  Declared->eraseFromParent();
}

Expected<std::unique_ptr<Module>> loadDeviceRuntime(const Module &M) {
  StringRef Bytes(reinterpret_cast<const char *>(pacc_device_rt),
                  pacc_device_rt_size);
  Expected<std::unique_ptr<Module>> RT = parseBitcodeFile(
      MemoryBufferRef(Bytes, "pacc_device_rt"), M.getContext());
  if (!RT)
    return RT.takeError();
  (*RT)->setDataLayout(M.getDataLayout());
  (*RT)->setTargetTriple(M.getTargetTriple());
  // Its flags and identification are those of another compile.
  for (StringRef Name : {"llvm.module.flags", "llvm.ident", "llvm.errno.tbaa"})
    if (NamedMDNode *Node = (*RT)->getNamedMetadata(Name))
      (*RT)->eraseNamedMetadata(Node);
  SyncScope::ID Device = M.getContext().getOrInsertSyncScopeID("device");
  for (Function &F : **RT) {
    F.removeFnAttr("no-builtins");
    F.removeFnAttr("target-cpu");
    F.removeFnAttr("target-features");
    setScopes(F, Device);
  }
  return RT;
}

Expected<DeviceRuntime> DeviceRuntime::link(Module &M, const Function &Like,
                                            uint64_t PoolBytes) {
  Expected<std::unique_ptr<Module>> RT = loadDeviceRuntime(M);
  if (!RT)
    return RT.takeError();
  SmallVector<std::string> Names;
  for (Function &F : **RT)
    if (!F.isDeclaration())
      Names.push_back(F.getName().str());
  if (Linker::linkModules(M, std::move(*RT)))
    return createStringError("the device runtime does not link into '" +
                             M.getName() + "'");

  for (const std::string &Name : Names) {
    Function *F = M.getFunction(Name);
    // A kernel has to be seen to be launched; all files have the same.
    bool IsKernel = F->getCallingConv() == CallingConv::PTX_Kernel;
    F->setLinkage(IsKernel ? GlobalValue::LinkOnceODRLinkage
                           : GlobalValue::InternalLinkage);
    F->setDSOLocal(true);
    F->addFnAttr(RuntimeAttribute);
    for (StringRef Key : {"target-cpu", "target-features"})
      if (Like.hasFnAttribute(Key))
        F->addFnAttr(Like.getFnAttribute(Key));
  }
  definePool(M, PoolBytes);
  DeviceRuntime Result(M);
  for (const std::string &Name : Names)
    Result.Functions.push_back(M.getFunction(Name));
  for (StringRef Name :
       {"block_record", "grid_record", "child_begin", "child_loaded"})
    Result.function(Name)->addFnAttr(Attribute::AlwaysInline);
  return Result;
}

/// A kernel has the registers of what it may call, also of what it hardly ever
/// calls, and ptxas gives a function as many as it likes, but no more than the
/// least limit of the kernels that call it. So there is a kernel with a limit,
/// never launched, that calls those functions which stay functions.
static void limitRegisters(Module &M, ArrayRef<Function *> Functions) {
  SmallVector<Type *, 32> Types;
  for (Function *F : Functions)
    append_range(Types, F->getFunctionType()->params());
  LLVMContext &C = M.getContext();
  auto *Kernel =
      Function::Create(FunctionType::get(Type::getVoidTy(C), Types, false),
                       GlobalValue::InternalLinkage, "__pacc_dev_limit", M);
  appendToCompilerUsed(M, Kernel);
  Kernel->setCallingConv(CallingConv::PTX_Kernel);
  for (StringRef Key : {"target-cpu", "target-features"})
    if (Functions.front()->hasFnAttribute(Key))
      Kernel->addFnAttr(Functions.front()->getFnAttribute(Key));
  Kernel->addFnAttr(RuntimeAttribute);
  Kernel->addFnAttr(Attribute::Convergent);
  Kernel->addFnAttr("nvvm.maxnreg", std::to_string(PACC_MAX_REGISTERS));
  IRBuilder<> B(BasicBlock::Create(C, "entry", Kernel));
  Argument *Next = Kernel->arg_begin();
  for (Function *F : Functions) {
    SmallVector<Value *, 8> Args;
    for (size_t A = 0; A < F->arg_size(); ++A)
      Args.push_back(Next++);
    CallInst *Call = B.CreateCall(F, Args);
    Call->setCallingConv(F->getCallingConv());
    Call->setAttributes(F->getAttributes());
  }
  B.CreateRetVoid();
}

void DeviceRuntime::finish() {
  auto IsDead = [](Function *F) { return F->isDefTriviallyDead(); };
  for (auto *It = find_if(Functions, IsDead); It != Functions.end();
       It = find_if(Functions, IsDead)) {
    (*It)->eraseFromParent();
    Functions.erase(It);
  }
  SmallVector<Function *> Called;
  copy_if(Functions, std::back_inserter(Called), [](Function *F) {
    return F->hasFnAttribute(Attribute::NoInline) &&
           F->getCallingConv() != CallingConv::PTX_Kernel;
  });
  if (!Called.empty())
    limitRegisters(*M, Called);
}

} // namespace pacc
