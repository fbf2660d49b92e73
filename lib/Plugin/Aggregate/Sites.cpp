//===- Sites.cpp - Launches in device code --------------------------------===//
#include "Sites.h"
#include "Streams.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace pacc {

static constexpr StringLiteral GetBufferName = "__cudaCDP2GetParameterBuffer";
static constexpr StringLiteral LaunchName = "__cudaCDP2LaunchDevice";

static StringRef calleeName(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee ? Callee->getName() : StringRef();
}

bool isRuntimeFunction(const Function &F) {
  return F.hasFnAttribute(RuntimeAttribute);
}

bool isLaunch(const CallBase &Call) {
  return calleeName(Call).starts_with(LaunchName);
}

std::string readableName(const Function &F) {
  // Clang gives internal kernels an external name.
  StringRef Symbol = F.getName();
  for (StringRef Suffix : {"__intern__", "__static__"})
    Symbol = Symbol.take_front(Symbol.find(Suffix));
  std::string Name = demangle(Symbol);
  size_t Depth = 0;
  for (size_t I = 0; I < Name.size(); ++I) {
    Depth += Name[I] == '<';
    Depth -= Depth && Name[I] == '>';
    if (Name[I] == '(' && Depth == 0 && I != 0)
      return Name.substr(0, I);
  }
  return Name;
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

/// The toolkit's wrappers (cudaGetParameterBuffer, cudaLaunchDevice,
/// cudaStreamDestroy) do nothing but call the device runtime.
static bool isLaunchWrapper(const Function &F) {
  if (F.isDeclaration() || F.size() != 1 ||
      F.getCallingConv() == CallingConv::PTX_Kernel)
    return false;
  unsigned Calls = 0;
  for (const Instruction &I : F.front())
    if (const auto *Call = dyn_cast<CallBase>(&I)) {
      StringRef Name = calleeName(*Call);
      if (isLaunch(*Call) || Name.starts_with(GetBufferName) ||
          isStreamCall(*Call))
        ++Calls;
      else if (!isa<IntrinsicInst>(Call))
        return false;
    }
  return Calls == 1;
}

static bool isDim3Constructor(const Function &F) {
  return !F.isDeclaration() &&
         (F.getName() == "_ZN4dim3C1Ejjj" || F.getName() == "_ZN4dim3C2Ejjj");
}

/// Inlines every direct call of F. Returns the callers.
static SmallSetVector<Function *, 8> inlineEverywhere(Function &F) {
  SmallSetVector<Function *, 8> Callers;
  SmallVector<CallBase *, 8> Calls;
  for (User *U : F.users())
    if (auto *Call = dyn_cast<CallBase>(U))
      if (Call->getCalledFunction() == &F && Call->getFunction() != &F)
        Calls.push_back(Call);
  for (CallBase *Call : Calls) {
    Function *Caller = Call->getFunction();
    InlineFunctionInfo Info;
    if (InlineFunction(*Call, Info).isSuccess())
      Callers.insert(Caller);
  }
  return Callers;
}

static bool hasLaunch(const Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    const auto *Call = dyn_cast<CallBase>(&I);
    return Call && isLaunch(*Call);
  });
}

static bool callsItself(Function &F) {
  for (Function *Reached : reachableFrom(F).Functions)
    for (Instruction &I : instructions(Reached))
      if (auto *Call = dyn_cast<CallBase>(&I))
        if (Call->getCalledFunction() == &F)
          return true;
  return false;
}

/// clang 22 declares a kernel of another file as a function, and nvlink then
/// finds that the two files do not agree.
static void declareKernels(Module &M) {
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || !isLaunch(*Call))
        continue;
      auto *Kernel =
          dyn_cast<Function>(Call->getArgOperand(0)->stripPointerCasts());
      if (Kernel && Kernel->isDeclaration())
        Kernel->setCallingConv(CallingConv::PTX_Kernel);
    }
}

