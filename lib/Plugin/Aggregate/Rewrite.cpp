//===- Rewrite.cpp - Turns planned launches into merged ones --------------===//
//
// A launch becomes a struct pacc_launch on the stack and a call of the device
// runtime. The argument buffer becomes memory of the thread's own, so that
// the arguments are captured where the source evaluates them.
//
// Kernels whose launches wait for the end of a block or grid get code where
// threads leave: the last one launches.
//
//===----------------------------------------------------------------------===//
#include "Rewrite.h"
#include "Runtime.h"
#include "Streams.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace pacc {
namespace {

class Rewriter {
public:
  Rewriter(DeviceRuntime &Runtime, MutableArrayRef<PlannedSite> Sites)
      : Runtime(Runtime), M(Runtime.module()), Sites(Sites), Child(Runtime) {}
  void run(ArrayRef<Function *> Exported);

private:
  /// What a kernel does where its threads leave: launch the records of its
  /// sites, if their level is Block or Grid, and what CUDA had no room for.
  struct Hook {
    Granularity Level = Granularity::Warp;
    /// The first site of each slot.
    SmallVector<PlannedSite *, PACC_SLOTS> Sites;
    GlobalVariable *Rooms = nullptr;
    /// Where a thread is among the block's launches, if they are in rounds.
    AllocaInst *Turn = nullptr;
    bool MayWait = false;
    /// Whether a thread that waits at the kernel's end keeps no other waiting.
    bool MayMeet = false;
    Function *Finish = nullptr;
    /// The kernel's parameters that Finish takes, for values that are the same
    /// for all of its launches.
    SmallSetVector<Argument *, 4> Parameters;
    /// Whether a thread of the kernel has asked for launches.
    AllocaInst *Pended = nullptr;
    void callFinish(IRBuilder<> &B, Value *HasPended) const {
      SmallVector<Value *, 4> Values(Parameters.begin(), Parameters.end());
      Values.push_back(HasPended);
      B.CreateCall(Finish, Values);
    }
    bool usesGrid() const { return Level == Granularity::Grid || MayWait; }
    StringRef begin() const { return Turn ? "rounds_begin" : "block_begin"; }
    Function *runtime(DeviceRuntime &RT, StringRef What) const {
      StringRef Prefix = Level == Granularity::Block ? "block_" : "grid_";
      return RT.function((Prefix + What).str());
    }
  };

  AllocaInst *launchOf(Function &F);
  AllocaInst *createLaunch(IRBuilder<> &B, const PlannedSite &P);
  ArrayType *argumentsType(const Site &S);
  AllocaInst *replaceBuffer(Site &S);
  AllocaInst *createSameArguments(IRBuilder<> &B, const PlannedSite &P,
                                  ValueToValueMapTy &Map);
  void storeSameShape(IRBuilder<> &B, const PlannedSite &P, Value *Launch,
                      ValueToValueMapTy &Map);
  Value *field(IRBuilder<> &B, Value *Launch, unsigned Field);
  void rewrite(PlannedSite &P);
  void findHooks(ArrayRef<Function *> Exported);
  void createTurn(Function &Kernel, Hook &H);
  void createPended(Function &Kernel, Hook &H);
  void defineChild(Function &Kernel);
  void createFinish(Function &Kernel, Hook &H);
  void hookKernel(Function &Kernel, Hook &H);
  Value *streamHandle(IRBuilder<> &B, StreamKind Stream);

