//===- KernelCode.cpp - The device's part of an offloaded region ----------===//
#include "Offload/DebugLines.h"
#include "Offload/DeviceModule.h"
#include "Offload/Reductions.h"
#include "Offload/RegionBuilder.h"
#include "Offload/ScopFacts.h"

#include "polly/CodeGen/IslAst.h"
#include "polly/ScopInfo.h"
#include "polly/Support/ISLTools.h"
#include "polly/Support/SCEVValidator.h"
#include "polly/Support/ScopHelper.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace polly;

namespace pacc {

isl::union_map RegionBuilder::getScheduleForAstNode(const isl::ast_node &Node) {
  // Asked for by getReferencesInSubtree, which looks at the domain only.
  return Instances.identity();
}

static SmallVector<Value *, 2> writtenValues(const MemoryAccess &Write) {
  if (!Write.isOriginalAnyPHIKind())
    return {Write.getAccessValue()};
  SmallVector<Value *, 2> Values;
  for (auto [Block, V] : Write.getIncoming())
    Values.push_back(V);
  return Values;
}

/// Host values that the kernel needs: parameters, the iterators of the host's
/// loops, the arrays, and scalars from before the region.
SetVector<Value *>
RegionBuilder::collectArguments(const isl::union_set &Instances) {
  SetVector<Value *> Values;
  SetVector<const SCEV *> SCEVs;
  SubtreeReferences References = {
      LI, SE, S, ValueMap, Values, SCEVs, getBlockGenerator(), nullptr};
  for (const auto &I : IDToValue)
    Values.insert(I.second);
  for (const auto &I : OutsideLoopIterations)
    Values.insert(cast<SCEVUnknown>(I.second)->getValue());
  for (isl::set Set : Instances.get_set_list()) {
    auto *Stmt = static_cast<ScopStmt *>(Set.get_tuple_id().get_user());
    addReferencesFromStmt(Stmt, &References, /*CreateScalarRefs=*/false);
    for (MemoryAccess *MA : *Stmt) {
      const ScopArrayInfo *SAI = MA->getLatestScopArrayInfo();
      if (MA->isLatestArrayKind()) {
        for (unsigned D = 1; D < SAI->getNumberOfDimensions(); ++D)
          SCEVs.insert(SAI->getDimensionSize(D));
        if (auto C = CopiesOf.find(SAI); C != CopiesOf.end())
          Values.insert(C->second.Distance.begin(), C->second.Distance.end());
        if (auto Reads = Ast->Saved.find(MA); Reads != Ast->Saved.end())
          for (const SavedRead &Read : Reads->second)
            Values.insert(Read.Saved->getBasePtr());
      } else if (isReadOnlyScalar(SAI, S)) {
        Values.insert(SAI->getBasePtr());
      }
      // What a scalar is set to may be computed from values of the host.
      if (MA->isOriginalScalarKind() && MA->isWrite())
        for (Value *V : writtenValues(*MA)) {
          Loop *Scope = Stmt->getSurroundingLoop();
          if (canSynthesize(V, S, &SE, Scope))
            SCEVs.insert(SE.getSCEVAtScope(V, Scope));
          else if (!isa<Instruction>(V) || !S.contains(cast<Instruction>(V)) ||
                   ValueMap.count(V)) // loaded before the region
            Values.insert(V);
        }
    }
  }
  for (const SCEV *Expr : SCEVs)
    findValues(Expr, SE, Values);
  SetVector<Value *> Latest;
  for (Value *V : Values)
    if (!isa<Constant>(V) || DeviceAddress.count(V))
      Latest.insert(getLatestValue(V));
  return Latest;
}

DebugLoc placeOf(const isl::union_set &Instances) {
  DebugLoc First;
  for (isl::set Set : Instances.get_set_list()) {
    auto *Stmt = static_cast<ScopStmt *>(Set.get_tuple_id().get_user());
    if (Stmt->isCopyStmt())
      continue;
    if (Loop *L = Stmt->getSurroundingLoop())
      if (DebugLoc Loc = L->getStartLoc();
          Loc && (!First || Loc.getLine() < First.getLine()))
        First = Loc;
  }
  return First;
}

RegionBuilder::KernelHead
RegionBuilder::createHead(const Twine &Name, const isl::union_set &Instances,
                          ArrayRef<Type *> Others, const ArraySet &NotAlone) {
  KernelHead Head;
  Head.Instances = Instances;
  Head.HostValues = collectArguments(Instances);
  Head.HostBlock = Builder.GetInsertBlock();
  Head.HostPoint = Builder.GetInsertPoint();
  SmallVector<Type *, 16> Types;
  for (Value *V : Head.HostValues)
    Types.push_back(DeviceAddress.count(V)
                        ? PointerType::get(Builder.getContext(), 1)
                        : V->getType());
  Types.append(Others.begin(), Others.end());
  Module *M = Head.HostBlock->getModule();
  std::string Unique = Name.str();
  // LLVM would make it unique with a dot, which no name in PTX may have.
  while (M->getNamedValue(Unique))
    Unique += '_';
  Head.F =
      Function::Create(FunctionType::get(Builder.getVoidTy(), Types, false),
                       GlobalValue::ExternalLinkage, Unique, M);
  Head.F->setCallingConv(CallingConv::PTX_Kernel);
  Head.F->setDoesNotThrow();
  for (auto [I, V] : enumerate(Head.HostValues)) {
    Head.F->getArg(I)->setName(V->getName());
    if (DeviceAddress.count(V) && !NotAlone.contains(V))
      Head.F->addParamAttr(I, Attribute::NoAlias);
  }
  Builder.SetCurrentDebugLocation(DebugLoc());
  return Head;
}

RegionBuilder::ValueList RegionBuilder::pass(const KernelHead &Head,
                                             ArrayRef<Value *> Others,
                                             ArrayRef<bool> Used) {
  ValueList Arguments;
  for (auto [I, V] : enumerate(Head.HostValues))
    if (Used[I])
      Arguments.push_back(
          DeviceAddress.count(V)
              ? Builder.CreateLoad(Builder.getInt64Ty(), DeviceAddress[V])
              : V);
  for (auto [I, V] : enumerate(Others))
    if (Used[Head.HostValues.size() + I])
      Arguments.push_back(V);
  return Arguments;
}

namespace {

/// coordinate = first + block * (threads of a block) + thread, with a loop over
/// the blocks that a grid cut off at 65,535 leaves out (y and z only), unless
/// there are never as many. Statements have conditions that keep the threads
/// out that are too many.
struct Coordinate {
  Value *First, *Threads;
  bool FitsGrid;
  Value *Position = nullptr; // first + ..., once created
};

Intrinsic::ID registerOf(unsigned Dim, unsigned Kind) {
  static const Intrinsic::ID Table[4][3] = {
      {Intrinsic::nvvm_read_ptx_sreg_tid_x, Intrinsic::nvvm_read_ptx_sreg_tid_y,
       Intrinsic::nvvm_read_ptx_sreg_tid_z},
      {Intrinsic::nvvm_read_ptx_sreg_ntid_x,
       Intrinsic::nvvm_read_ptx_sreg_ntid_y,
       Intrinsic::nvvm_read_ptx_sreg_ntid_z},
      {Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
       Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
       Intrinsic::nvvm_read_ptx_sreg_ctaid_z},
      {Intrinsic::nvvm_read_ptx_sreg_nctaid_x,
       Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
       Intrinsic::nvvm_read_ptx_sreg_nctaid_z}};
  return Table[Kind][Dim];
}

/// Emits the coordinates of a thread; the builder then stands where the body
/// of the kernel goes.
class GridLoops {
public:
  GridLoops(IRBuilderBase &Builder, Function *Kernel)
      : Builder(Builder), Kernel(Kernel) {}