bool prepareSites(Module &M, FunctionAnalysisManager &FAM) {
  SetVector<Function *> Changed;
  for (Function &F : M)
    if (isLaunchWrapper(F))
      Changed.insert_range(inlineEverywhere(F));
  if (none_of(M, hasLaunch))
    return !Changed.empty();

  // Helpers with launches become part of their kernels: only there can the
  // launches of a block or a grid be merged.
  SetVector<Function *> Helpers;
  for (Function &F : M)
    if (F.getCallingConv() != CallingConv::PTX_Kernel && hasLaunch(F) &&
        !isLaunchWrapper(F) && !callsItself(F))
      Helpers.insert(&F);
  while (!Helpers.empty()) {
    Function *F = Helpers.pop_back_val();
    for (Function *Caller : inlineEverywhere(*F)) {
      Changed.insert(Caller);
      if (Caller->getCallingConv() != CallingConv::PTX_Kernel &&
          !callsItself(*Caller))
        Helpers.insert(Caller);
    }
  }
  for (Function &F : M)
    if (isDim3Constructor(F))
      inlineEverywhere(F);
  // What was inlined everywhere and no other file can call is gone.
  for (Function &F : make_early_inc_range(M))
    if (hasLaunch(F) && F.isDefTriviallyDead()) {
      FAM.clear(F, F.getName());
      Changed.remove(&F);
      F.eraseFromParent();
    }

  for (Function &F : M)
    if (hasLaunch(F)) {
      FAM.invalidate(F, PreservedAnalyses::none());
      Changed.insert(&F);
      SROAPass(SROAOptions::PreserveCFG).run(F, FAM);
      FAM.invalidate(F, PreservedAnalyses::none());
      EarlyCSEPass().run(F, FAM);
      FAM.invalidate(F, PreservedAnalyses::none());
    }
  declareKernels(M);
  return !Changed.empty();
}

//===----------------------------------------------------------------------===//
// Call graph
//===----------------------------------------------------------------------===//

bool isHarmlessExternal(const Function &F) {
  StringRef Name = F.getName();
  static constexpr StringLiteral Known[] = {
      "vprintf", "malloc", "free", "__assertfail", "__assert_fail", "abort"};
  return F.isIntrinsic() || is_contained(Known, Name) ||
         Name.starts_with("__nv_") || Name.starts_with("__cudaCDP2") ||
         Name == "__nvvm_reflect";
}

Reach reachableFrom(Function &F) {
  Reach Result;
  Result.Functions.insert(&F);
  for (size_t I = 0; I < Result.Functions.size(); ++I)
    for (Instruction &Inst : instructions(Result.Functions[I])) {
      auto *Call = dyn_cast<CallBase>(&Inst);
      if (!Call || Call->isInlineAsm())
        continue;
      Function *Callee = Call->getCalledFunction();
      if (!Callee)
        Result.Unknown = "a function pointer";
      else if (!Callee->isDeclaration())
        Result.Functions.insert(Callee);
      else if (!isHarmlessExternal(*Callee))
        Result.Unknown = readableName(*Callee);
    }
  return Result;
}

/// What waits for other threads is convergent. Clang takes calls of functions
/// to be convergent, too; what they do is seen in their bodies.
static bool mayWaitForThreads(const Instruction &I) {
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || !Call->isConvergent())
    return false;
  const Function *Callee = Call->getCalledFunction();
  return !Callee || Callee->isIntrinsic();
}