  DeviceRuntime &Runtime;
  Module &M;
  MutableArrayRef<PlannedSite> Sites;
  ChildBuilder Child;
  MapVector<Function *, Hook> Hooks;
  DenseMap<Function *, AllocaInst *> Launches;
};

Value *Rewriter::field(IRBuilder<> &B, Value *Launch, unsigned Field) {
  return B.CreateStructGEP(Runtime.launchType(), Launch, Field);
}

Value *Rewriter::streamHandle(IRBuilder<> &B, StreamKind Stream) {
  return B.CreateIntToPtr(B.getInt64(static_cast<uint64_t>(Stream)),
                          B.getPtrTy());
}

/// One per function: a launch is filled where it is used.
AllocaInst *Rewriter::launchOf(Function &F) {
  AllocaInst *&Launch = Launches[&F];
  if (!Launch) {
    IRBuilder<> AtEntry(&F.getEntryBlock(), F.getEntryBlock().begin());
    Launch = AtEntry.CreateAlloca(Runtime.launchType(), nullptr, "launch");
  }
  return Launch;
}

/// Fills what is known at compile time.
AllocaInst *Rewriter::createLaunch(IRBuilder<> &B, const PlannedSite &P) {
  AllocaInst *Launch = launchOf(*B.GetInsertBlock()->getParent());
  if (P.isMerged()) {
    B.CreateStore(P.S.Kernel, field(B, Launch, LaunchKernel));
    B.CreateStore(Child.declare(*P.S.Kernel),
                  field(B, Launch, LaunchAggregated));
    B.CreateStore(streamHandle(B, P.MergedStream),
                  field(B, Launch, LaunchAggStream));
    B.CreateStore(B.getInt32(static_cast<unsigned>(P.IfNoRoom)),
                  field(B, Launch, LaunchWait));
  }
  B.CreateStore(streamHandle(B, P.PlainStream), field(B, Launch, LaunchStream));
  B.CreateStore(ConstantPointerNull::get(B.getPtrTy()),
                field(B, Launch, LaunchVarying));
  B.CreateStore(B.getInt64(P.Same), field(B, Launch, LaunchSame));
  B.CreateStore(B.getInt32(!P.SameShape.empty()),
                field(B, Launch, LaunchSameShape));
  B.CreateStore(B.getInt32(static_cast<uint32_t>(P.S.ArgBytes)),
                field(B, Launch, LaunchArgBytes));
  return Launch;
}

/// Whole words.
ArrayType *Rewriter::argumentsType(const Site &S) {
  return ArrayType::get(Type::getInt8Ty(M.getContext()),
                        alignTo(std::max<uint64_t>(S.ArgBytes, 1), 8));
}

/// Memory of the thread's own in place of CUDA's argument buffer. The marks of
/// its lifetime let the launches of a kernel share it.
AllocaInst *Rewriter::replaceBuffer(Site &S) {
  Function &F = *S.caller();
  IRBuilder<> AtEntry(&F.getEntryBlock(), F.getEntryBlock().begin());
  AllocaInst *Args =
      AtEntry.CreateAlloca(argumentsType(S), nullptr, "launch.args");
  Args->setAlignment(
      std::max(Align(16), S.Kernel ? argumentAlign(*S.Kernel) : Align(64)));
  IRBuilder<>(S.Buffer).CreateLifetimeStart(Args);
  IRBuilder<>(S.Launch->getNextNode()).CreateLifetimeEnd(Args);
  S.Buffer->replaceAllUsesWith(Args);
  S.Buffer->eraseFromParent();
  S.Buffer = nullptr;
  return Args;
}

void Rewriter::rewrite(PlannedSite &P) {
  CallBase *Old = P.S.Launch;
  if (P.S.Stream == StreamKind::Private)
    privateStreamOf(*Old)->erase();
  AllocaInst *Args = replaceBuffer(P.S);
  IRBuilder<> B(Old);
  if (auto *H = Hooks.find(Old->getFunction()); H != Hooks.end())
    B.CreateStore(B.getInt32(1), H->second.Pended);
  AllocaInst *Launch = createLaunch(B, P);
  B.CreateStore(Args, field(B, Launch, LaunchArgs));
  B.CreateStore(Old->getArgOperand(4), field(B, Launch, LaunchShared));
  for (auto [Operand, Field] : {std::pair{2u, LaunchGrid}, {3u, LaunchBlock}}) {
    // dim3: three words.
    B.CreateMemCpy(field(B, Launch, Field), Align(4),
                   Old->getArgOperand(Operand), Align(4), 12);
  }
  if (!P.isMerged()) {
    B.CreateStore(Old->getArgOperand(0), field(B, Launch, LaunchKernel));
    Value *Error = B.CreateCall(Runtime.function("launch_plain"), {Launch});
    Old->replaceAllUsesWith(Error);
  } else if (P.Level == Granularity::Warp) {
    B.CreateCall(Runtime.function("launch_warp"), {Launch});
  } else if (P.InRounds) {
    B.CreateCall(Runtime.function("rounds_record"),
                 {Launch, B.getInt32(P.Slot), Hooks[Old->getFunction()].Turn});
  } else {
    Hook &H = Hooks[Old->getFunction()];
    B.CreateCall(H.runtime(Runtime, "record"),
                 {Launch, B.getInt32(P.Slot),
                  B.getInt32(static_cast<uint32_t>(H.Sites.size())), H.Rooms});
  }
  Old->eraseFromParent();
  P.S.Launch = nullptr;
}

/// Computes V, whose leaves are constants and keys of `Map`, once more.
static Value *computeAgain(IRBuilder<> &B, Value *V, ValueToValueMapTy &Map) {
  if (isa<Constant>(V))
    return V;
  if (Value *Known = Map.lookup(V))
    return Known;
  Instruction *Clone = cast<Instruction>(V)->clone();
  for (Use &U : Clone->operands())
    U.set(computeAgain(B, U.get(), Map));
  Clone->dropUnknownNonDebugMetadata();
  Clone->setDebugLoc(DebugLoc());
  Map[V] = B.Insert(Clone);
  return Clone;
}

/// An argument buffer with what is the same for all launches of a site.
AllocaInst *Rewriter::createSameArguments(IRBuilder<> &B, const PlannedSite &P,
                                          ValueToValueMapTy &Map) {
  BasicBlock &Entry = B.GetInsertBlock()->getParent()->getEntryBlock();
  IRBuilder<> AtEntry(&Entry, Entry.begin());
  AllocaInst *Args = AtEntry.CreateAlloca(argumentsType(P.S));
  Args->setAlignment(Align(16));
  for (auto [Offset, V] : P.SameParameters)
    B.CreateAlignedStore(
        computeAgain(B, V, Map),
        B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Args, Offset),
        commonAlignment(Align(16), Offset));
  return Args;
}