  void create(MutableArrayRef<Coordinate> Coordinates) {
    BasicBlock *Entry =
        BasicBlock::Create(Builder.getContext(), "entry", Kernel);
    Exit = BasicBlock::Create(Builder.getContext(), "exit", Kernel);
    Builder.SetInsertPoint(Exit);
    Builder.CreateRetVoid();
    Builder.SetInsertPoint(Entry);
    BasicBlock *Next = Exit;
    for (unsigned D = Coordinates.size(); D-- > 0;) {
      Coordinate &C = Coordinates[D];
      Value *Start = Builder.CreateAdd(
          Builder.CreateMul(read(D, 2), read(D, 1)), read(D, 0));
      if (C.FitsGrid)
        C.Position = Builder.CreateAdd(C.First, Start, Name[D]);
      else
        Next = createLoop(C, Start, D, Next);
    }
    BasicBlock *Body =
        BasicBlock::Create(Builder.getContext(), "body", Kernel, Exit);
    Builder.CreateBr(Body);
    Builder.SetInsertPoint(Body);
    Builder.CreateBr(Next);
    Builder.SetInsertPoint(Body->getTerminator());
  }

private:
  Value *read(unsigned Dim, unsigned Kind) {
    return Builder.CreateZExt(
        Builder.CreateIntrinsic(registerOf(Dim, Kind), {}),
        Builder.getInt64Ty());
  }