Waits waitsOf(Function &F) {
  Reach R = reachableFrom(F);
  if (!R.Unknown.empty())
    return Waits::Anywhere;
  SmallVector<Instruction *, 8> Waiting;
  for (Function *Reached : R.Functions)
    for (Instruction &I : instructions(Reached))
      if (mayWaitForThreads(I))
        Waiting.push_back(&I);
  if (Waiting.empty())
    return Waits::Nowhere;
  CycleInfo Cycles;
  Cycles.compute(F);
  PostDominatorTree Tree(F);
  bool Once = all_of(Waiting, [&](Instruction *I) {
    const auto *Call = dyn_cast<IntrinsicInst>(I);
    const BasicBlock *Block = I->getParent();
    return Call && I->getFunction() == &F &&
           Call->getIntrinsicID() ==
               Intrinsic::nvvm_barrier_cta_sync_aligned_all &&
           !Cycles.getCycle(Block) && Tree.dominates(Block, &F.getEntryBlock());
  });
  return Once ? Waits::OnceEach : Waits::Anywhere;
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

static StreamKind streamOf(const CallBase &Launch) {
  if (privateStreamOf(Launch))
    return StreamKind::Private;
  const Value *Handle = Launch.getArgOperand(5)->stripPointerCasts();
  bool PerThreadDefault = calleeName(Launch).ends_with("_ptsz");
  uint64_t Number;
  if (isa<ConstantPointerNull>(Handle)) {
    Number = 0;
  } else {
    const auto *Cast = dyn_cast<Operator>(Handle);
    if (!Cast || Cast->getOpcode() != Instruction::IntToPtr)
      return StreamKind::Other;
    const auto *Int = dyn_cast<ConstantInt>(Cast->getOperand(0));
    if (!Int)
      return StreamKind::Other;
    Number = Int->getZExtValue();
  }
  switch (Number) {
  case 0:
    return PerThreadDefault ? StreamKind::PerThread : StreamKind::Null;
  case 2:
  case 3:
  case 4:
    return static_cast<StreamKind>(Number);
  default:
    return StreamKind::Other;
  }
}

/// The buffer may be compared, filled and launched with, nothing else: then
/// a buffer on the stack can stand in for it.
static bool isOnlyFilled(const Value &Pointer, const CallBase &Launch) {
  for (const Use &U : Pointer.uses()) {
    const User *By = U.getUser();
    if (By == &Launch && U.getOperandNo() == 1)
      continue;
    if (isa<ICmpInst>(By))
      continue;
    if (isa<GetElementPtrInst>(By) || isa<BitCastInst>(By)) {
      if (!isOnlyFilled(*By, Launch))
        return false;
      continue;
    }
    if (const auto *Store = dyn_cast<StoreInst>(By)) {
      if (U.getOperandNo() == StoreInst::getPointerOperandIndex() &&
          !Store->isVolatile())
        continue;
      return false;
    }
    if (const auto *Fill = dyn_cast<MemIntrinsic>(By)) {
      if (U.getOperandNo() == 0 && !Fill->isVolatile())
        continue;
      return false;
    }
    return false;
  }
  return true;
}

/// Notes the launch's buffer if memory of the thread's own can stand in for it;
/// else says why not.
static std::string describeBuffer(const CallBase &Launch, Site &S) {
  auto *Buffer = dyn_cast<CallBase>(Launch.getArgOperand(1));
  auto *Bytes = Buffer && calleeName(*Buffer) == GetBufferName
                    ? dyn_cast<ConstantInt>(Buffer->getArgOperand(1))
                    : nullptr;
  if (!Bytes)
    return "the argument buffer does not come from this launch";
  S.ArgBytes = Bytes->getZExtValue();
  if (!isOnlyFilled(*Buffer, Launch))
    return "the argument buffer is used by other code";
  if (S.ArgBytes > 4096)
    return "the arguments take more than 4096 bytes";
  S.Buffer = Buffer;
  return {};
}

static Site describe(CallBase &Launch) {
  Site S;
  S.Launch = &Launch;
  StringRef Name = calleeName(Launch);
  if (Name != LaunchName && Name != "__cudaCDP2LaunchDevice_ptsz") {
    S.Obstacle = "grid and block are hidden in a buffer of "
                 "cudaGetParameterBufferV2";
    return S;
  }
  S.Stream = streamOf(Launch);
  S.Kernel = dyn_cast<Function>(Launch.getArgOperand(0)->stripPointerCasts());
  S.Obstacle = describeBuffer(Launch, S);
  if (!S.Kernel)
    S.Obstacle = "the kernel is not known at compile time";
  else if (!Launch.use_empty())
    S.Obstacle = "the program reads the launch's error code";
  else if (S.Obstacle.empty() && S.Stream == StreamKind::Other)
    S.Obstacle = "it goes into a stream that the program made";
  return S;
}

std::vector<Site> findSites(Module &M) {
  std::vector<Site> Sites;
  for (Function &F : M) {
    if (F.isDeclaration() || isRuntimeFunction(F))
      continue;
    ReversePostOrderTraversal<Function *> Order(&F);
    for (BasicBlock *BB : Order)
      for (Instruction &I : *BB)
        if (auto *Call = dyn_cast<CallBase>(&I))
          if (isLaunch(*Call) && !isLaunchWrapper(F))
            Sites.push_back(describe(*Call));
  }
  return Sites;
}

} // namespace pacc
