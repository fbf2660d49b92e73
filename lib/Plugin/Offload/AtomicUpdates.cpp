//===- AtomicUpdates.cpp - Updates of elements that threads share ---------===//
#include "Offload/Combination.h"
#include "Offload/Reductions.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace pacc {

static const char *const UpdateMark = "pacc.update";
static const char *const RowMark = "pacc.update.row";

void markUpdate(Instruction &Operation, UpdateKind Kind) {
  MDNode *Mark = MDNode::get(Operation.getContext(), {});
  Operation.setMetadata(UpdateMark, Kind != UpdateKind::Own ? Mark : nullptr);
  Operation.setMetadata(RowMark, Kind == UpdateKind::Row ? Mark : nullptr);
}

namespace {

/// load, operation, store of one element.
struct Update {
  LoadInst *Load;
  Instruction *Operation;
  StoreInst *Store;
  Combination How;
  void erase() const;
};

/// An element whose address is the same for all threads.
struct SharedElement {
  Value *Base; // defined at the kernel's entry
  APInt Offset;
  SmallVector<Update, 2> Updates;
};

} // namespace

static SmallVector<Update, 4> findMarked(Function &Kernel) {
  SmallVector<Update, 4> Updates;
  for (Instruction &I : instructions(Kernel)) {
    if (!I.getMetadata(UpdateMark))
      continue;
    auto *Store = cast<StoreInst>(*I.user_begin());
    // The other operand may be a load, too; the old value's one is that of the
    // stored element, in whatever way its address was computed again.
    for (Value *Operand : I.operands()) {
      auto *Load = dyn_cast<LoadInst>(Operand);
      auto How =
          Load ? Combination::of(I, *Load, /*CheckZeros=*/false) : std::nullopt;
      if (How && getUnderlyingObject(Load->getPointerOperand()) ==
                     getUnderlyingObject(Store->getPointerOperand())) {
        Updates.push_back({Load, &I, Store, *How});
        break;
      }
    }
  }
  return Updates;
}

void Update::erase() const {
  Instruction *Comparison = comparisonOf(*Operation);
  Store->eraseFromParent();
  Operation->eraseFromParent();
  if (Comparison)
    Comparison->eraseFromParent();
  Load->eraseFromParent();
}

/// *Address = *Address op Operand, atomically, before \p Before.
static void createAtomic(Instruction *Before, Value *Address, Value *Operand,
                         const Combination &How) {
  IRBuilder<> Builder(Before);
  LLVMContext &C = Builder.getContext();
  SyncScope::ID Device = C.getOrInsertSyncScopeID("device");
  const AtomicOrdering Relaxed = AtomicOrdering::Monotonic;
  if (auto Kind = How.atomic()) {
    Builder.CreateAtomicRMW(*Kind, Address, Operand, MaybeAlign(), Relaxed,
                            Device);
    return;
  }
  // There is none: compare and swap until nobody else came between.
  Type *Bits = Builder.getIntNTy(Operand->getType()->getPrimitiveSizeInBits());
  LoadInst *First = Builder.CreateAlignedLoad(
      Bits, Address, Align(Bits->getPrimitiveSizeInBits() / 8));
  First->setAtomic(Relaxed, Device);
  BasicBlock *Entry = Before->getParent();
  BasicBlock *Done = SplitBlock(Entry, Before);
  BasicBlock *Try = BasicBlock::Create(C, "try", Entry->getParent(), Done);
  Entry->getTerminator()->setSuccessor(0, Try);
  Builder.SetInsertPoint(Try);
  PHINode *Old = Builder.CreatePHI(Bits, 2);
  Value *New = How.create(
      Builder, Builder.CreateBitCast(Old, Operand->getType()), Operand);
  Value *Result = Builder.CreateAtomicCmpXchg(
      Address, Old, Builder.CreateBitCast(New, Bits), MaybeAlign(), Relaxed,
      Relaxed, Device);
  Old->addIncoming(First, Entry);
  Old->addIncoming(Builder.CreateExtractValue(Result, 0), Try);
  Builder.CreateCondBr(Builder.CreateExtractValue(Result, 1), Done, Try);
}

//===----------------------------------------------------------------------===//
// One element for all threads
//===----------------------------------------------------------------------===//

