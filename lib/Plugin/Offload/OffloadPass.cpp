//===- OffloadPass.cpp - The offload passes -------------------------------===//
#include "Offload/OffloadPass.h"

#include "Offload/GpuKernels.h"
#include "Offload/Offloader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace pacc {

PreservedAnalyses OffloadPass::run(Module &M, ModuleAnalysisManager &MAM) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  return Offloader(M, FAM, Opts).run() ? PreservedAnalyses::none()
                                       : PreservedAnalyses::all();
}

static void printParameters(raw_ostream &OS, const Options &Opts) {
  std::string Text;
  raw_string_ostream TextOS(Text);
  Opts.print(TextOS);
  if (!Text.empty())
    OS << '<' << Text << '>';
}

void OffloadPass::printPipeline(
    raw_ostream &OS, function_ref<StringRef(StringRef)> MapClassName) const {
  OS << MapClassName(name());
  printParameters(OS, Opts);
}

/// Runs \p Print on the work that polly-acc would do on \p M.
static void offloadCopy(Module &M, const Options &Opts,
                        function_ref<void(const Offloader &)> Print) {
  std::unique_ptr<Module> Copy = CloneModule(M);
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PassBuilder PB;
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  Offloader Work(*Copy, FAM, Opts);
  Work.run();
  Print(Work);
}

static void printKernels(const Offloader &Work) {
  for (const RegionReport &R : Work.reports()) {
    errs() << "region " << R.Name << " in function " << R.Function;
    if (!R.Location.empty())
      errs() << " at " << R.Location;
    errs() << '\n';
    if (!R.Rejected.empty()) {
      errs() << "  not offloaded: " << R.Rejected << '\n';
      continue;
    }
    for (const std::string &Array : R.Arrays)
      errs() << "  array " << Array << '\n';
    for (unsigned K = R.FirstKernel; K < R.FirstKernel + R.NumKernels; ++K) {
      const DeviceModule::KernelInfo &Info = Work.device().kernels()[K];
      errs() << "  kernel " << Info.F->getName() << " dims " << Info.Work.Dims
             << " block " << Info.Choice.Block[0] << 'x' << Info.Choice.Block[1]
             << 'x' << Info.Choice.Block[2] << '\n';
    }
  }
}

PreservedAnalyses KernelPrinterPass::run(Module &M, ModuleAnalysisManager &) {
  offloadCopy(M, Opts, printKernels);
  return PreservedAnalyses::all();
}

void KernelPrinterPass::printPipeline(
    raw_ostream &OS, function_ref<StringRef(StringRef)>) const {
  OS << "print<polly-acc-kernels";
  printParameters(OS, Opts);
  OS << '>';
}

PreservedAnalyses BlockPrinterPass::run(Module &M, ModuleAnalysisManager &MAM) {
  if (M.getTargetTriple().isNVPTX()) {
    printGpuKernels(errs(), M, MAM, Opts);
    return PreservedAnalyses::all();
  }
  offloadCopy(M, Opts, [](const Offloader &Work) {
    for (const DeviceModule::KernelInfo &Kernel : Work.device().kernels())
      printBlocks(errs(), Kernel.report());
  });
  return PreservedAnalyses::all();
}

void BlockPrinterPass::printPipeline(raw_ostream &OS,
                                     function_ref<StringRef(StringRef)>) const {
  OS << "print<polly-acc-blocks";
  printParameters(OS, Opts);
  OS << '>';
}

PreservedAnalyses BlockRemarksPass::run(Module &M, ModuleAnalysisManager &MAM) {
  if (M.getTargetTriple().isNVPTX())
    remarkGpuKernels(M, MAM, Opts);
  return PreservedAnalyses::all();
}

void BlockRemarksPass::printPipeline(
    raw_ostream &OS, function_ref<StringRef(StringRef)> MapClassName) const {
  OS << MapClassName(name());
  printParameters(OS, Opts);
}

} // namespace pacc