void Rewriter::storeSameShape(IRBuilder<> &B, const PlannedSite &P,
                              Value *Launch, ValueToValueMapTy &Map) {
  Value *Block = field(B, Launch, LaunchBlock);
  for (unsigned D = 0; D < 3; ++D)
    B.CreateStore(computeAgain(B, P.SameShape[D], Map),
                  B.CreateConstInBoundsGEP1_64(B.getInt32Ty(), Block, D));
  B.CreateStore(computeAgain(B, P.SameShape[3], Map),
                field(B, Launch, LaunchShared));
}

/// Every thread calls the function last; the last thread launches.
void Rewriter::createFinish(Function &Kernel, Hook &H) {
  LLVMContext &C = M.getContext();
  SmallVector<Type *, 4> Types;
  for (Argument *A : H.Parameters)
    Types.push_back(A->getType());
  Types.push_back(Type::getInt32Ty(C));
  auto *F = Function::Create(
      FunctionType::get(Type::getVoidTy(C), Types, false),
      GlobalValue::InternalLinkage, "__pacc_dev_finish_" + Kernel.getName(), M);
  for (StringRef Key : {"target-cpu", "target-features"})
    if (Kernel.hasFnAttribute(Key))
      F->addFnAttr(Kernel.getFnAttribute(Key));
  F->addFnAttr(RuntimeAttribute);
  F->addFnAttr(Attribute::Convergent);
  F->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> B(BasicBlock::Create(C, "entry", F));
  Argument *Pended = F->getArg(F->arg_size() - 1);
  Pended->setName("pended");
  // if (<leave>(...)) { what Emit writes }
  auto IfLast = [&](StringRef Leave, ArrayRef<Value *> Args,
                    function_ref<void(Value *)> Emit) {
    auto *Last = BasicBlock::Create(C, "last", F);
    auto *Next = BasicBlock::Create(C, "next", F);
    Value *IsLast = B.CreateCall(Runtime.function(Leave), Args);
    B.CreateCondBr(B.CreateIsNotNull(IsLast), Last, Next);
    B.SetInsertPoint(Last);
    Emit(IsLast);
    B.CreateBr(Next);
    B.SetInsertPoint(Next);
  };
  auto Flush = [&] {
    if (H.Turn) {
      B.CreateCall(Runtime.function("rounds_flush"));
      return;
    }
    ValueToValueMapTy Map;
    for (auto [A, Mine] : zip_first(H.Parameters, F->args()))
      Map[A] = &Mine;
    for (PlannedSite *P : H.Sites) {
      AllocaInst *Launch = createLaunch(B, *P);
      if (P->Same)
        B.CreateStore(createSameArguments(B, *P, Map),
                      field(B, Launch, LaunchArgs));
      if (!P->SameShape.empty())
        storeSameShape(B, *P, Launch, Map);
      B.CreateCall(H.runtime(Runtime, "flush"), {Launch, B.getInt32(P->Slot)});
    }
  };
  auto Close = [&](Value *) {
    if (H.Level == Granularity::Grid)
      Flush();
    B.CreateCall(Runtime.function("grid_close"));
  };
  bool ByBlock = H.Level == Granularity::Block;
  auto CloseBlock = [&](Value *Left) {
    if (ByBlock)
      Flush();
    if (H.usesGrid())
      IfLast("block_leaves_grid", {Left}, Close);
  };
  if (H.MayMeet)
    IfLast("block_meet", {Pended}, CloseBlock);
  else if (ByBlock)
    IfLast("block_leave", {}, CloseBlock);
  else
    IfLast("grid_leave", {Pended}, Close);
  B.CreateRetVoid();
  H.Finish = F;
}

