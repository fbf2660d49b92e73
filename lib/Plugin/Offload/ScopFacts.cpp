//===- ScopFacts.cpp - What Polly knows of a region -----------------------===//
#include "Offload/ScopFacts.h"

#include "Offload/ArrayNames.h"
#include "Offload/CallerSizes.h"
#include "Offload/RowLengths.h"
#include "polly/DeLICM.h"
#include "polly/ForwardOpTree.h"
#include "polly/ScopInfo.h"
#include "polly/Simplify.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IntrinsicInst.h"
#include "isl/flow.h"

using namespace llvm;
using namespace polly;

namespace pacc {

std::string placeInSource(const DebugLoc &Loc) {
  if (!Loc)
    return "";
  return (Loc->getFilename() + ":" + Twine(Loc.getLine())).str();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Functions of <math.h> that libdevice has under the same name; each has a
/// double and a float (suffix f) form. Not lgamma, j0, jn and their kin: to
/// clang these write memory (signgam). Is \p Call one of \p Name's, with the
/// library's prototype? Something else may have the same name.
static bool isInLibdevice(const CallInst &Call, StringRef Name) {
  static const StringSet<> Unary = {
      "acos",  "acosh", "asin",  "asinh", "atan", "atanh", "cbrt",
      "cos",   "cosh",  "erf",   "erfc",  "exp",  "exp10", "exp2",
      "expm1", "log",   "log10", "log1p", "log2", "logb",  "sin",
      "sinh",  "tan",   "tanh",  "tgamma"};
  static const StringSet<> Binary = {"atan2", "fdim",      "fmod",     "hypot",
                                     "pow",   "remainder", "nextafter"};
  FunctionType *FTy = Call.getFunctionType();
  if (FTy->isVarArg() || FTy->params().empty())
    return false;
  Type *Ty = FTy->getReturnType(), *First = FTy->getParamType(0);
  if (!First->isFloatingPointTy())
    return false;
  if (FTy->getNumParams() == 1)
    return Name == "ilogb" ? Ty->isIntegerTy(32)
                           : Ty == First && Unary.contains(Name);
  if (FTy->getNumParams() != 2 || Ty != First)
    return false;
  Type *Second = FTy->getParamType(1);
  return Name == "ldexp" || Name == "scalbn"
             ? Second->isIntegerTy(32)
             : Second == Ty && Binary.contains(Name);
}

/// -fno-builtin and -fno-builtin-NAME: the function is the program's own.
static bool isNoBuiltin(const CallInst &Call) {
  const Function &Caller = *Call.getFunction();
  return Call.isNoBuiltin() || Caller.hasFnAttribute("no-builtins") ||
         Caller.hasFnAttribute(
             ("no-builtin-" + Call.getCalledFunction()->getName()).str());
}

static std::optional<std::string> libdeviceName(StringRef Name, Type *Ty) {
  if (Ty->isDoubleTy())
    return ("__nv_" + Name).str();
  if (Ty->isFloatTy())
    return ("__nv_" + Name + "f").str();
  return std::nullopt;
}

std::optional<std::string> deviceFunctionFor(const CallInst &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee)
    return std::nullopt;
  Type *Ty = Call.getType();
  if (Ty->isIntegerTy() && Call.arg_size() > 0)
    Ty = Call.getArgOperand(0)->getType();
  auto Libdevice = [&](StringRef Name) { return libdeviceName(Name, Ty); };
  switch (Callee->getIntrinsicID()) {
  case Intrinsic::not_intrinsic:
    break;
  // What NVPTX has instructions or an exact lowering for.
  case Intrinsic::abs:
  case Intrinsic::assume:
  case Intrinsic::bitreverse:
  case Intrinsic::bswap:
  case Intrinsic::ceil:
  case Intrinsic::copysign:
  case Intrinsic::ctlz:
  case Intrinsic::ctpop:
  case Intrinsic::cttz:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::expect:
  case Intrinsic::fabs:
  case Intrinsic::floor:
  case Intrinsic::is_fpclass:
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::lifetime_end:
  case Intrinsic::lifetime_start:
  case Intrinsic::maximum:
  case Intrinsic::maximumnum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::minimumnum:
  case Intrinsic::minnum:
  case Intrinsic::nearbyint:
  case Intrinsic::rint:
  case Intrinsic::roundeven:
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::sqrt:
  case Intrinsic::trunc:
  case Intrinsic::uadd_sat:
  case Intrinsic::usub_sat:
  case Intrinsic::umax:
  case Intrinsic::umin:
    return "";
  case Intrinsic::acos:
    return Libdevice("acos");
  case Intrinsic::asin:
    return Libdevice("asin");
  case Intrinsic::atan:
    return Libdevice("atan");
  case Intrinsic::atan2:
    return Libdevice("atan2");
  case Intrinsic::cos:
    return Libdevice("cos");
  case Intrinsic::cosh:
    return Libdevice("cosh");
  case Intrinsic::exp:
    return Libdevice("exp");
  case Intrinsic::exp10:
    return Libdevice("exp10");
  case Intrinsic::exp2:
    return Libdevice("exp2");
  case Intrinsic::ldexp:
    return Libdevice("ldexp");
  case Intrinsic::llrint:
  case Intrinsic::lrint:
    return Call.getType()->isIntegerTy(64) ? Libdevice("llrint") : std::nullopt;
  case Intrinsic::llround:
  case Intrinsic::lround:
    return Call.getType()->isIntegerTy(64) ? Libdevice("llround")
                                           : std::nullopt;
  case Intrinsic::log:
    return Libdevice("log");
  case Intrinsic::log10:
    return Libdevice("log10");
  case Intrinsic::log2:
    return Libdevice("log2");
  case Intrinsic::pow:
    return Libdevice("pow");
  case Intrinsic::powi:
    return Libdevice("powi");
  case Intrinsic::round:
    return Libdevice("round");
  case Intrinsic::sin:
    return Libdevice("sin");
  case Intrinsic::sinh:
    return Libdevice("sinh");
  case Intrinsic::tan:
    return Libdevice("tan");
  case Intrinsic::tanh:
    return Libdevice("tanh");
  default:
    return std::nullopt;
  }
  // A library function that may set errno is not free of effects.
  if (!Call.doesNotAccessMemory() || !Callee->isDeclaration() ||
      isNoBuiltin(Call))
    return std::nullopt;
  StringRef Name = Callee->getName();
  if (Ty->isFloatTy() && !Name.consume_back("f"))
    return std::nullopt;
  // A complex number is passed as two here; elsewhere as something else.
  if (isInLibdevice(Call, Name == "cabs" ? "hypot" : Name))
    return Libdevice(Name == "cabs" ? "hypot" : Name);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Acceptance
//===----------------------------------------------------------------------===//

static bool isNumber(Type *Ty) {
  return Ty->isFloatTy() || Ty->isDoubleTy() ||
         (Ty->isIntegerTy() && Ty->getIntegerBitWidth() <= 64);
}

static Rejection reject(const Twine &Reason, const Instruction *Where) {
  return Rejection{Reason.str(), Where};
}

static std::optional<Rejection> checkInstruction(const Instruction &I) {
  if (auto *Call = dyn_cast<CallInst>(&I)) {
    if (isa<MemIntrinsic>(Call))
      return reject("a memory block operation has no device form yet", &I);
    if (deviceFunctionFor(*Call))
      return std::nullopt;
    const Function *Callee = Call->getCalledFunction();
    return reject(Callee ? "function '" + Callee->getName() +
                               "' has no device form"
                         : Twine("a call through a pointer"),
                  &I);
  }
  if (isa<GetElementPtrInst>(I) || isa<BranchInst>(I) || isa<SwitchInst>(I))
    return std::nullopt;
  Type *Ty = I.getType();
  if (auto *Store = dyn_cast<StoreInst>(&I))
    Ty = Store->getValueOperand()->getType();
  if (!Ty->isVoidTy() && !isNumber(Ty))
    return reject("a value that is no number of at most 64 bits", &I);
  if (isa<PtrToIntInst>(I) || isa<ICmpInst>(I))
    for (const Value *Operand : I.operands())
      if (Operand->getType()->isPointerTy())
        return reject("a pointer used as a value", &I);
  return std::nullopt;
}

/// A number that is computed from an address, which differs on the device.
static bool comesFromAddress(Value *V, ScalarEvolution &SE) {
  if (!V->getType()->isIntegerTy() || !SE.isSCEVable(V->getType()))
    return false;
  return SCEVExprContains(SE.getSCEV(V), [](const SCEV *Part) {
    auto *Unknown = dyn_cast<SCEVUnknown>(Part);
    return Unknown && Unknown->getType()->isPointerTy();
  });
}

/// Does a statement hand such a number on, to a PHI or to what follows the
/// region? It need not be an operand of anything in the statement.
static bool passesAddressOn(const MemoryAccess &MA, ScalarEvolution &SE) {
  if (!MA.isWrite() || MA.isLatestArrayKind())
    return false;
  if (MA.isOriginalAnyPHIKind())
    return any_of(MA.getIncoming(), [&](const auto &Edge) {
      return comesFromAddress(Edge.second, SE);
    });
  return comesFromAddress(MA.getAccessValue(), SE);
}

static bool mayBeFoldedWrongly(const MemoryAccess &MA, ScalarEvolution &SE) {
  const ScopArrayInfo *SAI = MA.getOriginalScopArrayInfo();
  if (MA.getNumSubscripts() != SAI->getNumberOfDimensions())
    return false;
  for (unsigned Dim = 1; Dim < MA.getNumSubscripts(); ++Dim)
    if (mayBeFoldedWrongly(MA.getSubscript(Dim), SAI->getDimensionSize(Dim),
                           SE))
      return true;
  return false;
}

static std::optional<Rejection> checkStatement(ScopStmt &Stmt) {
  ScalarEvolution &SE = *Stmt.getParent()->getSE();
  auto Check = [&](Instruction &I) -> std::optional<Rejection> {
    if (auto Why = checkInstruction(I))
      return Why;
    if (any_of(I.operands(), [&](Value *V) { return comesFromAddress(V, SE); }))
      return reject("an address used as a number", &I);
    return std::nullopt;
  };
  for (Instruction *I : Stmt.getInstructions())
    if (auto Why = Check(*I))
      return Why;
  if (Stmt.isRegionStmt())
    for (BasicBlock *BB : Stmt.getRegion()->blocks())
      for (Instruction &I : *BB)
        if (auto Why = Check(I))
          return Why;
  for (MemoryAccess *MA : Stmt) {
    const ScopArrayInfo *SAI = MA->getLatestScopArrayInfo();
    const Instruction *Where = MA->getAccessInstruction();
    if (!isNumber(SAI->getElementType()))
      return reject("array '" + arrayName(*SAI) +
                        "' has elements that are no numbers of at most 64 bits",
                    Where);
    if (passesAddressOn(*MA, SE))
      return reject("an address used as a number", Where);
    if (!MA->isLatestArrayKind())
      continue;
    if (!MA->isAffine())
      return reject("a subscript of '" + arrayName(*SAI) + "' is not affine",
                    Where);
    if (mayBeFoldedWrongly(*MA, SE))
      return reject("a subscript of '" + arrayName(*SAI) +
                        "' may be negative, and the length of a row is no "
                        "plain parameter",
                    Where);
    if (SAI->getBasePtrOriginSAI())
      return reject("the address of '" + arrayName(*SAI) +
                        "' is loaded in the region",
                    Where);
    if (SAI->getBasePtr()->getType()->getPointerAddressSpace() != 0)
      return reject("'" + arrayName(*SAI) + "' is in another address space",
                    Where);
    auto *Base = dyn_cast<Instruction>(SAI->getBasePtr());
    if (Base && Stmt.getParent()->contains(Base))
      return reject("the address of '" + arrayName(*SAI) +
                        "' is computed in the region",
                    Where);
  }
  return std::nullopt;
}

/// Polly makes several statements of a block, and joins those that a value of
/// the block's own previous iteration connects without a look at what stands
/// between them: "A B A" then becomes "AA B". Returns an access that is late.
static Instruction *outOfOrder(Scop &S) {
  struct Latest {
    Instruction *Access = nullptr, *Write = nullptr;
  };
  SmallDenseMap<BasicBlock *, Latest> Before;
  auto Update = [](Instruction *&Last, Instruction *I) {
    if (!Last || Last->comesBefore(I))
      Last = I;
  };
  for (ScopStmt &Stmt : S) {
    if (!Stmt.isBlockStmt())
      continue;
    Latest &Earlier = Before[Stmt.getBasicBlock()], Now = Earlier;
    for (Instruction *I : Stmt.getInstructions()) {
      if (!I->mayReadOrWriteMemory())
        continue;
      bool IsWrite = I->mayWriteToMemory();
      Instruction *Other = IsWrite ? Earlier.Access : Earlier.Write;
      if (Other && I->comesBefore(Other))
        return Other;
      Update(Now.Access, I);
      if (IsWrite)
        Update(Now.Write, I);
    }
    Earlier = Now;
  }
  return nullptr;
}

std::optional<Rejection> checkScop(Scop &S) {
  if (!S.hasFeasibleRuntimeContext())
    return Rejection{"the region can never run under its assumptions", nullptr};
  for (ScopStmt &Stmt : S)
    if (auto Why = checkStatement(Stmt))
      return Why;
  if (Instruction *Access = outOfOrder(S))
    return reject("its accesses change their order where Polly takes a block "
                  "with a value from iteration to iteration apart",
                  Access);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

bool isReadOnlyScalar(const ScopArrayInfo *SAI, Scop &S) {
  return SAI->isValueKind() && !S.getValueDef(SAI);
}

static bool comesFromOutside(const ScopArrayInfo *SAI, Scop &S) {
  if (!SAI->isPHIKind())
    return false;
  auto *PHI = cast<PHINode>(SAI->getBasePtr());
  return any_of(PHI->blocks(), [&](BasicBlock *BB) { return !S.contains(BB); });
}

SetVector<const ScopArrayInfo *> scalarsThatEscape(Scop &S) {
  SetVector<const ScopArrayInfo *> Result;
  for (const ScopArrayInfo *SAI : S.arrays()) {
    if (SAI->isArrayKind() || isReadOnlyScalar(SAI, S))
      continue;
    auto *Inst = dyn_cast<Instruction>(SAI->getBasePtr());
    bool UsedAfter = SAI->isExitPHIKind() ||
                     (SAI->isValueKind() && Inst && S.isEscaping(Inst));
    if (UsedAfter || comesFromOutside(SAI, S))
      Result.insert(SAI);
  }
  return Result;
}

Cell demoteToMemory(Scop &S, const ScopArrayInfo *Scalar) {
  ScopArrayInfo *Array = S.createScopArrayInfo(
      Scalar->getElementType(), Scalar->getName() + "_cell", {1});
  isl::set Element = isl::set::universe(Array->getSpace());
  Element = Element.fix_si(isl::dim::set, 0, 0);
  for (ScopStmt &Stmt : S)
    for (MemoryAccess *MA : Stmt)
      if (MA->getOriginalScopArrayInfo() == Scalar)
        MA->setNewAccessRelation(
            isl::map::from_domain_and_range(Stmt.getDomain(), Element));
  return {Scalar, Array};
}

void dropDeadWrites(Scop &S, const Cell &C, bool Escapes) {
  isl::union_map Reads = isl::union_map::empty(S.getIslCtx()), Writes = Reads;
  SmallVector<MemoryAccess *, 4> Candidates;
  for (ScopStmt &Stmt : S)
    for (MemoryAccess *MA : Stmt) {
      if (MA->getLatestScopArrayInfo() != C.Array)
        continue;
      isl::map Relation =
          MA->getLatestAccessRelation().intersect_domain(Stmt.getDomain());
      if (MA->isRead()) {
        Reads = Reads.unite(Relation);
      } else {
        Writes = Writes.unite(Relation);
        Candidates.push_back(MA);
      }
    }
  if (Candidates.empty())
    return;
  isl::union_flow Flow = isl::manage(
      isl_union_access_info_compute_flow(isl_union_access_info_set_schedule(
          isl_union_access_info_set_must_source(
              isl_union_access_info_from_sink(Reads.release()), Writes.copy()),
          S.getScheduleTree().release())));
  isl::union_set Seen = Flow.get_must_dependence().domain();
  if (Escapes) {
    isl::union_map Schedule = S.getSchedule().intersect_domain(Writes.domain());
    isl::set Times(Schedule.range());
    Seen = Seen.unite(isl::union_set(Times.lexmax()).apply(Schedule.reverse()));
  }
  Seen = Seen.coalesce();
  if (Seen.is_null() || Writes.domain().is_subset(Seen))
    return;
  for (MemoryAccess *MA : Candidates) {
    isl::set Domain = MA->getStatement()->getDomain();
    MA->setNewAccessRelation(MA->getLatestAccessRelation().intersect_domain(
        Seen.extract_set(Domain.get_space())));
  }
}

/// How many elements of its array an access has: those of an array of structs
/// are as small as the smallest member.
static unsigned elementsOf(const MemoryAccess &MA, const DataLayout &DL) {
  unsigned Own = MA.getLatestScopArrayInfo()->getElemSizeInBytes();
  unsigned Bytes = DL.getTypeAllocSize(MA.getElementType());
  return MA.isLatestArrayKind() && Own ? std::max(1u, Bytes / Own) : 1;
}

/// Does the region write other parts of an array than it reads at once? Polly's
/// forwarding looks at the first element of each access alone.
static bool writesParts(const Scop &S, const DataLayout &DL) {
  SmallDenseMap<const ScopArrayInfo *, unsigned> Written;
  auto All = [&](function_ref<bool(const MemoryAccess &)> IsFound) {
    return any_of(S, [&](const ScopStmt &Stmt) {
      return any_of(Stmt, [&](MemoryAccess *MA) { return IsFound(*MA); });
    });
  };
  if (All([&](const MemoryAccess &MA) {
        unsigned N = elementsOf(MA, DL);
        return MA.isWrite() && MA.isLatestArrayKind() &&
               Written.try_emplace(MA.getLatestScopArrayInfo(), N)
                       .first->second != N;
      }))
    return true;
  return All([&](const MemoryAccess &MA) {
    unsigned N = elementsOf(MA, DL);
    auto At = Written.find(MA.getLatestScopArrayInfo());
    return MA.isRead() && N > 1 && At != Written.end() && At->second != N;
  });
}

/// Gives accesses that forwarding has made of the first element all of theirs.
static void completeAccesses(Scop &S, const DataLayout &DL) {
  for (ScopStmt &Stmt : S)
    for (MemoryAccess *MA : Stmt) {
      unsigned N = elementsOf(*MA, DL);
      isl::map Relation = MA->getLatestAccessRelation();
      if (N == 1 || !Relation.is_single_valued())
        continue;
      isl::space Space = Relation.get_space().range().map_from_set();
      isl::map All = isl::map::universe(Space);
      unsigned Last = unsignedFromIslSize(Relation.range_tuple_dim()) - 1;
      for (unsigned D = 0; D < Last; ++D)
        All = All.equate(isl::dim::in, D, isl::dim::out, D);
      isl::local_space Local(Space);
      for (int Sign : {1, -1}) // 0 <= out - in < N
        All = All.add_constraint(
            isl::constraint::alloc_inequality(Local)
                .set_coefficient_si(isl::dim::out, Last, Sign)
                .set_coefficient_si(isl::dim::in, Last, -Sign)
                .set_constant_si(Sign > 0 ? 0 : static_cast<int>(N) - 1));
      MA->setNewAccessRelation(Relation.apply_range(All));
    }
}

void removeScalars(Scop &S) {
  bool Any = false;
  for (const ScopArrayInfo *SAI : S.arrays())
    Any |= !SAI->isArrayKind() && !isReadOnlyScalar(SAI, S);
  if (!Any)
    return;
  const DataLayout &DL = S.getFunction().getDataLayout();
  if (!writesParts(S, DL))
    runForwardOpTree(S);
  runDeLICM(S);
  runSimplify(S, 0);
  completeAccesses(S, DL);
}

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

isl::set checkedContext(Scop &S) {
  isl::set Context = S.getContext().intersect(S.getAssumedContext());
  return isl::set(Context.simple_hull());
}

/// Accesses of a single block always happen, those of a statement with control
/// flow where they dominate its exit.
static bool alwaysHappens(const MemoryAccess &MA) {
  const ScopStmt &Stmt = *MA.getStatement();
  if (Stmt.isBlockStmt())
    return true;
  const Instruction *I = MA.getAccessInstruction();
  return I && Stmt.getParent()->getDT()->dominates(I->getParent(),
                                                   Stmt.getRegion()->getExit());
}

/// The accesses of \p Updates' statements that write what they compute.
static isl::union_map updateAccesses(Scop &S, const UpdateMap &Updates) {
  isl::union_map Accesses = isl::union_map::empty(S.getIslCtx());
  for (auto &[Operation, Stmt] : Updates)
    for (MemoryAccess *MA : *Stmt)
      if (MA->isMustWrite() && MA->isLatestArrayKind() &&
          MA->getAccessValue() == Operation)
        Accesses = Accesses.unite(
            MA->getLatestAccessRelation().intersect_domain(Stmt->getDomain()));
  return Accesses;
}

static isl::map relationOf(MemoryAccess &MA) {
  return MA.getLatestAccessRelation().intersect_domain(
      MA.getStatement()->getDomain());
}

std::vector<MemoryAccess *> readsOf(Scop &S) {
  std::vector<MemoryAccess *> Reads;
  for (ScopStmt &Stmt : S)
    for (MemoryAccess *MA : Stmt)
      if (MA->isLatestArrayKind() && MA->isRead())
        Reads.push_back(MA);
  return Reads;
}

isl::map_list relationsOf(Scop &S, ArrayRef<MemoryAccess *> Accesses) {
  isl::map_list List(S.getIslCtx(), Accesses.size());
  for (MemoryAccess *MA : Accesses)
    List = List.add(relationOf(*MA));
  return List;
}

pacc_scop describeScop(Scop &S, const UpdateMap &Updates) {
  isl::ctx Ctx = S.getIslCtx();
  isl::union_map Read = isl::union_map::empty(Ctx), MayWrite = Read,
                 MustWrite = Read, LocalRead = Read, LocalWrite = Read,
                 Maybe = Read;
  for (ScopStmt &Stmt : S) {
    for (MemoryAccess *MA : Stmt) {
      const ScopArrayInfo *SAI = MA->getLatestScopArrayInfo();
      isl::union_map Relation = relationOf(*MA);
      if (MA->isLatestArrayKind()) {
        if (MA->isRead())
          Read = Read.unite(Relation);
        if (MA->isWrite())
          MayWrite = MayWrite.unite(Relation);
        if (MA->isMustWrite())
          MustWrite = MustWrite.unite(Relation);
        if (!alwaysHappens(*MA))
          Maybe = Maybe.unite(Relation);
      } else if (!isReadOnlyScalar(SAI, S)) {
        if (MA->isRead())
          LocalRead = LocalRead.unite(Relation);
        else
          LocalWrite = LocalWrite.unite(Relation);
      }
    }
  }
  pacc_scop Result;
  Result.schedule = S.getScheduleTree().release();
  Result.context = checkedContext(S).release();
  Result.sizes = S.getContext().release();
  Result.expected = callerSizes(S).release();
  Result.read = Read.coalesce().release();
  Result.may_write = MayWrite.coalesce().release();
  Result.must_write = MustWrite.coalesce().release();
  Result.local_read = LocalRead.release();
  Result.local_write = LocalWrite.release();
  Result.reduce = updateAccesses(S, Updates).release();
  Result.maybe = Maybe.coalesce().release();
  return Result;
}

} // namespace pacc
