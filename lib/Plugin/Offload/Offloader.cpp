//===- Offloader.cpp - From a module to kernels ---------------------------===//
#include "Offload/Offloader.h"

#include "Offload/ArrayNames.h"
#include "Offload/AstGen.h"
#include "Offload/ComplexProducts.h"
#include "Offload/Inlining.h"
#include "Offload/Outline.h"
#include "Offload/Prepare.h"
#include "Offload/Reductions.h"
#include "Offload/RegionBuilder.h"
#include "Offload/RegionPlan.h"
#include "Offload/RowLengths.h"
#include "Offload/Spans.h"
#include "polly/CodeGen/IRBuilder.h"
#include "polly/CodeGen/Utils.h"
#include "polly/ScopDetection.h"
#include "polly/ScopDetectionDiagnostic.h"
#include "polly/ScopInfo.h"
#include "polly/Support/ScopHelper.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMRemarkStreamer.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "isl/options.h"

using namespace llvm;
using namespace polly;

namespace pacc {

static const char *const PassName = "polly-acc";
/// Set on functions that the pass has seen, so that a second run leaves them
/// alone.
static const char *const DoneAttribute = "polly-acc-done";

/// What an analysis takes grows faster than the loops of a region.
static const size_t MaxLoopsOfRegion = 24;

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

/// Where the first loop of \p S stands: its instructions may come from inlined
/// functions.
static DebugLoc locationOf(const Scop &S) {
  for (BasicBlock *BB : S.getRegion().blocks()) {
    Loop *L = S.getLI()->getLoopFor(BB);
    if (!L || !S.contains(L))
      continue;
    while (L->getParentLoop() && S.contains(L->getParentLoop()))
      L = L->getParentLoop();
    if (DebugLoc Loc = L->getStartLoc())
      return Loc;
    break;
  }
  BBPair Blocks(S.getEntry(), S.getExit());
  DebugLoc Begin, End;
  getDebugLocations(Blocks, Begin, End);
  return Begin;
}

bool Offloader::reject(Scop &S, const Rejection &Why, RegionReport Report) {
  auto &ORE = FAM.getResult<OptimizationRemarkEmitterAnalysis>(S.getFunction());
  DebugLoc Loc = Why.Where ? Why.Where->getDebugLoc() : locationOf(S);
  if (!Loc)
    Loc = locationOf(S);
  ORE.emit(OptimizationRemarkMissed(PassName, "NotOffloaded", Loc, S.getEntry())
           << "loop nest not offloaded: " << Why.Reason);
  Report.Rejected = Why.Reason;
  Reports.push_back(std::move(Report));
  return false;
}

static void describeCall(const CallBase &Call, const StringSet<> &Offloaded,
                         OptimizationRemarkMissed &Remark) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee) {
    Remark << "it calls an unknown function through a pointer";
    return;
  }
  bool HasRegions = Offloaded.contains(Callee->getName());
  Remark << (Callee->isDeclaration() ? "it calls the unknown function '"
                                     : "it calls the function '")
         << ore::NV("Callee", demangle(Callee->getName()))
         << (HasRegions ? "', which has offloaded loops of its own" : "'");
}

/// Polly's own words for why the loop \p L is in no region; "" if it has none.
static std::string whyNotAffine(const ScopDetection &SD, RegionInfo &RI,
                                const Loop &L) {
  for (Region *R = RI.getRegionFor(L.getHeader()); R; R = R->getParent()) {
    const RejectLog *Log = SD.lookupRejectionLog(R);
    if (!Log || !Log->hasErrors())
      continue;
    const RejectReason &First = **Log->begin();
    std::string Message = First.getEndUserMessage();
    StringRef Words = Message;
    if (Words.empty() || Words.starts_with("Unspecified"))
      return "";
    Words.consume_back(".");
    auto [Front, Back] = Words.split(" of \"UNKNOWN\"");
    std::string Why = toLower(Front[0]) + (Front.drop_front() + Back).str();
    if (const DebugLoc &Where = First.getDebugLoc())
      Why += " (line " + std::to_string(Where.getLine()) + ")";
    return Why;
  }
  return "";
}

