//===- Pass.cpp - The passes of aggregation, their options and remarks ----===//
#include "../Refuse.h"
#include "Aggregate.h"
#include "Plan.h"
#include "Rewrite.h"
#include "Runtime.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

#define PASS_NAME "polly-acc-agg"

namespace pacc {

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

#define PACC_AGG_FLAG(id, name, value, help)                                   \
  static cl::opt<bool> Opt##id("polly-acc-" name, cl::desc(help),              \
                               cl::init(value));
#define PACC_AGG_STRING(id, name, value, values, help)                         \
  static cl::opt<std::string> Opt##id("polly-acc-" name, cl::ValueOptional,    \
                                      cl::desc(help), cl::value_desc(values),  \
                                      cl::init(value));
#include "pacc/options.def"

StringRef toString(Granularity G) {
  switch (G) {
  case Granularity::Auto:
    return "auto";
  case Granularity::Warp:
    return "warp";
  case Granularity::Block:
    return "block";
  case Granularity::Grid:
    return "grid";
  }
  llvm_unreachable("all granularities are named");
}

static Error parseGranularity(StringRef Text, Granularity &Result) {
  for (Granularity G : {Granularity::Auto, Granularity::Warp,
                        Granularity::Block, Granularity::Grid})
    if (Text == toString(G)) {
      Result = G;
      return Error::success();
    }
  return createStringError(PASS_NAME ": granularity '" + Text +
                           "' is none of auto, warp, block, grid");
}

static Error parsePool(StringRef Text, uint64_t &Result) {
  StringRef Digits = Text;
  unsigned Shift = 0;
  if (Digits.consume_back("K"))
    Shift = 10;
  else if (Digits.consume_back("M"))
    Shift = 20;
  else if (Digits.consume_back("G"))
    Shift = 30;
  uint64_t Number;
  constexpr uint64_t Least = 1u << 20, Most = 1ull << 32;
  if (!Digits.getAsInteger(10, Number) && Number <= Most >> Shift &&
      Number << Shift >= Least && isPowerOf2_64(Number)) {
    Result = Number << Shift;
    return Error::success();
  }
  return createStringError(PASS_NAME ": pool '" + Text +
                           "' is no power of two from 1M to 4G, such as 64M");
}

static Error parseSiblings(StringRef Text, Siblings &Result) {
  if (Text != "independent" && Text != "serialized")
    return createStringError(PASS_NAME ": siblings '" + Text +
                             "' is neither independent nor serialized");
  Result = Text == "serialized" ? Siblings::Serialized : Siblings::Independent;
  return Error::success();
}

static Error parseParameter(StringRef Key, StringRef Value,
                            AggregateOptions &Options) {
  if (Key == "granularity")
    return parseGranularity(Value, Options.Level);
  if (Key == "pool")
    return parsePool(Value, Options.Pool);
  if (Key == "siblings")
    return parseSiblings(Value, Options.Order);
  if ((Key == "other-files" || Key == "no-other-files") && Value.empty()) {
    Options.OtherFiles = Key == "other-files";
    return Error::success();
  }
  return createStringError(
      PASS_NAME ": parameter '" + Key +
      "' is none of granularity, pool, siblings, other-files");
}

Expected<AggregateOptions> AggregateOptions::parse(StringRef Parameters) {
  AggregateOptions Result;
  while (!Parameters.empty()) {
    StringRef Item;
    std::tie(Item, Parameters) = Parameters.split(';');
    auto [Key, Value] = Item.split('=');
    if (Error E = parseParameter(Key, Value, Result))
      return std::move(E);
  }
  return Result;
}

static bool isAggregationOff() { return OptAgg == "off"; }

/// `-polly-acc-agg` without a value is auto.
static Expected<AggregateOptions> optionsOfCommandLine() {
  AggregateOptions Result;
  Result.OtherFiles = OptOtherFiles;
  StringRef Level = OptAgg;
  if (Level.empty() || isAggregationOff())
    Level = "auto";
  for (auto [Key, Value] :
       {std::pair<StringRef, StringRef>{"granularity", Level},
        {"pool", OptPool},
        {"siblings", OptSiblings}})
    if (Error E = parseParameter(Key, Value, Result))
      return std::move(E);
  return Result;
}

