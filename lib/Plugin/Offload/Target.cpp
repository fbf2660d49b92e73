//===- Target.cpp - The NVPTX backend in this process ---------------------===//
#include "Offload/Target.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include <mutex>

using namespace llvm;

namespace pacc {

std::unique_ptr<TargetMachine> createGpuTarget(StringRef Arch,
                                               const TargetOptions &Options) {
  // One more backend in a process that has initialised its own targets.
  static std::once_flag Once;
  std::call_once(Once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  Triple NVPTX("nvptx64-nvidia-cuda");
  std::string Message;
  const Target *T = TargetRegistry::lookupTarget(NVPTX, Message);
  if (!T)
    return nullptr;
  return std::unique_ptr<TargetMachine>(
      T->createTargetMachine(NVPTX, Arch, "", Options, std::nullopt,
                             std::nullopt, CodeGenOptLevel::Aggressive));
}

Expected<std::string> emitPtx(Module &M, TargetMachine &TM) {
  SmallString<0> Text;
  raw_svector_ostream OS(Text);
  legacy::PassManager PM;
  // The backend takes the analysis that is there; without it, the default one,
  // which knows no generic address space, would be.
  PM.add(createTargetTransformInfoWrapperPass(TM.getTargetIRAnalysis()));
  PM.add(createInstructionCombiningPass());
  if (TM.addPassesToEmitFile(PM, OS, nullptr, CodeGenFileType::AssemblyFile))
    return createStringError(inconvertibleErrorCode(),
                             "this LLVM cannot write PTX");
  PM.run(M);
  return std::string(Text);
}

} // namespace pacc