  /// for (i = Start; i < Threads; i += threads of the grid)
  BasicBlock *createLoop(Coordinate &C, Value *Start, unsigned Dim,
                         BasicBlock *Next) {
    Value *Step = Builder.CreateMul(read(Dim, 3), read(Dim, 1));
    BasicBlock *Before = Builder.GetInsertBlock();
    BasicBlock *Header =
        BasicBlock::Create(Builder.getContext(), "grid", Kernel, Exit);
    BasicBlock *Inside =
        BasicBlock::Create(Builder.getContext(), "inside", Kernel, Exit);
    BasicBlock *Latch =
        BasicBlock::Create(Builder.getContext(), "next", Kernel, Exit);
    Builder.CreateBr(Header);
    Builder.SetInsertPoint(Header);
    PHINode *I = Builder.CreatePHI(Builder.getInt64Ty(), 2);
    I->addIncoming(Start, Before);
    Builder.CreateCondBr(Builder.CreateICmpSLT(I, C.Threads), Inside, Next);
    Builder.SetInsertPoint(Latch);
    I->addIncoming(Builder.CreateAdd(I, Step), Latch);
    Builder.CreateBr(Header);
    Builder.SetInsertPoint(Inside);
    C.Position = Builder.CreateAdd(C.First, I, Name[Dim]);
    return Latch;
  }

