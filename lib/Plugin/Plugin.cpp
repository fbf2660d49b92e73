//===- Plugin.cpp - Entry point of PollyACC.so ----------------------------===//
//
//   opt-22 -load-pass-plugin=PollyACC.so -passes='polly-acc<arch=sm_80>' ...
//   clang-22 -O3 -fpass-plugin=PollyACC.so -mllvm -polly-acc gemm.c -lpacc_rt
//
//===----------------------------------------------------------------------===//
#include "Aggregate/Aggregate.h"
#include "Offload/OffloadPass.h"
#include "Options.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pacc {

/// Matches \p Name, with or without parameters; Parameters is what stands
/// between the angle brackets.
static bool matches(StringRef Text, StringRef Name, StringRef &Parameters) {
  Parameters = "";
  if (!Text.consume_front(Name))
    return false;
  if (Text.empty())
    return true;
  if (!Text.consume_front("<") || !Text.consume_back(">"))
    return false;
  Parameters = Text;
  return true;
}

/// The options, or a message and nullopt.
static std::optional<Options> parseOptions(StringRef Parameters) {
  Options Opts = Options::fromCommandLine();
  if (Error E = Opts.parse(Parameters)) {
    errs() << toString(std::move(E)) << '\n';
    return std::nullopt;
  }
  return Opts;
}

template <typename PassT>
static bool addPass(StringRef Text, StringRef Name, ModulePassManager &MPM) {
  StringRef Parameters;
  if (!matches(Text, Name, Parameters))
    return false;
  std::optional<Options> Opts = parseOptions(Parameters);
  if (!Opts)
    return false;
  MPM.addPass(PassT(std::move(*Opts)));
  return true;
}

static void registerPasses(PassBuilder &PB) {
  registerAggregatePasses(PB);
  if (PassInstrumentationCallbacks *PIC =
          PB.getPassInstrumentationCallbacks()) {
    PIC->addClassToPassName(OffloadPass::name(), "polly-acc");
    PIC->addClassToPassName(KernelPrinterPass::name(),
                            "print<polly-acc-kernels>");
    PIC->addClassToPassName(BlockPrinterPass::name(),
                            "print<polly-acc-blocks>");
    PIC->addClassToPassName(BlockRemarksPass::name(), "polly-acc-blocks");
  }
  PB.registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &MPM,
         ArrayRef<PassBuilder::PipelineElement>) {
        StringRef Parameters;
        if (Name.starts_with("print<polly-acc-kernels"))
          return matches(Name, "print", Parameters) &&
                 addPass<KernelPrinterPass>(Parameters, "polly-acc-kernels",
                                            MPM);
        if (Name.starts_with("print<polly-acc-blocks"))
          return matches(Name, "print", Parameters) &&
                 addPass<BlockPrinterPass>(Parameters, "polly-acc-blocks", MPM);
        if (Name.starts_with("polly-acc-blocks"))
          return addPass<BlockRemarksPass>(Name, "polly-acc-blocks", MPM);
        return addPass<OffloadPass>(Name, "polly-acc", MPM);
      });
  // The front end's IR is where every loop nest is still whole.
  PB.registerPipelineStartEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel Level) {
        if (!isOffloadEnabled())
          return;
        Options Opts = Options::fromCommandLine();
        if (Error E = Opts.validate())
          report_fatal_error(std::move(E), /*gen_crash_diag=*/false);
        if (Level != OptimizationLevel::O0)
          MPM.addPass(OffloadPass(std::move(Opts)));
      });
  // Kernels as they will be compiled.
  PB.registerOptimizerLastEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel, ThinOrFullLTOPhase) {
        if (areBlocksWanted())
          MPM.addPass(BlockRemarksPass(Options::fromCommandLine()));
      });
}

} // namespace pacc

extern "C" LLVM_ATTRIBUTE_WEAK
    __attribute__((visibility("default"))) PassPluginLibraryInfo
    llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "PollyACC", PACC_VERSION,
          pacc::registerPasses};
}