static bool areMissedRemarksOn(const Function &F) {
  return F.getContext().getDiagHandlerPtr()->isMissedOptRemarkEnabled(
             PassName) ||
         F.getContext().getLLVMRemarkStreamer();
}

/// A missed remark for every outermost loop that is in no region at all.
void Offloader::reportLeftLoops(Function &F) {
  if (!areMissedRemarksOn(F))
    return;
  FAM.invalidate(F, PreservedAnalyses::none());
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &RI = FAM.getResult<RegionInfoAnalysis>(F);
  auto &ORE = FAM.getResult<OptimizationRemarkEmitterAnalysis>(F);
  SaveAndRestore Unprofitable(PollyProcessUnprofitable, true);
  SaveAndRestore Hoisting(PollyInvariantLoadHoisting, true);
  ScopDetection SD(FAM.getResult<DominatorTreeAnalysis>(F),
                   FAM.getResult<ScalarEvolutionAnalysis>(F), LI, RI,
                   FAM.getResult<AAManager>(F), ORE);
  SD.detect(F);
  StringSet<> Offloaded;
  for (const RegionReport &R : Reports)
    if (R.Rejected.empty())
      Offloaded.insert(R.Function);
  for (Loop *L : LI.getLoopsInPreorder()) {
    bool AnyHandled = any_of(
        L->blocks(), [&](BasicBlock *BB) { return Handled.contains(BB); });
    bool InReported =
        L->getParentLoop() &&
        none_of(L->getParentLoop()->blocks(),
                [&](BasicBlock *BB) { return Handled.contains(BB); });
    if (AnyHandled || InReported)
      continue;
    OptimizationRemarkMissed Remark(PassName, "NotAffine", L->getStartLoc(),
                                    L->getHeader());
    Remark << "loop nest not offloaded: ";
    if (const CallBase *Call = unknownCallIn(*L)) {
      describeCall(*Call, Offloaded, Remark);
    } else {
      Remark << "bounds, subscripts or control flow are not affine";
      if (std::string Why = whyNotAffine(SD, RI, *L); !Why.empty())
        Remark << ": " << ore::NV("Why", Why);
    }
    ORE.emit(Remark);
  }
}

void Offloader::reportKernels() {
  for (const RegionReport &R : Reports) {
    if (!R.Rejected.empty())
      continue;
    Function *F = M.getFunction(R.Function);
    auto &ORE = FAM.getResult<OptimizationRemarkEmitterAnalysis>(*F);
    for (unsigned K = R.FirstKernel; K < R.FirstKernel + R.NumKernels; ++K) {
      const DeviceModule::KernelInfo &Info = Device.kernels()[K];
      char Block[40];
      OptimizationRemark Remark(PassName, "Kernel", R.Loc, &F->getEntryBlock());
      Remark << "kernel '" << ore::NV("Kernel", Info.F->getName())
             << "': " << ore::NV("Dims", Info.Work.Dims)
             << "-dimensional grid, block "
             << ore::NV("Block", pacc_block_print(Info.Choice.Block, Block,
                                                  sizeof(Block)))
             << " (" << ore::NV("Reason", Info.Choice.Reason) << ")";
      ORE.emit(Remark);
      remarkBlocks(ORE, R.Loc, F->getEntryBlock(), Info.report());
    }
  }
}

/// Kernels that run loops of launches of others.
static unsigned numLoopKernels(const RegionReport &Report,
                               const DeviceModule &Device) {
  return count_if(
      Device.kernels().slice(Report.FirstKernel, Report.NumKernels),
      [](const DeviceModule::KernelInfo &K) { return !K.Phases.empty(); });
}

/// What became of loops of launches.
static void remarkLoops(OptimizationRemarkEmitter &ORE, const RegionAst &Region,
                        const RegionReport &Report, const BasicBlock &BB) {
  for (const LoopAst &Loop : Region.Loops) {
    OptimizationRemarkAnalysis Remark(PassName, "LoopOfLaunches", Report.Loc,
                                      &BB);
    Remark << "a loop of launches of "
           << ore::NV("Kernels", Loop.Plan->n_phases) << " kernels ";
    if (Loop.WhyNot.empty())
      Remark << "can run as one kernel, with a barrier before "
             << ore::NV("Barriers",
                        unsigned(count_if(
                            Loop.Phases,
                            [](const pacc_phase_plan &P) { return P.waits; })))
             << " of them";
    else
      Remark << "stays on the host: " << ore::NV("Reason", Loop.WhyNot);
    ORE.emit(Remark);
  }
}

