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
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace pacc {
namespace {

class Rewriter {
public:
  Rewriter(DeviceRuntime &Runtime, MutableArrayRef<PlannedSite> Sites)
      : Runtime(Runtime), M(Runtime.module()), Sites(Sites), Child(Runtime) {}
  void run();

private:
  /// The waiting launches of one kernel.
  struct Group {
    Granularity Level;
    SmallVector<PlannedSite *, MaxSlots> Sites;
    GlobalVariable *Strides = nullptr;
    Function *Finish = nullptr;
    Function *runtime(DeviceRuntime &RT, StringRef What) const {
      StringRef Prefix = Level == Granularity::Block ? "block_" : "grid_";
      return RT.function((Prefix + What).str());
    }
  };

  AllocaInst *createLaunch(IRBuilder<> &B, const PlannedSite &P);
  Value *field(IRBuilder<> &B, Value *Launch, unsigned Field);
  void rewrite(PlannedSite &P);
  void createFinish(Function &Kernel, Group &G);
  void hookKernel(Function &Kernel, Group &G);
  Value *streamHandle(IRBuilder<> &B, StreamKind Stream);

  DeviceRuntime &Runtime;
  Module &M;
  MutableArrayRef<PlannedSite> Sites;
  ChildBuilder Child;
  MapVector<Function *, Group> Groups;
};

Value *Rewriter::field(IRBuilder<> &B, Value *Launch, unsigned Field) {
  return B.CreateStructGEP(Runtime.launchType(), Launch, Field);
}

Value *Rewriter::streamHandle(IRBuilder<> &B, StreamKind Stream) {
  return B.CreateIntToPtr(B.getInt64(static_cast<uint64_t>(Stream)),
                          B.getPtrTy());
}

/// Fills what is known at compile time.
AllocaInst *Rewriter::createLaunch(IRBuilder<> &B, const PlannedSite &P) {
  Function *F = B.GetInsertBlock()->getParent();
  IRBuilder<> AtEntry(&F->getEntryBlock(), F->getEntryBlock().begin());
  AllocaInst *Launch =
      AtEntry.CreateAlloca(Runtime.launchType(), nullptr, "launch");
  B.CreateStore(P.S.Kernel, field(B, Launch, LaunchKernel));
  B.CreateStore(Child.declare(*P.S.Kernel), field(B, Launch, LaunchAggregated));
  B.CreateStore(streamHandle(B, P.PlainStream), field(B, Launch, LaunchStream));
  B.CreateStore(streamHandle(B, P.MergedStream),
                field(B, Launch, LaunchAggStream));
  B.CreateStore(B.getInt32(static_cast<uint32_t>(P.S.ArgBytes)),
                field(B, Launch, LaunchArgBytes));
  return Launch;
}

void Rewriter::rewrite(PlannedSite &P) {
  CallBase *Old = P.S.Launch;
  Function *F = Old->getFunction();
  IRBuilder<> AtEntry(&F->getEntryBlock(), F->getEntryBlock().begin());
  Type *BytesTy =
      ArrayType::get(AtEntry.getInt8Ty(), std::max<uint64_t>(P.S.ArgBytes, 1));
  AllocaInst *Args = AtEntry.CreateAlloca(BytesTy, nullptr, "launch.args");
  Args->setAlignment(Align(64));
  P.S.Buffer->replaceAllUsesWith(Args);
  P.S.Buffer->eraseFromParent();

  IRBuilder<> B(Old);
  AllocaInst *Launch = createLaunch(B, P);
  B.CreateStore(Args, field(B, Launch, LaunchArgs));
  B.CreateStore(Old->getArgOperand(4), field(B, Launch, LaunchShared));
  for (auto [Operand, Field] : {std::pair{2u, LaunchGrid}, {3u, LaunchBlock}}) {
    // dim3: three words.
    B.CreateMemCpy(field(B, Launch, Field), Align(4),
                   Old->getArgOperand(Operand), Align(4), 12);
  }
  if (P.Level == Granularity::Warp) {
    B.CreateCall(Runtime.function("launch_warp"), {Launch});
  } else {
    Group &G = Groups[F];
    B.CreateCall(G.runtime(Runtime, "record"),
                 {Launch, B.getInt32(P.Slot),
                  B.getInt32(static_cast<uint32_t>(G.Sites.size())),
                  G.Strides});
  }
  Old->eraseFromParent();
  P.S.Launch = nullptr;
  P.S.Buffer = nullptr;
}

/// void finish(): every thread calls it last; the last thread launches.
void Rewriter::createFinish(Function &Kernel, Group &G) {
  LLVMContext &C = M.getContext();
  auto *F = Function::Create(FunctionType::get(Type::getVoidTy(C), false),
                             GlobalValue::InternalLinkage,
                             "__pacc_dev_finish_" + Kernel.getName(), M);
  for (StringRef Key : {"target-cpu", "target-features"})
    if (Kernel.hasFnAttribute(Key))
      F->addFnAttr(Kernel.getFnAttribute(Key));
  F->addFnAttr(Attribute::Convergent);
  F->addFnAttr(Attribute::NoUnwind);
  auto *Entry = BasicBlock::Create(C, "entry", F);
  auto *Last = BasicBlock::Create(C, "last", F);
  auto *Done = BasicBlock::Create(C, "done", F);
  IRBuilder<> B(Entry);
  Value *IsLast = B.CreateCall(G.runtime(Runtime, "leave"));
  B.CreateCondBr(B.CreateIsNotNull(IsLast), Last, Done);
  B.SetInsertPoint(Last);
  for (PlannedSite *P : G.Sites) {
    AllocaInst *Launch = createLaunch(B, *P);
    B.CreateCall(G.runtime(Runtime, "flush"), {Launch, B.getInt32(P->Slot)});
  }
  if (G.Level == Granularity::Grid)
    B.CreateCall(Runtime.function("grid_close"));
  B.CreateBr(Done);
  B.SetInsertPoint(Done);
  B.CreateRetVoid();
  G.Finish = F;
}

/// Code at the kernel's start and before each of its returns.
void Rewriter::hookKernel(Function &Kernel, Group &G) {
  DebugLoc Nowhere;
  if (DISubprogram *Program = Kernel.getSubprogram())
    Nowhere = DILocation::get(M.getContext(), 0, 0, Program);
  SmallVector<ReturnInst *, 4> Returns;
  for (BasicBlock &BB : Kernel)
    if (auto *Return = dyn_cast<ReturnInst>(BB.getTerminator()))
      Returns.push_back(Return);
  for (ReturnInst *Return : Returns) {
    IRBuilder<> B(Return);
    B.SetCurrentDebugLocation(Nowhere);
    B.CreateCall(G.Finish);
  }
  if (G.Level == Granularity::Block) {
    BasicBlock &Entry = Kernel.getEntryBlock();
    IRBuilder<> B(&Entry, Entry.getFirstNonPHIOrDbgOrAlloca());
    B.SetCurrentDebugLocation(Nowhere);
    B.CreateCall(Runtime.function("block_begin"));
  }
}

void Rewriter::run() {
  for (PlannedSite &P : Sites)
    if (P.isMerged() && P.Level != Granularity::Warp) {
      Group &G = Groups[P.S.caller()];
      G.Level = P.Level;
      G.Sites.push_back(&P);
    }
  for (auto &[Kernel, G] : Groups) {
    SmallVector<uint32_t, MaxSlots> Strides;
    for (PlannedSite *P : G.Sites)
      Strides.push_back(
          static_cast<uint32_t>(DeviceRuntime::recordBytes(P->S.ArgBytes)));
    Constant *Init = ConstantDataArray::get(M.getContext(), Strides);
    G.Strides = new GlobalVariable(M, Init->getType(), true,
                                   GlobalValue::InternalLinkage, Init,
                                   "__pacc_dev_strides");
  }
  SmallSetVector<Function *, 8> Kernels;
  for (PlannedSite &P : Sites)
    if (P.isMerged()) {
      Kernels.insert(P.S.Kernel);
      rewrite(P);
    }
  for (auto &[Kernel, G] : Groups)
    createFinish(*Kernel, G);
  for (Function *Kernel : Kernels) {
    auto It = Groups.find(Kernel);
    Group *G = It == Groups.end() ? nullptr : &It->second;
    Child.define(
        *Kernel,
        [&](IRBuilder<> &B) {
          if (G && G->Level == Granularity::Block)
            B.CreateCall(Runtime.function("block_begin"));
        },
        [&](IRBuilder<> &B) {
          if (G)
            B.CreateCall(G->Finish);
        });
  }
  for (auto &[Kernel, G] : Groups)
    hookKernel(*Kernel, G);
}

} // namespace

void rewriteSites(DeviceRuntime &Runtime, MutableArrayRef<PlannedSite> Sites) {
  Rewriter(Runtime, Sites).run();
}

} // namespace pacc