void AggregateOptions::print(raw_ostream &OS) const {
  OS << "granularity=" << toString(Level) << ";pool=" << (Pool >> 20)
     << "M;siblings="
     << (Order == Siblings::Serialized ? "serialized" : "independent");
  if (OtherFiles)
    OS << ";other-files";
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

static bool isDeviceModule(const Module &M) {
  return M.getTargetTriple().isNVPTX();
}

static std::string kernelName(const Site &S) {
  return S.Kernel ? "'" + readableName(*S.Kernel) + "'" : "a kernel";
}

/// The launch is inlined from the toolkit's headers: the line of the source is
/// the outermost one.
static DebugLoc sourceLocation(const Site &S) {
  DebugLoc Location = S.Launch->getDebugLoc();
  while (Location && Location.getInlinedAt())
    Location = Location.getInlinedAt();
  return Location;
}

/// What becomes of a launch that is not merged.
static StringRef fateOfKept(const PlannedSite &P) {
  if (!P.needsNewInterface())
    return {};
  if (P.isRenewed())
    return "; it goes out through the second version of CUDA's launch "
           "interface";
  return "; CUDA 13 refuses clang's launches into this stream";
}

static void remark(const PlannedSite &P) {
  const Site &S = P.S;
  OptimizationRemarkEmitter ORE(S.caller());
  DiagnosticLocation Location(sourceLocation(S));
  const BasicBlock *Block = S.Launch->getParent();
  if (!P.isMerged()) {
    ORE.emit([&] {
      return OptimizationRemarkMissed(PASS_NAME, "LaunchKept", Location, Block)
             << "launch of " << ore::NV("Kernel", kernelName(S))
             << " stays as it is: " << ore::NV("Reason", S.Obstacle)
             << fateOfKept(P);
    });
    return;
  }
  ORE.emit([&] {
    return OptimizationRemark(PASS_NAME, "LaunchMerged", Location, Block)
           << "launches of " << ore::NV("Kernel", kernelName(S))
           << " are merged over the "
           << ore::NV("Granularity", toString(P.Level)) << ": "
           << ore::NV("Reason", P.Why);
  });
  if (S.Stream == StreamKind::Null)
    ORE.emit([&] {
      return OptimizationRemarkAnalysis(PASS_NAME, "SiblingsUnordered",
                                        Location, Block)
             << "launches of different threads of a block are no longer "
                "ordered among themselves; -polly-acc-agg-siblings=serialized "
                "keeps the order";
    });
}

static SmallVector<Function *, 8> kernelsForOtherFiles(Module &M) {
  SmallVector<Function *, 8> Result;
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasLocalLinkage() &&
        F.getCallingConv() == CallingConv::PTX_Kernel)
      Result.push_back(&F);
  return Result;
}

/// The module flag of a module that was worked on. It lists the options; those
/// of files that are linked together are put together.
static constexpr StringLiteral DoneFlag = "polly-acc-agg";

static void noteDone(Module &M, const AggregateOptions &Options) {
  std::string Text;
  raw_string_ostream OS(Text);
  Options.print(OS);
  LLVMContext &C = M.getContext();
  M.addModuleFlag(Module::AppendUnique, DoneFlag,
                  MDNode::get(C, MDString::get(C, Text)));
}