//===----------------------------------------------------------------------===//
// One region
//===----------------------------------------------------------------------===//

static bool needsLibdevice(Scop &S) {
  auto Needs = [](const Instruction &I) {
    if (I.getOpcode() == Instruction::FRem)
      return true;
    auto *Call = dyn_cast<CallInst>(&I);
    auto Name = Call ? deviceFunctionFor(*Call) : std::nullopt;
    return Name && !Name->empty();
  };
  for (ScopStmt &Stmt : S) {
    if (any_of(Stmt.getInstructions(),
               [&](Instruction *I) { return Needs(*I); }))
      return true;
    if (Stmt.isRegionStmt())
      for (BasicBlock *BB : Stmt.getRegion()->blocks())
        if (any_of(*BB, Needs))
          return true;
  }
  return false;
}

/// \p Name with what PTX takes in identifiers only.
static std::string nameInPtx(StringRef Name) {
  std::string Result = Name.str();
  for (char &C : Result)
    if (!isAlnum(C) && C != '_' && C != '$')
      C = '_';
  // Kernels' names begin with it.
  return isDigit(Result[0]) || Result[0] == '$' ? "_" + Result : Result;
}

bool Offloader::offloadRegion(Scop &S) {
  RegionReport Report;
  Report.Function = S.getFunction().getName().str();
  Report.Name =
      nameInPtx(Report.Function) + "_scop" + std::to_string(NumRegions++);
  Report.Loc = locationOf(S);
  Report.Location = placeInSource(Report.Loc);

  if (auto Why = checkScop(S))
    return reject(S, *Why, Report);
  if (needsLibdevice(S) && !findLibdevice(Opts))
    return reject(S,
                  {"it needs mathematical functions of NVIDIA's libdevice, "
                   "which was not found: set CUDA_PATH or -polly-acc-libdevice",
                   nullptr},
                  Report);

  isl_ctx *Ctx = S.getIslCtx().get();
  int OnError = isl_options_get_on_error(Ctx);
  isl_options_set_on_error(Ctx, ISL_ON_ERROR_CONTINUE);
  // Polly bounds its own passes, and takes the bound away after each.
  removeScalars(S);
  isl_ctx_reset_operations(Ctx);
  RegionPlan P;
  std::unique_ptr<RegionAst> Region;
  bool Planned = planRegion(S, P, Opts);
  std::string Hopeless = Planned ? whyHopeless(*P.Mapping) : "";
  if (Planned && Hopeless.empty())
    Region = buildAst(S, P, Opts);
  if (Region)
    Region->Updates = P.Updates;
  bool OutOfQuota = isl_ctx_last_error(Ctx) == isl_error_quota;
  std::string Problem;
  if (const char *Message = isl_ctx_last_error_msg(Ctx))
    Problem = std::string(" (isl: ") + Message + ")";
  isl_ctx_reset_error(Ctx);
  isl_options_set_on_error(Ctx, OnError);
  if (Opts.DumpSchedule && Planned) {
    errs() << "# region " << Report.Name << '\n';
    dumpFacts(P.Facts, errs());
    char *Text = isl_schedule_to_str(P.Mapping->schedule);
    errs() << "# mapped schedule: " << Text << '\n';
    free(Text);
    if (Region && !Region->RunCondition.is_null()) {
      Text = isl_ast_expr_to_C_str(Region->RunCondition.get());
      errs() << "# runs on the device if: " << Text << '\n';
      free(Text);
    }
  }

  if (Region && cutOffSerial(S, *P.Mapping))
    return true;
  // Each level of halves costs as much again as the whole region did.
  if (OutOfQuota && NumHalved < 4 && cut(S.getRegion(), 1)) {
    ++NumHalved;
    return true;
  }
  if (OutOfQuota)
    return reject(S,
                  {"its analysis needs more than " +
                       std::to_string(Opts.MaxOperations) +
                       " isl operations (-polly-acc-max-operations)",
                   nullptr},
                  Report);
  if (!Planned || (Hopeless.empty() && !Region))
    return reject(
        S, {"no schedule with parallel loops was found" + Problem, nullptr},
        Report);
  if (!Hopeless.empty()) {
    if (hasOrderedSum(S))
      Hopeless += "; the order of a floating-point sum or product is kept: "
                  "-ffast-math or '#pragma clang fp reassociate(on)' allow "
                  "others";
    return reject(S, {Hopeless, nullptr}, Report);
  }
  if (Region->RunCondition.is_null())
    return reject(S, {"its run-time check needs numbers of 64 bits and more"},
                  Report);

  for (const ArrayAst &Array : Region->Arrays) {
    auto *Cell =
        find_if(P.Cells, [&](auto &C) { return C.Array == Array.SAI; });
    Report.Arrays.push_back(
        arrayName(Cell == P.Cells.end() ? *Array.SAI : *Cell->Scalar) +
        (Array.HasIn ? " in" : "") + (Array.HasOut ? " out" : "") +
        (Array.hasCopies() ? " copies" : "") + (Array.Scratch ? " saved" : ""));
  }
  for (auto &Launch : Region->Launches)
    Launch->Work.Given = Annotated;
  Report.FirstKernel = Device.kernels().size();
  if (!generate(S, *Region, P.Cells, Report)) {
    EliminateUnreachableBlocks(S.getFunction());
    reject(S, {"a value that its bounds need can't be loaded before it"},
           Report);
    return true;
  }
  Report.NumKernels = Device.kernels().size() - Report.FirstKernel;

  unsigned NumKernels = Report.NumKernels - numLoopKernels(Report, Device);
  unsigned NumArrays = Region->Arrays.size();
  auto &ORE = FAM.getResult<OptimizationRemarkEmitterAnalysis>(S.getFunction());
  ORE.emit(
      OptimizationRemark(PassName, "Offloaded", locationOf(S), S.getEntry())
      << "offloaded region '" << ore::NV("Region", Report.Name)
      << "': " << ore::NV("Kernels", NumKernels)
      << (NumKernels == 1 ? " kernel, " : " kernels, ")
      << ore::NV("Arrays", NumArrays)
      << (NumArrays == 1 ? " array" : " arrays"));
  if (Opts.Persistent != "off")
    remarkLoops(ORE, *Region, Report, *S.getEntry());
  Reports.push_back(std::move(Report));
  return true;
}

