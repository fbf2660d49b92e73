//===- HostCode.cpp - The host's part of an offloaded region --------------===//
#include "Offload/ArrayNames.h"
#include "Offload/RegionBuilder.h"
#include "Offload/RuntimeCalls.h"
#include "Offload/Spans.h"

#include "pacc/abi.h"
#include "pacc/cost.h"
#include "polly/ScopInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace polly;

namespace pacc {

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

/// The bytes of an extent, as __pacc_rt_copy takes them.
RegionBuilder::Rows RegionBuilder::createRows(const ArrayAst &Array,
                                              const ExtentAst &Extent) {
  Value *Base = getLatestValue(Array.SAI->getBasePtr());
  Value *Size = Builder.getInt64(Array.SAI->getElemSizeInBytes());
  Value *When = ExprBuilder.createBool(Extent.When.copy());
  Value *First = offsetFrom(Base, Extent.First);
  const isl::ast_expr &RowEnd = Extent.isBox() ? Extent.RowEnd : Extent.Last;
  Value *Width = Builder.CreateAdd(
      Builder.CreateSub(offsetFrom(Base, RowEnd), First), Size);
  Width = Builder.CreateSelect(When, Width, Builder.getInt64(0));
  Value *Count = Builder.getInt64(1), *Pitch = Builder.getInt64(0);
  if (Extent.isBox()) {
    Count = toInt64(ExprBuilder.create(Extent.Rows.copy()));
    Pitch = Builder.CreateSub(offsetFrom(Base, Extent.NextRow), First);
  }
  return {First, Width, Count, Pitch};
}

/// See PACC_COPY_UNIT_SHIFT.
static unsigned unitOf(const ArrayAst &Array) {
  unsigned Bytes = Array.SAI->getElemSizeInBytes();
  return std::min(countr_zero(Bytes), 3);
}

void RegionBuilder::createCopy(const ArrayAst &Array, const ExtentAst &Extent,
                               unsigned Index, unsigned Direction) {
  auto [First, Width, Count, Pitch] = createRows(Array, Extent);
  callRuntime(Builder, "__pacc_rt_copy", Builder.getVoidTy(),
              {Run, Builder.getInt32(Index), Builder.getInt32(Direction), First,
               Width, Count, Pitch});
}

/// An array with a copy for each iteration of some loops. Returns the address
/// that stands for the host's array in iteration 0, which may be none: that of
/// iteration i lies i times the distance further on, along each loop.
Value *RegionBuilder::createCopies(const ArrayAst &Array, Value *Label,
                                   Value *Base, Value *First, Value *End) {
  Type *Int64 = Builder.getInt64Ty();
  const unsigned N = Array.Counts.size();
  auto *Table = ArrayType::get(Int64, N);
  AllocaInst *Counts = createEntryAlloca(Table, "pacc.counts");
  Copies &C = CopiesOf[Array.SAI];
  C.Iteration = Array.Iteration;
  C.Distance.resize(N);
  Value *Distance = Builder.CreateSub(End, First);
  for (unsigned D = N; D-- > 0;) {
    Value *Count = toInt64(ExprBuilder.create(Array.Counts[D].copy()));
    Builder.CreateStore(
        Count, Builder.CreateConstInBoundsGEP2_64(Table, Counts, 0, D));
    C.Distance[D] = Distance;
    Distance = Builder.CreateMul(Distance, Count);
  }
  Value *Address =
      callRuntime(Builder, "__pacc_rt_array_copies", Int64,
                  {Run, Label, Base, First, End, Counts, Builder.getInt32(N)});
  for (unsigned D = 0; D < N; ++D) {
    Value *Last = toInt64(ExprBuilder.create(Array.Last[D].copy()));
    Address =
        Builder.CreateSub(Address, Builder.CreateMul(Last, C.Distance[D]));
  }
  return Address;
}

/// The alignment of the widest numbers in an array: in one of structs, they are
/// wider than its elements.
static Align alignmentOf(const Scop &S, const ScopArrayInfo &SAI,
                         const DataLayout &DL) {
  Align Most;
  for (const ScopStmt &Stmt : S)
    for (const MemoryAccess *MA : Stmt) {
      Instruction *I = MA->getAccessInstruction();
      if (MA->getLatestScopArrayInfo() == &SAI && I &&
          isa<LoadInst, StoreInst>(I))
        Most =
            std::max(Most, std::min(getLoadStoreAlignment(I),
                                    DL.getABITypeAlign(getLoadStoreType(I))));
    }
  return Most;
}

void RegionBuilder::createArray(const ArrayAst &Array, unsigned Index) {
  Value *Base = getLatestValue(Array.SAI->getBasePtr());
  Value *When = ExprBuilder.createBool(Array.Touched.When.copy());
  Value *First = offsetFrom(Base, Array.Touched.First);
  Value *Last = offsetFrom(Base, Array.Touched.Last);
  Value *End = Builder.CreateAdd(
      Last, Builder.getInt64(Array.SAI->getElemSizeInBytes()));
  // An aligned element of a wider type stays one on the device.
  if (uint64_t Unit = alignmentOf(S, *Array.SAI, DL).value();
      Unit > static_cast<unsigned>(Array.SAI->getElemSizeInBytes())) {
    Value *Start = toInt64(Base);
    auto RoundDown = [&](Value *Offset) {
      Value *Address = Builder.CreateAdd(Start, Offset);
      return Builder.CreateSub(Builder.CreateAnd(Address, -Unit), Start);
    };
    First = RoundDown(First);
    End = RoundDown(Builder.CreateAdd(End, Builder.getInt64(Unit - 1)));
  }
  End = Builder.CreateSelect(When, End, First);
  auto Cell = Cells.find(Array.SAI);
  bool IsCell = Cell != Cells.end();
  Value *Label = Builder.CreateGlobalString(
      arrayName(IsCell ? *Cell->second : *Array.SAI));
  Value *Address;
  if (Array.hasCopies())
    Address = createCopies(Array, Label, Base, First, End);
  else if (Array.Scratch)
    Address = callRuntime(Builder, "__pacc_rt_scratch", Builder.getInt64Ty(),
                          {Run, Label, First, End});
  else
    Address = callRuntime(Builder, "__pacc_rt_array", Builder.getInt64Ty(),
                          {Run, Label, Base, First, End});
  if (!Array.hasCopies() && IsCell)
    cast<Instruction>(Address)->setMetadata(
        CellMetadata, MDNode::get(Builder.getContext(), {}));
  AllocaInst *Slot =
      createEntryAlloca(Builder.getInt64Ty(), Array.SAI->getName() + ".device");
  Builder.CreateStore(Address, Slot);
  DeviceAddress[Array.SAI->getBasePtr()] = Slot;
}

//===----------------------------------------------------------------------===//
// Is it worth it?
//===----------------------------------------------------------------------===//

/// As a double: the sizes are estimates, and must not overflow.
Value *RegionBuilder::createSize(const BoxAst &Box) {
  Type *Double = Builder.getDoubleTy();
  Value *Size = ConstantFP::get(Double, 1);
  for (const isl::ast_expr &Extent : Box) {
    Value *Count = ExprBuilder.create(Extent.copy());
    Size = Builder.CreateFMul(Size, Builder.CreateSIToFP(Count, Double));
  }
  return Size;
}

Value *RegionBuilder::createSize(ArrayRef<BoxAst> Boxes) {
  Value *Sum = ConstantFP::get(Builder.getDoubleTy(), 0);
  for (const BoxAst &Box : Boxes)
    Sum = Builder.CreateFAdd(Sum, createSize(Box));
  return Sum;
}

/// Everything that is copied, in and out.
Value *RegionBuilder::createBytes(const RegionAst &Region) {
  Type *Double = Builder.getDoubleTy();
  Value *Sum = ConstantFP::get(Double, 0);
  auto Add = [&](const ArrayAst &Array, const ExtentAst &Extent) {
    Rows R = createRows(Array, Extent);
    Value *Bytes = Builder.CreateFMul(Builder.CreateSIToFP(R.Width, Double),
                                      Builder.CreateSIToFP(R.Count, Double));
    Sum = Builder.CreateFAdd(Sum, Bytes);
  };
  for (const ArrayAst &Array : Region.Arrays) {
    if (Array.HasIn)
      Add(Array, Array.In);
    if (Array.HasOut)
      Add(Array, Array.Out);
  }
  return Sum;
}

/// A table of struct pacc_size.
Value *RegionBuilder::createSizes(ArrayRef<SizeAst> Sizes) {
  auto *Type = ArrayType::get(Builder.getDoubleTy(), 4 * Sizes.size());
  AllocaInst *Table = createEntryAlloca(Type, "pacc.sizes");
  unsigned Next = 0;
  auto Store = [&](Value *Size) {
    Builder.CreateStore(
        Size, Builder.CreateConstInBoundsGEP2_64(Type, Table, 0, Next++));
  };
  for (const SizeAst &Size : Sizes) {
    Store(createSize(Size.Instances));
    Store(createSize(Size.Launches));
    Store(createSize(Size.Threads));
    Store(
        ConstantFP::get(Builder.getDoubleTy(), NeverOneKernel ? 0 : Size.Loop));
  }
  return Table;
}

Value *RegionBuilder::createWorth(const RegionAst &Region, Value *Descriptor) {
  Value *Sizes = createSizes(Region.Sizes);
  return callRuntime(Builder, "__pacc_rt_worth", Builder.getInt32Ty(),
                     {Descriptor, Sizes, Builder.getInt32(Region.Sizes.size()),
                      createBytes(Region)});
}

Value *RegionBuilder::createInstances(const RegionAst &Region) {
  Value *Sum = ConstantFP::get(Builder.getDoubleTy(), 0);
  for (const SizeAst &Size : Region.Sizes)
    Sum = Builder.CreateFAdd(Sum, createSize(Size.Instances));
  return Sum;
}

Value *RegionBuilder::createHasInstances(const RegionAst &Region,
                                         uint64_t Instances) {
  return Builder.CreateFCmpOGE(
      createInstances(Region),
      ConstantFP::get(Builder.getDoubleTy(), Instances));
}

/// Loads, stores and floating-point operations; what takes long counts for
/// many.
static unsigned operationsOf(const Instruction &I) {
  const unsigned Long = 20;
  if (auto *Call = dyn_cast<IntrinsicInst>(&I))
    switch (Call->getIntrinsicID()) {
    case Intrinsic::fmuladd:
      return 2;
    case Intrinsic::fabs:
    case Intrinsic::smax:
    case Intrinsic::smin:
      return 1;
    default:
      return Long;
    }
  if (isa<CallBase>(I) || I.isIntDivRem() ||
      I.getOpcode() == Instruction::FDiv || I.getOpcode() == Instruction::FRem)
    return Long;
  return isa<LoadInst, StoreInst>(I) ||
         (I.isBinaryOp() && I.getType()->isFPOrFPVectorTy());
}

/// What an instance does that does most, by what one does that loads,
/// multiplies, adds and stores (pacc/cost.h).
static double largestInstance(const Scop &S) {
  const unsigned Usual = 4;
  unsigned Most = Usual;
  for (const ScopStmt &Stmt : S) {
    unsigned Sum = 0;
    for (const Instruction *I : Stmt.getInstructions())
      Sum += operationsOf(*I);
    if (Stmt.isRegionStmt())
      for (const BasicBlock *BB : Stmt.getRegion()->blocks())
        for (const Instruction &I : *BB)
          Sum += operationsOf(I);
    Most = std::max(Most, Sum);
  }
  return double(Most) / Usual;
}

Value *RegionBuilder::createIsTiny(const RegionAst &Region) {
  if (Region.Sizes.empty())
    return Builder.getFalse();
  const double Instance =
      PACC_CLEARLY_FASTER * PACC_SECONDS_HOST_INSTANCE * largestInstance(S);
  Type *Double = Builder.getDoubleTy();
  Value *OnDevice = ConstantFP::get(Double, 2 * PACC_SECONDS_COPY / Instance);
  for (const SizeAst &Size : Region.Sizes)
    OnDevice = Builder.CreateFAdd(
        OnDevice, Builder.CreateFMul(
                      createSize(Size.Launches),
                      ConstantFP::get(Double, PACC_SECONDS_WAIT / Instance)));
  // Sizes that overflow are looked at by the region's own check, later.
  return Builder.CreateFreeze(
      Builder.CreateFCmpOLT(createInstances(Region), OnDevice));
}

void RegionBuilder::createHostBegin(Value *Descriptor) {
  ignoreInlineCost(*callRuntime(Builder, "__pacc_rt_host_begin",
                                Builder.getVoidTy(), {Descriptor}));
}

void RegionBuilder::createHostEnd(Value *Descriptor) {
  ignoreInlineCost(*callRuntime(Builder, "__pacc_rt_host_end",
                                Builder.getVoidTy(), {Descriptor}));
}

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

SmallVector<Instruction *, 3>
RegionBuilder::createRegion(const RegionAst &Region, Value *Descriptor,
                            const Options &Opts) {
  SmallVector<Instruction *, 3> Conditions;
  Ast = &Region;
  AlwaysOneKernel = Opts.Persistent == "always";
  // A sweep measures every launch.
  NeverOneKernel = Opts.Persistent == "off" || Opts.BlockSize == "sweep";
  // The branch to the original loops is placed here later.
  auto GoOnIf = [&](Value *Condition) {
    // Constants are no place for a branch.
    auto *I = dyn_cast<Instruction>(Condition);
    if (!I)
      I = cast<Instruction>(
          Builder.Insert(new FreezeInst(Condition), "pacc.condition"));
    Conditions.push_back(I);
    BasicBlock *Next = SplitBlock(Builder.GetInsertBlock(),
                                  &*Builder.GetInsertPoint(), &DT, &LI);
    Next->setName("pacc.region");
    Builder.SetInsertPoint(&Next->front());
  };
  uint64_t Instances;
  if (!Region.Sizes.empty() && Opts.MinWork == "auto")
    GoOnIf(Builder.CreateIsNotNull(createWorth(Region, Descriptor)));
  else if (!Region.Sizes.empty() &&
           !StringRef(Opts.MinWork).getAsInteger(10, Instances))
    GoOnIf(createHasInstances(Region, Instances));
  Run = callRuntime(Builder,
                    Opts.Memory == "managed" ? "__pacc_rt_begin_managed"
                                             : "__pacc_rt_begin",
                    Builder.getPtrTy(), {Descriptor});
  GoOnIf(Builder.CreateIsNotNull(Run));

  for (auto [Index, Array] : enumerate(Region.Arrays))
    createArray(Array, Index);
  // Where only changes are written, what comes out goes in with that copy.
  for (auto [Index, Array] : enumerate(Region.Arrays))
    if (Array.HasIn && !Array.InIsOut)
      createCopy(Array, Array.In, Index,
                 PACC_COPY_IN | (Array.Maybe ? PACC_COPY_MAYBE : 0));
  for (auto [Index, Array] : enumerate(Region.Arrays))
    if (Array.HasOut)
      createCopy(Array, Array.Out, Index,
                 PACC_COPY_OUT | (Array.Maybe ? PACC_COPY_MAYBE : 0) |
                     (Array.Changes ? PACC_COPY_CHANGES : 0) |
                     unitOf(Array) << PACC_COPY_UNIT_SHIFT);
  create(Region.Root.copy());
  Value *Status =
      callRuntime(Builder, "__pacc_rt_end", Builder.getInt32Ty(), {Run});
  Conditions.push_back(cast<Instruction>(Builder.CreateIsNotNull(Status)));
  return Conditions;
}

/// The table of pointers to \p Arguments that the runtime takes.
Value *RegionBuilder::createParameters(ArrayRef<Value *> Arguments) {
  auto *Table = ArrayType::get(Builder.getPtrTy(), Arguments.size());
  AllocaInst *Pointers = createEntryAlloca(Table, "pacc.arguments");
  for (auto [I, Value] : enumerate(Arguments)) {
    AllocaInst *Slot = createEntryAlloca(Value->getType(), "pacc.argument");
    Builder.CreateStore(Value, Slot);
    Builder.CreateStore(
        Slot, Builder.CreateConstInBoundsGEP2_64(Table, Pointers, 0, I));
  }
  return Pointers;
}

void RegionBuilder::createLaunch(unsigned Kernel, ArrayRef<Value *> Arguments,
                                 ArrayRef<Value *> Threads) {
  Value *Pointers = createParameters(Arguments);
  SmallVector<Value *, 6> Parameters = {Run, Builder.getInt32(Kernel)};
  for (unsigned D = 0; D < PACC_MAX_DIMS; ++D)
    Parameters.push_back(D < Threads.size() ? Threads[D] : Builder.getInt64(1));
  Parameters.push_back(Pointers);
  callRuntime(Builder, "__pacc_rt_launch", Builder.getVoidTy(), Parameters);
}

void RegionBuilder::createMark(__isl_take isl_ast_node *Mark) {
  isl::ast_node Node = isl::manage(Mark);
  isl::ast_node Body = isl::manage(isl_ast_node_mark_get_node(Node.get()));
  isl::id Id = isl::manage(isl_ast_node_mark_get_id(Node.get()));
  if (const LaunchAst *Launch = RegionAst::launchOf(Node)) {
    if (InLoop)
      createPhase(*Launch, Body);
    else
      createKernel(*Launch, Body);
  } else if (const LoopAst *Loop = Ast->loopOf(Node);
             Loop && Loop->WhyNot.empty() && !NeverOneKernel) {
    createLoop(*Loop, Body);
  } else if (Id.get_name() == PACC_TILE_MARK) {
    createTile(Body);
  } else {
    if (InLoop && Id.get_name() == PACC_ITERATION_MARK)
      createIteration();
    IslNodeBuilder::createMark(Node.release());
  }
}

} // namespace pacc