/// Elements at constant offsets from an argument, of which the kernel knows
/// nothing but their updates.
static SmallVector<SharedElement, 2> findShared(Function &Kernel,
                                                ArrayRef<Update> Updates) {
  const DataLayout &DL = Kernel.getDataLayout();
  SmallPtrSet<const Instruction *, 8> Parts;
  for (const Update &U : Updates)
    Parts.insert({U.Load, U.Store});
  SmallPtrSet<const Value *, 8> OtherUse;
  for (Instruction &I : instructions(Kernel))
    if (const Value *P = getLoadStorePointerOperand(&I);
        P && !Parts.contains(&I))
      OtherUse.insert(getUnderlyingObject(P));
  SmallVector<SharedElement, 2> Shared;
  for (const Update &U : Updates) {
    APInt Offset(64, 0);
    Value *Base =
        U.Store->getPointerOperand()->stripAndAccumulateConstantOffsets(
            DL, Offset, /*AllowNonInbounds=*/true);
    if (Base != getUnderlyingObject(Base) || OtherUse.contains(Base))
      continue;
    auto *Known = find_if(Shared, [&](const SharedElement &E) {
      return E.Base == Base && E.Offset == Offset;
    });
    if (Known == Shared.end()) {
      Shared.push_back({Base, Offset, {}});
      Known = &Shared.back();
    }
    Known->Updates.push_back(U);
  }
  return Shared;
}

static Value *readRegister(IRBuilderBase &Builder, Intrinsic::ID Register) {
  return Builder.CreateIntrinsic(Register, {});
}

/// The threads of a warp combine their values; the result is that of lane 0.
/// With \p Lanes (null: all of them), a block may end in the middle of a warp.
static Value *combineWarp(IRBuilderBase &Builder, Value *V, Value *Lane,
                          Value *Lanes, const Combination &How) {
  Type *Ty = V->getType();
  unsigned Width = Ty->getPrimitiveSizeInBits();
  Value *Mask = Builder.getInt32(~0u);
  if (Lanes)
    Mask = Builder.CreateLShr(Mask,
                              Builder.CreateSub(Builder.getInt32(32), Lanes));
  auto Shuffle = [&](Value *Word, unsigned Distance) {
    return Builder.CreateIntrinsic(
        Intrinsic::nvvm_shfl_sync_down_i32,
        {Mask, Word, Builder.getInt32(Distance), Builder.getInt32(31)});
  };
  for (unsigned Distance = 16; Distance > 0; Distance /= 2) {
    Value *Bits = Builder.CreateBitCast(V, Builder.getIntNTy(Width));
    Value *Other;
    if (Width == 64) {
      Value *Low =
          Shuffle(Builder.CreateTrunc(Bits, Builder.getInt32Ty()), Distance);
      Value *High = Shuffle(Builder.CreateTrunc(Builder.CreateLShr(Bits, 32),
                                                Builder.getInt32Ty()),
                            Distance);
      Other = Builder.CreateOr(
          Builder.CreateShl(Builder.CreateZExt(High, Bits->getType()), 32),
          Builder.CreateZExt(Low, Bits->getType()));
    } else {
      Other = Builder.CreateTrunc(
          Shuffle(Builder.CreateZExt(Bits, Builder.getInt32Ty()), Distance),
          Bits->getType());
    }
    Value *Both = How.create(Builder, V, Builder.CreateBitCast(Other, Ty));
    if (!Lanes) {
      V = Both;
      continue;
    }
    Value *Exists = Builder.CreateICmpULT(
        Builder.CreateAdd(Lane, Builder.getInt32(Distance)), Lanes);
    V = Builder.CreateSelect(Exists, Both, V);
  }
  return V;
}

