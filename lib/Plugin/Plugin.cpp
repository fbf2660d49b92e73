//===- Plugin.cpp - Entry point of PollyACC.so ----------------------------===//
//
//   opt-22 -load-pass-plugin=PollyACC.so -passes='polly-acc<arch=sm_80>' ...
//   clang-22 -O3 -fpass-plugin=PollyACC.so -mllvm -polly-acc gemm.c -lpacc_rt
//
//===----------------------------------------------------------------------===//
#include "Aggregate/Aggregate.h"
#include "Offload/OffloadPass.h"
#include "Options.h"
#include "Refuse.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pacc {

/// Does \p Text name a pass? \p Name is `name` or `print<name>`; parameters may
/// stand after the name proper, in angle brackets of their own.
static bool matches(StringRef Text, StringRef Name, StringRef &Parameters) {
  if (Name.consume_back(">") && !Text.consume_back(">"))
    return false;
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
static bool addPass(StringRef Text, ModulePassManager &MPM) {
  StringRef Parameters;
  if (!matches(Text, PassT::Name, Parameters))
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
    PIC->addClassToPassName(OffloadPass::name(), OffloadPass::Name);
    PIC->addClassToPassName(KernelPrinterPass::name(), KernelPrinterPass::Name);
    PIC->addClassToPassName(BlockPrinterPass::name(), BlockPrinterPass::Name);
    PIC->addClassToPassName(BlockRemarksPass::name(), BlockRemarksPass::Name);
  }
  PB.registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &MPM,
         ArrayRef<PassBuilder::PipelineElement>) {
        return addPass<OffloadPass>(Name, MPM) ||
               addPass<KernelPrinterPass>(Name, MPM) ||
               addPass<BlockPrinterPass>(Name, MPM) ||
               addPass<BlockRemarksPass>(Name, MPM);
      });
  // The front end's IR is where every loop nest is still whole.
  PB.registerPipelineStartEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel Level) {
        Options Opts = Options::fromCommandLine();
        if (Error E = Opts.validate())
          MPM.addPass(RefusePass(std::move(E)));
        else if (isOffloadEnabled() && Level != OptimizationLevel::O0)
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