  static constexpr const char *Name[] = {"x", "y", "z"};
  IRBuilderBase &Builder;
  Function *Kernel;
  BasicBlock *Exit = nullptr;
};

} // namespace

void RegionBuilder::writeKernel(const KernelHead &Head,
                                function_ref<void()> CreateBody) {
  Function *Kernel = Head.F;
  BasicBlock *BodyBlock = Builder.GetInsertBlock();
  Builder.SetInsertPoint(Kernel->getEntryBlock().getTerminator());
  ValueMapT NewValues;
  for (auto [I, V] : enumerate(Head.HostValues)) {
    Value *New = Kernel->getArg(I);
    if (DeviceAddress.count(V))
      New = Builder.CreateAddrSpaceCast(New, Builder.getPtrTy());
    NewValues[V] = New;
  }

  // Point Polly's builders into the kernel.
  DominatorTree KernelDT(*Kernel);
  LoopInfo KernelLI(KernelDT);
  TargetLibraryInfoImpl TLII(Kernel->getParent()->getTargetTriple());
  TargetLibraryInfo TLI(TLII, Kernel);
  AssumptionCache AC(*Kernel);
  ScalarEvolution KernelSE(*Kernel, TLI, AC, KernelDT, KernelLI);
  DominatorTree *HostDT = GenDT;
  LoopInfo *HostLI = GenLI;
  ScalarEvolution *HostSE = GenSE;
  auto SwitchTo = [&](Function *F, DominatorTree *DT, LoopInfo *LI,
                      ScalarEvolution *SE) {
    GenDT = DT;
    GenLI = LI;
    GenSE = SE;
    BlockGen.switchGeneratedFunc(F, DT, LI, SE);
    RegionGen.switchGeneratedFunc(F, DT, LI, SE);
    ExprBuilder.switchGeneratedFunc(F, DT, LI, SE);
  };
  ValueMapT HostValueMap = ValueMap;
  IslExprBuilder::IDToValueTy HostIDs = IDToValue;
  BlockGenerator::AllocaMapTy HostScalars = std::move(ScalarMap);
  auto HostIterations = OutsideLoopIterations;
  SwitchTo(Kernel, &KernelDT, &KernelLI, &KernelSE);
  ScalarMap.clear();
  ValueMap.clear();
  for (auto &[Old, New] : HostValueMap)
    if (Value *InKernel = NewValues.lookup(New))
      ValueMap[Old] = InKernel;
  for (auto &[Old, New] : NewValues)
    ValueMap[Old] = New;
  for (auto &[Id, V] : IDToValue)
    if (Value *New = NewValues.lookup(V))
      V = New;
  for (auto &[L, Iteration] : OutsideLoopIterations)
    if (Value *New = NewValues.lookup(cast<SCEVUnknown>(Iteration)->getValue()))
      Iteration = SE.getUnknown(New);
  Instances = Head.Instances;

  // Scalars from before the region are read through their stack slots.
  Builder.SetInsertPoint(BodyBlock->getTerminator());
  for (const ScopArrayInfo *SAI : S.arrays())
    if (!SAI->isArrayKind() && isReadOnlyScalar(SAI, S))
      if (Value *V = ValueMap.lookup(SAI->getBasePtr()))
        Builder.CreateStore(V, BlockGen.getOrCreateAlloca(SAI));
  CreateBody();

  // And back to the host.
  SwitchTo(Head.HostBlock->getParent(), HostDT, HostLI, HostSE);
  ValueMap = std::move(HostValueMap);
  IDToValue = std::move(HostIDs);
  ScalarMap = std::move(HostScalars);
  OutsideLoopIterations = std::move(HostIterations);
  Builder.SetInsertPoint(Head.HostBlock, Head.HostPoint);
  Instances = {};
}

void RegionBuilder::createKernel(const LaunchAst &Launch, isl::ast_node Body) {
  const unsigned Dims = Launch.Plan->n_dims;
  // On the host: the size of the grid.
  SmallVector<Value *, 6> Grid;
  SmallVector<Value *, 3> Threads;
  for (unsigned D = 0; D < Dims; ++D) {
    Grid.push_back(toInt64(ExprBuilder.create(Launch.First[D].copy())));
    Threads.push_back(toInt64(ExprBuilder.create(Launch.Threads[D].copy())));
    Grid.push_back(Threads.back());
  }
  KernelHead Head =
      createHead(Name + "_kernel" + Twine(NumKernels++),
                 isl::manage_copy(Launch.Plan->domain),
                 SmallVector<Type *, 6>(Grid.size(), Builder.getInt64Ty()));
  SmallVector<Coordinate, 3> Coordinates;
  for (unsigned D = 0; D < Dims; ++D)
    Coordinates.push_back({Head.F->getArg(Head.HostValues.size() + 2 * D),
                           Head.F->getArg(Head.HostValues.size() + 2 * D + 1),
                           D == 0 || Launch.FitsGrid[D]});
  GridLoops(Builder, Head.F).create(Coordinates);
  writeKernel(Head, [&] {
    for (unsigned D = 0; D < Dims; ++D)
      IDToValue[Launch.Plan->param[D]] = Coordinates[D].Position;
    auto Mark = [&](isl::union_map Accesses, UpdateKind Kind) {
      for (isl::map Map : Accesses.get_map_list())
        for (auto &[Operation, Stmt] : Ast->Updates)
          if (Map.get_tuple_id(isl::dim::in).get_user() == Stmt)
            markUpdate(*Operation, Kind);
    };
    Mark(Launch.SharedUpdates, UpdateKind::Shared);
    Mark(Launch.RowUpdates, UpdateKind::Row);
    createThread(Launch, Body);
    Mark(Launch.SharedUpdates, UpdateKind::Own);
    makeUpdatesAtomic(*Head.F);
  });

  SmallVector<bool, 16> Used;
  unsigned Index =
      Device.addKernel(*Head.F, Launch.Work, placeOf(Head.Instances), Used);
  KernelOf[Launch.Plan] = Index;
  createLaunch(Index, pass(Head, Grid, Used), Threads);
}

/// Loads and stores through \p Address are of scope \p Own, and of none of
/// \p Others.
static void addScopes(Value *Address, MDNode *Own, MDNode *Others) {
  for (User *U : Address->users()) {
    auto *I = cast<Instruction>(U);
    if (isa<GetElementPtrInst>(I)) {
      addScopes(I, Own, Others);
      continue;
    }
    if (!I->mayReadOrWriteMemory())
      continue;
    for (auto [Kind, Scopes] : {std::pair(LLVMContext::MD_alias_scope, Own),
                                std::pair(LLVMContext::MD_noalias, Others)})
      I->setMetadata(Kind, MDNode::concatenate(I->getMetadata(Kind), Scopes));
  }
}

/// What one thread of the launch executes. The points of a full tile take turns
/// at every statement, each with its own local scalars; those from before the
/// region are there for all. LLVM learns of which arrays the points touch
/// different elements: it can't see that of rows whose length is a variable.
void RegionBuilder::createThread(const LaunchAst &Launch, isl::ast_node Body) {
  if (Launch.Plan->tile == 1) {
    create(Body.release());
    return;
  }
  Tiled = &Launch;
  Points.resize(Launch.Plan->tile);
  for (PointValues &Point : Points) {
    for (auto &[SAI, Place] : ScalarMap)
      if (isReadOnlyScalar(SAI, S))
        Point.Scalars[SAI] = Place;
    for (const ScopArrayInfo *SAI : Launch.Apart) {
      Value *Base = SAI->getBasePtr();
      Point.Arrays[Base] = Builder.CreateFreeze(getLatestValue(Base));
    }
  }
  create(Body.release());

  LLVMContext &Context = Builder.getContext();
  MDBuilder MD(Context);
  MDNode *Domain = MD.createAnonymousAliasScopeDomain();
  for (const ScopArrayInfo *SAI : Launch.Apart) {
    SmallVector<Metadata *, 8> Scopes;
    for (size_t P = 0; P < Points.size(); ++P)
      Scopes.push_back(MD.createAnonymousAliasScope(Domain));
    for (auto [Number, Point] : enumerate(Points)) {
      auto *Mine = cast<Instruction>(Point.Arrays[SAI->getBasePtr()]);
      SmallVector<Metadata *, 8> Others(Scopes);
      Others.erase(Others.begin() + Number);
      addScopes(Mine, MDNode::get(Context, Scopes[Number]),
                MDNode::get(Context, Others));
      Mine->replaceAllUsesWith(Mine->getOperand(0));
      Mine->eraseFromParent();
    }
  }
  Points.clear();
  Tiled = nullptr;
}

void RegionBuilder::createTile(isl::ast_node Body) {
  InFullTile = true;
  create(Body.release());
  InFullTile = false;
}

/// Where the copy of the array begins that the statement's iteration has.
Value *RegionBuilder::createCopyAddress(ScopStmt &Stmt,
                                        const ScopArrayInfo &SAI,
                                        const Copies &C,
                                        const isl::ast_build &Build) {
  isl::union_map Iteration = C.Iteration.intersect_domain(Stmt.getDomain());
  isl::union_map Here = Build.get_schedule().reverse().apply_range(Iteration);
  Value *Address = getLatestValue(SAI.getBasePtr());
  if (Here.is_empty()) // none of these instances accesses the array
    return Address;
  isl::pw_multi_aff At =
      isl::pw_multi_aff::from_map(isl::map::from_union_map(Here));
  for (auto [D, Host] : enumerate(C.Distance)) {
    Value *Step =
        toInt64(ExprBuilder.create(Build.expr_from(At.at(D)).release()));
    Address = Builder.CreateGEP(Builder.getInt8Ty(), Address,
                                Builder.CreateMul(Step, getLatestValue(Host)));
  }
  return Address;
}

/// One element of a loop's values from before.
void RegionBuilder::createSave(const ScopStmt &Stmt,
                               const isl::id_to_ast_expr &Accesses) {
  isl::ast_expr From, To;
  for (const MemoryAccess *MA : Stmt)
    (MA->isRead() ? From : To) = isl::manage(
        isl_id_to_ast_expr_get(Accesses.get(), MA->getId().release()));
  Value *Element = ExprBuilder.create(From.release());
  Builder.CreateStore(
      Element, ExprBuilder.create(isl_ast_expr_address_of(To.release())));
}

void RegionBuilder::createUser(__isl_take isl_ast_node *User) {
  isl::ast_node Node = isl::manage(User);
  isl::ast_expr Call = isl::manage(isl_ast_node_user_get_expr(Node.get()));
  isl::id Id = isl::manage(isl_ast_expr_get_op_arg(Call.get(), 0)).get_id();
  auto *Stmt = static_cast<ScopStmt *>(Id.get_user());
  isl::ast_build Build = IslAstInfo::getBuild(Node);
  Stmt->setAstBuild(Build);

  // Every access becomes an expression in the new iterators, so that no
  // address of the host is recomputed on the device.
  isl::union_set Executed = Build.get_schedule().domain();
  isl::id_to_ast_expr Accesses =
      isl::id_to_ast_expr::alloc(S.getIslCtx(), Stmt->size());
  for (MemoryAccess *MA : *Stmt) {
    if (!MA->isLatestArrayKind())
      continue;
    isl::pw_multi_aff Relation =
        MA->applyScheduleToAccessRelation(Build.get_schedule());
    if (Relation.domain().intersect_params(S.getContext()).is_empty())
      continue;
    if (const SavedRead *Read = Ast->savedFor(MA, Executed))
      Relation = isl::pw_multi_aff::from_map(
          Relation.as_map().apply_range(Read->Index));
    Accesses = Accesses.set(MA->getId(), Build.access_from(Relation));
  }
  // What the statement has for itself while it is written.
  PointValues *Point = nullptr;
  SmallVector<std::pair<Value *, Value *>, 2> Arrays;
  auto Replace = [&](Value *Base, Value *New) {
    Arrays.push_back({Base, getLatestValue(Base)});
    ValueMap[Base] = New;
  };
  if (InFullTile) {
    Point = &Points[pacc_tile_point(Tiled->Plan, Executed.get())];
    std::swap(ScalarMap, Point->Scalars);
    for (auto [Base, Mine] : Point->Arrays)
      Replace(Base, Mine);
  }
  for (auto &[SAI, C] : CopiesOf)
    if (any_of(*Stmt, [SAI = SAI](MemoryAccess *MA) {
          return MA->isLatestArrayKind() && MA->getLatestScopArrayInfo() == SAI;
        }))
      Replace(SAI->getBasePtr(), createCopyAddress(*Stmt, *SAI, C, Build));
  BasicBlock *Before = Builder.GetInsertBlock();
  if (Stmt->isCopyStmt()) {
    createSave(*Stmt, Accesses);
  } else {
    LoopToScevMapT Iterations;
    Iterations.insert(OutsideLoopIterations.begin(),
                      OutsideLoopIterations.end());
    createSubstitutions(Call.release(), Stmt, Iterations);
    if (Stmt->isBlockStmt())
      BlockGen.copyStmt(*Stmt, Iterations, Accesses.get());
    else
      RegionGen.copyStmt(*Stmt, Iterations, Accesses.get());
    locateAccesses(*Stmt, Before->getSingleSuccessor(),
                   Builder.GetInsertPoint());
  }
  for (auto [Base, Array] : reverse(Arrays))
    ValueMap[Base] = Array;
  if (Point)
    std::swap(ScalarMap, Point->Scalars);
}

} // namespace pacc
