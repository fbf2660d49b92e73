//===- LoopCode.cpp - A loop of launches in one kernel --------------------===//
//
// Where the host launches small kernels again and again, most of the time goes
// into launches. Such a loop also becomes a kernel whose blocks are all
// resident: it runs the loop itself, each former launch is a phase of it, and
// phases that depend on others stand behind a barrier over the grid
// (lib/DeviceRT/barrier.c). The host's loop stays; the runtime chooses.
//
// The blocks of a phase are dealt out to the blocks of the grid, which has one
// dimension. A phase of fewer dimensions than the block has takes the threads
// of the others along its last one.
//
// All threads of the grid keep two sets of phases, as pacc_phase_plan says, and
// know by them which barriers they need: conditions and trip counts of the
// host's loops are the same for all.
//
//===----------------------------------------------------------------------===//
#include "Offload/DeviceModule.h"
#include "Offload/RegionBuilder.h"
#include "Offload/RuntimeCalls.h"

#include "pacc/abi.h"
#include "polly/CodeGen/LoopGenerators.h"
#include "polly/ScopInfo.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace polly;

namespace pacc {

/// What the kernel that is written keeps.
struct RegionBuilder::LoopState {
  const LoopAst &Loop;
  Argument *Word; // of the barrier
  /// The number of this block and of all blocks, a thread's place in its block
  /// and the block's threads along each dimension; 64 bits.
  Value *Block, *Blocks, *Thread[3], *Threads[3];
  /// Phases since the iteration's begin, and before.
  AllocaInst *Same, *Earlier;
};

static Value *readRegister(IRBuilderBase &Builder, Intrinsic::ID Register) {
  return Builder.CreateZExt(Builder.CreateIntrinsic(Register, {}),
                            Builder.getInt64Ty());
}

/// Adds the arrays that \p Instances write to \p Arrays.
static void addWritten(const isl::union_set &Instances,
                       SmallPtrSetImpl<const Value *> &Arrays) {
  for (isl::set Some : Instances.get_set_list())
    for (MemoryAccess *MA :
         *static_cast<ScopStmt *>(Some.get_tuple_id().get_user()))
      if (MA->isLatestArrayKind() && MA->isWrite())
        Arrays.insert(MA->getLatestScopArrayInfo()->getBasePtr());
}

//===----------------------------------------------------------------------===//
// On the device
//===----------------------------------------------------------------------===//

void RegionBuilder::createIteration() {
  Type *Set = Builder.getInt64Ty();
  Value *Earlier = Builder.CreateOr(Builder.CreateLoad(Set, InLoop->Earlier),
                                    Builder.CreateLoad(Set, InLoop->Same));
  Builder.CreateStore(Earlier, InLoop->Earlier);
  Builder.CreateStore(Builder.getInt64(0), InLoop->Same);
}

void RegionBuilder::createBarrier(const pacc_phase_plan &Phase) {
  Type *Set = Builder.getInt64Ty();
  Value *Same = Builder.CreateLoad(Set, InLoop->Same);
  Value *Earlier = Builder.CreateLoad(Set, InLoop->Earlier);
  Value *Wanted = Builder.CreateIsNotNull(
      Builder.CreateOr(Builder.CreateAnd(Same, Phase.same),
                       Builder.CreateAnd(Earlier, Phase.earlier)));
  Value *Word = Builder.CreateAddrSpaceCast(InLoop->Word, Builder.getPtrTy());
  callRuntime(Builder, GridBarrier, Builder.getVoidTy(),
              {Word, Builder.CreateZExt(Wanted, Builder.getInt32Ty())});
  for (AllocaInst *Slot : {InLoop->Same, InLoop->Earlier})
    Builder.CreateStore(
        Builder.CreateSelect(Wanted, Builder.getInt64(0),
                             Slot == InLoop->Same ? Same : Earlier),
        Slot);
}

void RegionBuilder::createPhase(const LaunchAst &Launch, isl::ast_node Body) {
  const unsigned Dims = Launch.Plan->n_dims;
  const unsigned Number =
      Launch.Plan - (Ast->Mapping->kernels + InLoop->Loop.Plan->first);
  createBarrier(InLoop->Loop.Phases[Number]);

  // The threads of a block along each dimension of the phase.
  Value *Zero = Builder.getInt64(0), *One = Builder.getInt64(1);
  SmallVector<Value *, 3> Thread(InLoop->Thread, InLoop->Thread + 3);
  SmallVector<Value *, 3> Size(InLoop->Threads, InLoop->Threads + 3);
  for (unsigned D = 2; D >= std::max(1u, Dims); --D) {
    Thread[D - 1] = Builder.CreateAdd(
        Thread[D - 1], Builder.CreateMul(Thread[D], Size[D - 1]));
    Size[D - 1] = Builder.CreateMul(Size[D - 1], Size[D]);
  }
  SmallVector<Value *, 3> First(1, Zero), Blocks(1, One);
  Value *Total = One;
  for (unsigned D = 0; D < Dims; ++D) {
    First.resize(Dims);
    Blocks.resize(Dims);
    First[D] = toInt64(ExprBuilder.create(Launch.First[D].copy()));
    Value *Count = toInt64(ExprBuilder.create(Launch.Threads[D].copy()));
    Count = Builder.CreateBinaryIntrinsic(Intrinsic::smax, Count, Zero);
    Blocks[D] = Builder.CreateUDiv(
        Builder.CreateAdd(Count, Builder.CreateSub(Size[D], One)), Size[D]);
    Total = Builder.CreateMul(Total, Blocks[D]);
  }

  // One thread of the grid is the phase without dimensions.
  Value *From = InLoop->Block;
  if (Dims == 0)
    From = Builder.CreateAdd(Thread[0], Builder.CreateMul(From, Size[0]));
  BasicBlock *After;
  Value *Block = polly::createLoop(
      From, Builder.CreateSub(Total, One),
      Dims == 0 ? Builder.CreateMul(InLoop->Blocks, Size[0]) : InLoop->Blocks,
      Builder, *GenLI, *GenDT, After, ICmpInst::ICMP_SLE);
  for (unsigned D = 0; D < Dims; ++D) {
    Value *Own = D + 1 < Dims ? Builder.CreateURem(Block, Blocks[D]) : Block;
    if (D + 1 < Dims)
      Block = Builder.CreateUDiv(Block, Blocks[D]);
    IDToValue[Launch.Plan->param[D]] = Builder.CreateAdd(
        First[D],
        Builder.CreateAdd(Builder.CreateMul(Own, Size[D]), Thread[D]));
  }
  createThread(Launch, Body);
  for (unsigned D = 0; D < Dims; ++D)
    IDToValue.erase(Launch.Plan->param[D]);

  Builder.SetInsertPoint(&After->front());
  Value *Same = Builder.CreateLoad(Builder.getInt64Ty(), InLoop->Same);
  Builder.CreateStore(Builder.CreateOr(Same, UINT64_C(1) << Number),
                      InLoop->Same);
}

//===----------------------------------------------------------------------===//
// On the host
//===----------------------------------------------------------------------===//

/// struct pacc_loop.
Constant *RegionBuilder::describeLoop(const LoopAst &Loop, unsigned Kernel,
                                      unsigned Barrier) {
  auto Number = [&](unsigned N) { return Builder.getInt32(N); };
  Module &M = *Builder.GetInsertBlock()->getModule();
  auto CreateData = [&](Constant *Data) {
    return new GlobalVariable(M, Data->getType(), true,
                              GlobalValue::PrivateLinkage, Data, ".pacc");
  };
  SmallVector<Constant *, 8> Phases;
  for (auto [I, Phase] : enumerate(Loop.Phases)) {
    auto Known = KernelOf.find(&Ast->Mapping->kernels[Loop.Plan->first + I]);
    Phases.push_back(ConstantStruct::getAnon(
        {Number(Known == KernelOf.end() ? PACC_NO_KERNEL : Known->second),
         Number(Phase.waits)}));
  }
  Constant *Table = ConstantArray::get(
      ArrayType::get(Phases[0]->getType(), Phases.size()), Phases);
  return CreateData(ConstantStruct::getAnon(
      {Number(Kernel), Number(AlwaysOneKernel), Number(Barrier),
       Number(Phases.size()), CreateData(Table)}));
}

/// Writes the kernel; returns whether the runtime has launched it.
Value *RegionBuilder::createLoopKernel(const LoopAst &Loop,
                                       isl::ast_node Body) {
  isl::union_set Instances = isl::union_set::empty(S.getIslCtx());
  std::vector<LoopPhase> Phases;
  for (unsigned K = 0; K < Loop.Plan->n_phases; ++K) {
    const pacc_kernel_plan &Plan = Ast->Mapping->kernels[Loop.Plan->first + K];
    Instances = Instances.unite(isl::manage_copy(Plan.domain));
    if (auto Known = KernelOf.find(&Plan); Known != KernelOf.end())
      Phases.push_back({Known->second, Plan.launches, Loop.Phases[K].waits});
  }
  // What other blocks write between two barriers may not be taken for constant.
  ArraySet Written;
  addWritten(Instances, Written);
  KernelHead Head =
      createHead(Name + "_loop" + Twine(NumLoops++), Instances,
                 {PointerType::get(Builder.getContext(), 1)}, Written);

  BasicBlock *Entry = BasicBlock::Create(Builder.getContext(), "entry", Head.F);
  BasicBlock *Inside = BasicBlock::Create(Builder.getContext(), "body", Head.F);
  Builder.SetInsertPoint(Inside);
  Builder.CreateRetVoid();
  Builder.SetInsertPoint(Entry);
  auto Read = [&](Intrinsic::ID Register) {
    return readRegister(Builder, Register);
  };
  LoopState State = {
      Loop,
      Head.F->getArg(Head.HostValues.size()),
      Read(Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
      Read(Intrinsic::nvvm_read_ptx_sreg_nctaid_x),
      {Read(Intrinsic::nvvm_read_ptx_sreg_tid_x),
       Read(Intrinsic::nvvm_read_ptx_sreg_tid_y),
       Read(Intrinsic::nvvm_read_ptx_sreg_tid_z)},
      {Read(Intrinsic::nvvm_read_ptx_sreg_ntid_x),
       Read(Intrinsic::nvvm_read_ptx_sreg_ntid_y),
       Read(Intrinsic::nvvm_read_ptx_sreg_ntid_z)},
      Builder.CreateAlloca(Builder.getInt64Ty(), nullptr, "same"),
      Builder.CreateAlloca(Builder.getInt64Ty(), nullptr, "earlier")};
  for (AllocaInst *Slot : {State.Same, State.Earlier})
    Builder.CreateStore(Builder.getInt64(0), Slot);
  Builder.CreateBr(Inside);
  Builder.SetInsertPoint(Inside->getTerminator());
  writeKernel(Head, [&] {
    InLoop = &State;
    create(Body.copy());
    InLoop = nullptr;
  });

  SmallVector<bool, 16> Used;
  unsigned Kernel =
      Device.addLoopKernel(*Head.F, Phases, placeOf(Instances), Used);
  ValueList Arguments =
      pass(Head, {ConstantPointerNull::get(Builder.getPtrTy())}, Used);
  unsigned Barrier =
      Used.back() ? Arguments.size() - 1 : unsigned(PACC_NO_BARRIER);
  ArrayRef<SizeAst> Sizes = Ast->Sizes;
  Value *Null = ConstantPointerNull::get(Builder.getPtrTy());
  return callRuntime(
      Builder, "__pacc_rt_loop", Builder.getInt32Ty(),
      {Run, describeLoop(Loop, Kernel, Barrier),
       Sizes.empty()
           ? Null
           : createSizes(Sizes.slice(Loop.Plan->first, Loop.Plan->n_phases)),
       createParameters(Arguments)});
}

void RegionBuilder::createLoop(const LoopAst &Loop, isl::ast_node Body) {
  DomTreeUpdater Updater(GenDT, DomTreeUpdater::UpdateStrategy::Eager);
  BasicBlock *Before = Builder.GetInsertBlock();
  Instruction *End =
      SplitBlockAndInsertIfThen(Builder.getTrue(), Builder.GetInsertPoint(),
                                false, nullptr, &Updater, GenLI);
  BasicBlock *After = End->getSuccessor(0);
  // The kernels of the phases come first.
  Builder.SetInsertPoint(End);
  create(Body.copy());
  Builder.SetInsertPoint(Before->getTerminator());
  Value *Launched = createLoopKernel(Loop, Body);
  Before->getTerminator()->setOperand(0, Builder.CreateIsNull(Launched));
  Builder.SetInsertPoint(&After->front());
}

} // namespace pacc