/// Is a parameter's value loaded in front of the region?
static bool hasLoadedParameters(const Scop &S) {
  return any_of(S.parameters(), [&](const SCEV *Parameter) {
    return SCEVExprContains(Parameter, [&](const SCEV *Part) {
      auto *Value = dyn_cast<SCEVUnknown>(Part);
      auto *Load = Value ? dyn_cast<LoadInst>(Value->getValue()) : nullptr;
      return Load && S.getRequiredInvariantLoads().contains(Load);
    });
  });
}

/// Makes \p Condition false lead from its block to \p Target instead of on.
static void branchBack(Instruction *Condition, BasicBlock *Target) {
  auto *Old = cast<BranchInst>(Condition->getParent()->getTerminator());
  BranchInst::Create(Old->getSuccessor(0), Target, Condition,
                     Old->getIterator());
  Old->eraseFromParent();
}

bool Offloader::generate(Scop &S, const RegionAst &Region, ArrayRef<Cell> Cells,
                         const RegionReport &Report) {
  Function &F = S.getFunction();
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &RI = FAM.getResult<RegionInfoAnalysis>(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  polly::Region *R = &S.getRegion();
  simplifyRegion(R, &DT, &LI, &RI);
  for (BasicBlock *BB : R->blocks())
    Handled.insert(BB);
  DenseSet<const BasicBlock *> Before;
  for (BasicBlock &BB : F)
    Before.insert(&BB);

  ScopAnnotator Annotator;
  BasicBlock *Entering = S.getEnteringBlock();
  PollyIRBuilder Builder(F.getContext(), ConstantFolder(),
                         IRInserter(Annotator));
  Builder.SetInsertPoint(Entering->getTerminator());
  BBPair StartExit =
      executeScopConditionally(S, Builder.getTrue(), DT, RI, LI).first;
  BasicBlock *Start = StartExit.first, *Exit = StartExit.second;
  BasicBlock *Split = Start->getSinglePredecessor();

  RegionBuilder Nodes(Builder, Annotator, F.getDataLayout(), LI, SE, DT, S,
                      Start, Device, Report.Name);
  Builder.SetInsertPoint(Start->getTerminator());
  for (const Cell &C : Cells)
    Nodes.bindCell(C.Array, C.Scalar);
  // Plans that were given up have left arrays, too.
  for (ScopArrayInfo *SAI : S.arrays())
    if (SAI->isArrayKind() && !SAI->getBasePtr())
      Nodes.bindScratch(SAI);
  Nodes.allocateNewArrays(StartExit);
  Annotator.buildAliasScopes(S);
  Builder.SetInsertPoint(Split->getTerminator());
  const bool LoadsSizes = hasLoadedParameters(S);
  if (!LoadsSizes)
    Nodes.addParameters(S.getContext().release());
  markRegion(Builder, Opts.MinWork == "auto" && !LoadsSizes
                          ? Nodes.createIsTiny(Region)
                          : Builder.getFalse());
  if (!Nodes.preloadInvariantLoads()) {
    // Loads before the failed one have split the block.
    Split = Start->getSinglePredecessor();
    Split->getTerminator()->setOperand(0, Builder.getFalse());
    ConstantFoldTerminator(Split);
    return false;
  }
  if (LoadsSizes)
    Nodes.addParameters(S.getContext().release());
  Value *Condition =
      Nodes.createRTC(isl::ast_expr(Region.RunCondition).release());
  Builder.GetInsertBlock()->getTerminator()->setOperand(0, Condition);

  Builder.SetInsertPoint(Start->getTerminator());
  Constant *Descriptor = Device.createRegion(Report.Name, Report.Location);
  SmallVector<Instruction *, 3> Conditions =
      Nodes.createRegion(Region, Descriptor, Opts);
  Begins.push_back(Nodes.run());
  Nodes.finalize();

  // A region that could not be opened or closed runs the original loops. They
  // get one entry for all cases, so that PHI nodes there keep one edge.
  Split = Start->getSinglePredecessor();
  BasicBlock *Fallback =
      SplitEdge(Split, Split->getTerminator()->getSuccessor(1), &DT, &LI);
  for (Instruction *Condition : Conditions) {
    branchBack(Condition, Fallback);
    Handled.insert(Condition->getParent());
  }

  Builder.SetInsertPoint(Fallback->getTerminator());
  Nodes.createHostBegin(Descriptor);
  for (BasicBlock *BB : {Start, Exit, Fallback})
    Handled.insert(BB);
  // The host's loops around kernels are none of the program's.
  for (Loop *L : LI.getLoopsInPreorder())
    if (!Before.contains(L->getHeader()))
      Handled.insert(L->getHeader());
  if (Opts.MinWork != "auto" || Region.Sizes.empty())
    return true;
  // Where the original loops end, the runtime learns from their time.
  BasicBlock *Merge = Exit->getSingleSuccessor();
  auto FromLoops =
      find_if(predecessors(Merge), [&](BasicBlock *BB) { return BB != Exit; });
  BasicBlock *AfterLoops = SplitEdge(*FromLoops, Merge, &DT, &LI);
  Builder.SetInsertPoint(AfterLoops->getTerminator());
  Nodes.createHostEnd(Descriptor);
  Handled.insert(AfterLoops);
  return true;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Offloads one region of F, or gets one ready, and returns true, or false if
/// none is left. Every change of the IR invalidates Polly's analyses, so that
/// detection starts anew.
bool Offloader::offloadNext(Function &F) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &RI = FAM.getResult<RegionInfoAnalysis>(F);
  auto &SE = FAM.getResult<ScalarEvolutionAnalysis>(F);
  auto &AA = FAM.getResult<AAManager>(F);
  auto &AC = FAM.getResult<AssumptionAnalysis>(F);
  auto &ORE = FAM.getResult<OptimizationRemarkEmitterAnalysis>(F);
  // A single loop is worth a kernel; Polly's own heuristics think of caches.
  SaveAndRestore Unprofitable(PollyProcessUnprofitable, true);
  SaveAndRestore Hoisting(PollyInvariantLoadHoisting, true);
  ScopDetection SD(DT, SE, LI, RI, AA, ORE);
  SD.detect(F);
  bool Hidden = false;
  for (const Region *R : SD)
    Hidden |= hideLengths(*R, SD, SE);
  if (Hidden)
    return true;
  ScopInfo SI(F.getDataLayout(), SD, SE, LI, AA, DT, AC, ORE);
  for (const Region *R : SD) {
    if (any_of(R->blocks(),
               [&](BasicBlock *BB) { return Handled.contains(BB); }))
      continue;
    for (BasicBlock *BB : R->blocks())
      Handled.insert(BB);
    bool HasLoop = any_of(R->blocks(), [&](BasicBlock *BB) {
      return LI.getLoopFor(BB) && R->contains(LI.getLoopFor(BB));
    });
    if (!HasLoop)
      continue;
    if (cut(*R, MaxLoopsOfRegion))
      return true;
    Scop *S = SI.getScop(R);
    if (!S) {
      BasicBlock *Entry = R->getEntry();
      ORE.emit(OptimizationRemarkMissed(PassName, "NotOffloaded",
                                        Entry->getTerminator()->getDebugLoc(),
                                        Entry)
               << "loop nest not offloaded: the region can never run under the "
                  "assumptions that make it affine");
      continue;
    }
    if (offloadRegion(*S))
      return true;
  }
  return false;
}

bool Offloader::isCandidate(const Function &F) const {
  // A body that is only there to be inlined is compiled elsewhere.
  if (F.isDeclaration() || F.hasAvailableExternallyLinkage() ||
      F.hasOptNone() || F.hasFnAttribute(DoneAttribute))
    return false;
  return Opts.OnlyFunc.empty() || Regex(Opts.OnlyFunc).match(F.getName());
}

bool Offloader::runOnFunction(Function &F) {
  bool Expanded = expandComplexProducts(F);
  if (Expanded)
    FAM.invalidate(F, PreservedAnalyses::none());
  if (!mayHaveAffineLoops(F))
    return Expanded;
  bool Prepared = prepareForPolly(F, FAM);
  if (Expected<BlockShape> Shape = annotatedBlock(F))
    Annotated = *Shape;
  else
    F.getContext().diagnose(DiagnosticInfoUnsupported(
        F, toString(Shape.takeError()), F.getSubprogram()));
  while (Prepared && offloadNext(F)) {
    FAM.invalidate(F, PreservedAnalyses::none());
    if (verifyFunction(F, &errs()))
      report_fatal_error("polly-acc generated an invalid function", false);
  }
  removeCuts();
  if (Opts.KeepData == "on" && Opts.Memory == "copy" && !Begins.empty())
    formSpans(F, FAM, Device, Begins, Handled);
  Begins.clear();
  F.addFnAttr(DoneAttribute);
  outlineRegions(F, FAM);
  return true;
}

bool Offloader::run() {
  bool Changed = false;
  // The runtime's interface has 64-bit addresses; a GPU's module is no host's.
  if (M.getDataLayout().getPointerSizeInBits() != 64 ||
      M.getTargetTriple().isGPU())
    return false;
  boundPolly();
  // Kernels are written as functions of this module first: take a list.
  SmallVector<Function *, 32> Functions;
  for (Function &F : M)
    Functions.push_back(&F);
  // Callees are inlined as the program has them, before they are offloaded.
  for (Function *F : Functions)
    if (isCandidate(*F))
      Changed |= inlineIntoLoops(*F, FAM);
  erase_if(Functions, [&](const Function *F) {
    return F->isDefTriviallyDead() || !isCandidate(*F);
  });
  for (Function *F : Functions)
    Changed |= runOnFunction(*F);
  // Which functions have regions is known now.
  for (Function *F : Functions)
    reportLeftLoops(*F);
  if (Device.empty())
    return Changed;
  Device.checkToolkit();
  if (Error E = Device.finish()) {
    M.getContext().emitError("polly-acc: " + toString(std::move(E)));
    return true;
  }
  reportKernels();
  return true;
}

} // namespace pacc