PreservedAnalyses AggregatePass::run(Module &M, ModuleAnalysisManager &AM) {
  if (!isDeviceModule(M) || M.getModuleFlag(DoneFlag))
    return PreservedAnalyses::all();
  auto &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = prepareSites(M, FAM);
  std::vector<PlannedSite> Sites = planSites(M, Options);
  for (const PlannedSite &P : Sites)
    remark(P);
  SmallVector<Function *, 8> Exported;
  if (Options.OtherFiles)
    Exported = kernelsForOtherFiles(M);
  Function *Like = Exported.empty() ? nullptr : Exported.front();
  for (const PlannedSite &P : Sites)
    if (P.isMerged() || P.isRenewed())
      Like = P.S.caller();
  if (!Like)
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();

  Expected<DeviceRuntime> Runtime = DeviceRuntime::link(M, *Like, Options.Pool);
  if (!Runtime) {
    M.getContext().emitError(PASS_NAME ": " + toString(Runtime.takeError()));
    return PreservedAnalyses::none();
  }
  rewriteSites(*Runtime, Sites, Exported);
  Runtime->finish();
  noteDone(M, Options);
  std::string Broken;
  raw_string_ostream OS(Broken);
  if (verifyModule(M, &OS))
    M.getContext().emitError(PASS_NAME ": the module is broken, please report "
                                       "this: " +
                             Broken);
  return PreservedAnalyses::none();
}

void AggregatePass::printPipeline(raw_ostream &OS,
                                  function_ref<StringRef(StringRef)> Map) {
  OS << PASS_NAME "<";
  Options.print(OS);
  OS << '>';
}

static StringRef streamName(StreamKind Stream) {
  switch (Stream) {
  case StreamKind::Null:
    return "NULL";
  case StreamKind::PerThread:
    return "per-thread";
  case StreamKind::Tail:
    return "tail";
  case StreamKind::FireAndForget:
    return "fire-and-forget";
  case StreamKind::Private:
    return "private";
  case StreamKind::Other:
    return "other";
  }
  llvm_unreachable("all streams are named");
}

PreservedAnalyses AggregateSitesPrinter::run(Module &M,
                                             ModuleAnalysisManager &AM) {
  if (!isDeviceModule(M)) {
    OS << "no device code\n";
    return PreservedAnalyses::all();
  }
  auto &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = prepareSites(M, FAM);
  for (const PlannedSite &P : planSites(M, Options)) {
    OS << readableName(*P.S.caller()) << ": launch of " << kernelName(P.S)
       << ", " << P.S.ArgBytes << " bytes";
    if (P.Same)
      OS << " (" << P.SameParameters.size() << " of " << P.S.Kernel->arg_size()
         << " arguments the same for all)";
    if (!P.SameShape.empty())
      OS << " in blocks of one size";
    OS << ", " << streamName(P.S.Stream) << " stream: ";
    if (P.isMerged())
      OS << "merged over the " << toString(P.Level) << " into the "
         << streamName(P.MergedStream) << " stream: " << P.Why << '\n';
    else
      OS << "stays as it is: " << P.S.Obstacle << fateOfKept(P) << '\n';
  }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

void AggregateSitesPrinter::printPipeline(
    raw_ostream &OS, function_ref<StringRef(StringRef)> Map) {
  OS << "print<" PASS_NAME "-sites>";
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static bool parsePass(StringRef Name, ModulePassManager &MPM,
                      ArrayRef<PassBuilder::PipelineElement>) {
  if (Name == "print<" PASS_NAME "-sites>") {
    Expected<AggregateOptions> Options = optionsOfCommandLine();
    if (!Options) {
      errs() << toString(Options.takeError()) << '\n';
      return false;
    }
    MPM.addPass(AggregateSitesPrinter(*Options, errs()));
    return true;
  }
  if (!PassBuilder::checkParametrizedPassName(Name, PASS_NAME))
    return false;
  Expected<AggregateOptions> Options = PassBuilder::parsePassParameters(
      AggregateOptions::parse, Name, PASS_NAME);
  if (!Options) {
    errs() << toString(Options.takeError()) << '\n';
    return false;
  }
  MPM.addPass(AggregatePass(*Options));
  return true;
}

void registerAggregatePasses(PassBuilder &PB) {
  PB.registerPipelineParsingCallback(parsePass);
  PB.registerPipelineStartEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel) {
        Expected<AggregateOptions> Options = optionsOfCommandLine();
        if (!Options)
          MPM.addPass(RefusePass(Options.takeError()));
        else if (!isAggregationOff())
          MPM.addPass(AggregatePass(*Options));
      });
}

} // namespace pacc