/// Number of the thread in its block, and threads of the block.
static std::pair<Value *, Value *> numberThread(IRBuilderBase &Builder) {
  auto Read = [&](Intrinsic::ID Register) {
    return readRegister(Builder, Register);
  };
  Value *X = Read(Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  Value *Y = Read(Intrinsic::nvvm_read_ptx_sreg_ntid_y);
  Value *Z = Read(Intrinsic::nvvm_read_ptx_sreg_ntid_z);
  Value *Row = Builder.CreateAdd(
      Builder.CreateMul(Read(Intrinsic::nvvm_read_ptx_sreg_tid_z), Y),
      Read(Intrinsic::nvvm_read_ptx_sreg_tid_y));
  Value *Number = Builder.CreateAdd(Builder.CreateMul(Row, X),
                                    Read(Intrinsic::nvvm_read_ptx_sreg_tid_x));
  return {Number, Builder.CreateMul(Builder.CreateMul(X, Y), Z)};
}

/// Each thread collects in a register, until it reaches \p End.
static void collect(Function &Kernel, const SharedElement &Element,
                    Instruction *End) {
  const Combination &How = Element.Updates[0].How;
  Type *Ty = How.type();
  IRBuilder<> Builder(Kernel.getContext());
  Builder.SetInsertPoint(&Kernel.getEntryBlock(),
                         Kernel.getEntryBlock().getFirstInsertionPt());
  Value *Register = Builder.CreateAlloca(Ty);
  Builder.CreateStore(How.identity(), Register);
  for (const Update &U : Element.Updates) {
    Builder.SetInsertPoint(U.Store);
    Value *New = U.How.createNew(Builder, *U.Operation);
    Builder.CreateStore(
        U.How.create(Builder, Builder.CreateLoad(Ty, Register), New), Register);
    U.erase();
  }

  Builder.SetInsertPoint(End);
  auto [Number, Threads] = numberThread(Builder);
  Value *Lane = Builder.CreateAnd(Number, 31);
  Value *Lanes = Builder.CreateBinaryIntrinsic(
      Intrinsic::umin,
      Builder.CreateSub(Threads, Builder.CreateSub(Number, Lane)),
      Builder.getInt32(32));
  Value *Sum =
      combineWarp(Builder, Builder.CreateLoad(Ty, Register), Lane, Lanes, How);
  Value *Address =
      Builder.CreatePtrAdd(Element.Base, Builder.getInt(Element.Offset));
  Value *IsFirst = Builder.CreateICmpEQ(Lane, Builder.getInt32(0));
  createAtomic(SplitBlockAndInsertIfThen(IsFirst, End->getIterator(), false),
               Address, Sum, How);
}

//===----------------------------------------------------------------------===//
// One element for each update
//===----------------------------------------------------------------------===//

static void replaceByAtomic(const Update &U) {
  IRBuilder<> Builder(U.Store);
  createAtomic(U.Store, U.Store->getPointerOperand(),
               U.How.createNew(Builder, *U.Operation), U.How);
  U.erase();
}

/// Threads along x are expected to update one element: where all lanes of a
/// warp are found to, they take one atomic operation.
static void replaceByWarp(const Update &U) {
  IRBuilder<> Builder(U.Store);
  Value *Address = U.Store->getPointerOperand();
  Value *New = U.How.createNew(Builder, *U.Operation);
  Value *Lane = readRegister(Builder, Intrinsic::nvvm_read_ptx_sreg_laneid);
  Value *All = Builder.getInt32(~0u);
  BasicBlock *Entry = U.Store->getParent();
  Instruction *Whole = SplitBlockAndInsertIfThen(
      Builder.CreateICmpEQ(readRegister(Builder, Intrinsic::nvvm_activemask),
                           All),
      U.Store->getIterator(), /*Unreachable=*/false);
  Builder.SetInsertPoint(Whole);
  Value *Match = Builder.CreateExtractValue(
      Builder.CreateIntrinsic(
          Intrinsic::nvvm_match_all_sync_i64p,
          {All, Builder.CreatePtrToInt(Address, Builder.getInt64Ty())}),
      1);

  Builder.SetInsertPoint(U.Store);
  PHINode *Same = Builder.CreatePHI(Builder.getInt1Ty(), 2);
  Same->addIncoming(Match, Whole->getParent());
  Same->addIncoming(Builder.getFalse(), Entry);
  BasicBlock *Tail = U.Store->getParent();
  Instruction *Combined = SplitBlockAndInsertIfThen(
      Same, U.Store->getIterator(), /*Unreachable=*/false);
  Builder.SetInsertPoint(Combined);
  Value *Sum = combineWarp(Builder, New, Lane, /*Lanes=*/nullptr, U.How);

  Builder.SetInsertPoint(U.Store);
  PHINode *Operand = Builder.CreatePHI(New->getType(), 2);
  Operand->addIncoming(Sum, Combined->getParent());
  Operand->addIncoming(New, Tail);
  Value *Takes = Builder.CreateOr(
      Builder.CreateNot(Same), Builder.CreateICmpEQ(Lane, Builder.getInt32(0)));
  createAtomic(SplitBlockAndInsertIfThen(Takes, U.Store->getIterator(),
                                         /*Unreachable=*/false),
               Address, Operand, U.How);
  U.erase();
}

void makeUpdatesAtomic(Function &Kernel) {
  SmallVector<Update, 4> Updates = findMarked(Kernel);
  if (Updates.empty())
    return;
  // Parts of a sum may overflow where the sum does not.
  for (const Update &U : Updates)
    U.Operation->dropPoisonGeneratingFlags();
  Instruction *End = nullptr;
  for (BasicBlock &BB : Kernel)
    if (isa<ReturnInst>(BB.getTerminator()))
      End = BB.getTerminator();
  SmallPtrSet<const Instruction *, 8> Collected;
  for (const SharedElement &Element : findShared(Kernel, Updates)) {
    for (const Update &U : Element.Updates)
      Collected.insert(U.Store);
    collect(Kernel, Element, End);
  }
  for (const Update &U : Updates) {
    if (Collected.contains(U.Store))
      continue;
    if (U.Operation->getMetadata(RowMark))
      replaceByWarp(U);
    else
      replaceByAtomic(U);
  }
}

} // namespace pacc
