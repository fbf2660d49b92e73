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

PreservedAnalyses BlockRemarksPass::run(Module &M, ModuleAnalysisManager &MAM) {
  if (M.getTargetTriple().isNVPTX())
    remarkGpuKernels(M, MAM, Opts);
  return PreservedAnalyses::all();
}

} // namespace pacc