/// Code at the kernel's start and at its end, to which all returns go.
void Rewriter::hookKernel(Function &Kernel, Hook &H) {
  DebugLoc Nowhere;
  if (DISubprogram *Program = Kernel.getSubprogram())
    Nowhere = DILocation::get(M.getContext(), 0, 0, Program);
  auto *End = BasicBlock::Create(M.getContext(), "leave", &Kernel);
  for (BasicBlock &BB : Kernel)
    if (auto *Return = dyn_cast_if_present<ReturnInst>(BB.getTerminator()))
      ReplaceInstWithInst(Return, BranchInst::Create(End));
  IRBuilder<> B(End);
  B.SetCurrentDebugLocation(Nowhere);
  H.callFinish(B, B.CreateLoad(B.getInt32Ty(), H.Pended));
  B.CreateRetVoid();
  if (H.Level == Granularity::Block) {
    BasicBlock &Entry = Kernel.getEntryBlock();
    B.SetInsertPoint(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
    B.SetCurrentDebugLocation(Nowhere);
    B.CreateCall(Runtime.function(H.begin()));
  }
}

/// The kernel's parameters that V is made of.
static void addParameters(Value &V, SmallSetVector<Argument *, 4> &Parameters) {
  if (auto *A = dyn_cast<Argument>(&V))
    Parameters.insert(A);
  else if (auto *I = dyn_cast<Instruction>(&V))
    for (Use &U : I->operands())
      addParameters(*U, Parameters);
}

void Rewriter::findHooks(ArrayRef<Function *> Exported) {
  auto HasChild = [&](const Function &Kernel) {
    return is_contained(Exported, &Kernel) ||
           any_of(Sites, [&](const PlannedSite &P) {
             return P.isMerged() && P.S.Kernel == &Kernel;
           });
  };
  for (PlannedSite &P : Sites)
    if (P.isMerged() && P.Level != Granularity::Warp) {
      Hook &H = Hooks[P.S.caller()];
      H.Level = P.Level;
      if (P.Slot == H.Sites.size())
        H.Sites.push_back(&P);
    }
  for (auto &[Kernel, H] : Hooks) {
    if (any_of(H.Sites, [](PlannedSite *P) { return P->InRounds; })) {
      createTurn(*Kernel, H);
      continue;
    }
    // struct pacc_room
    SmallVector<uint32_t, 2 * PACC_SLOTS> Rooms;
    for (PlannedSite *P : H.Sites) {
      auto Bytes = static_cast<uint32_t>(P->S.ArgBytes);
      Rooms.push_back(pacc_record_bytes(Bytes, P->Same, !P->SameShape.empty()));
      Rooms.push_back(pacc_common_bytes(Bytes, P->Same));
      for (auto [Offset, V] : P->SameParameters)
        addParameters(*V, H.Parameters);
      for (Value *V : P->SameShape)
        addParameters(*V, H.Parameters);
    }
    Constant *Init = ConstantDataArray::get(M.getContext(), Rooms);
    H.Rooms = new GlobalVariable(M, Init->getType(), true,
                                 GlobalValue::InternalLinkage, Init,
                                 "__pacc_dev_rooms");
  }
  for (Function &Kernel : M) {
    if (Kernel.isDeclaration() ||
        Kernel.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    Reach R = reachableFrom(Kernel);
    if (any_of(Sites, [&](const PlannedSite &P) {
          return P.isMerged() && P.IfNoRoom != Wait::Now &&
                 R.Functions.contains(P.S.caller());
        }))
      Hooks[&Kernel].MayWait = true;
  }
  for (auto &[Kernel, H] : Hooks) {
    // Threads that a merged launch does not have pass no barrier of the kernel.
    Waits Where = waitsOf(*Kernel);
    H.MayMeet = Where == Waits::Nowhere ||
                (Where == Waits::OnceEach && !HasChild(*Kernel));
    createPended(*Kernel, H);
  }
}

void Rewriter::createTurn(Function &Kernel, Hook &H) {
  BasicBlock &Entry = Kernel.getEntryBlock();
  IRBuilder<> B(&Entry, Entry.begin());
  auto *Ty = ArrayType::get(B.getInt32Ty(), sizeof(pacc_turn) / 4);
  H.Turn = B.CreateAlloca(Ty, nullptr, "turn");
  B.SetInsertPoint(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
  B.CreateStore(Constant::getNullValue(Ty), H.Turn);
}

/// Launches in functions are not noted: they may always have been.
void Rewriter::createPended(Function &Kernel, Hook &H) {
  Reach R = reachableFrom(Kernel);
  bool InFunctions = any_of(Sites, [&, K = &Kernel](const PlannedSite &P) {
    return P.isMerged() && P.S.caller() != K &&
           R.Functions.contains(P.S.caller());
  });
  BasicBlock &Entry = Kernel.getEntryBlock();
  IRBuilder<> B(&Entry, Entry.begin());
  H.Pended = B.CreateAlloca(B.getInt32Ty(), nullptr, "pended");
  B.SetInsertPoint(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
  B.CreateStore(B.getInt32(InFunctions), H.Pended);
}

void Rewriter::defineChild(Function &Kernel) {
  auto It = Hooks.find(&Kernel);
  Hook *H = It == Hooks.end() ? nullptr : &It->second;
  auto *P = find_if(Sites, [&](const PlannedSite &P) {
    return P.isMerged() && P.S.Kernel == &Kernel;
  });
  Child.define(
      Kernel, P == Sites.end() ? 0 : P->Same,
      [&](IRBuilder<> &B) {
        if (H && H->Level == Granularity::Block)
          B.CreateCall(Runtime.function(H->begin()));
      },
      [&](IRBuilder<> &B) {
        if (H)
          H->callFinish(B, B.getInt32(1));
      });
}

void Rewriter::run(ArrayRef<Function *> Exported) {
  findHooks(Exported);
  SmallSetVector<Function *, 8> Kernels, Forwards;
  for (Function *Kernel : Exported) {
    bool CanBeMerged = childObstacle(*Kernel, argumentBytes(*Kernel)).empty();
    (CanBeMerged ? Kernels : Forwards).insert(Kernel);
  }
  for (PlannedSite &P : Sites)
    if (P.isMerged() || P.isRenewed()) {
      if (P.isMerged() && !P.S.Kernel->isDeclaration())
        Kernels.insert(P.S.Kernel);
      rewrite(P);
    }
  for (auto &[Kernel, H] : Hooks)
    createFinish(*Kernel, H);
  for (Function *Kernel : Kernels)
    defineChild(*Kernel);
  for (Function *Kernel : Forwards)
    Child.defineForward(*Kernel);
  for (auto &[Kernel, H] : Hooks)
    hookKernel(*Kernel, H);
}

} // namespace

void rewriteSites(DeviceRuntime &Runtime, MutableArrayRef<PlannedSite> Sites,
                  ArrayRef<Function *> Exported) {
  Rewriter(Runtime, Sites).run(Exported);
}

} // namespace pacc
