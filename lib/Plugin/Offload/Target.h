//===- Target.h - The NVPTX backend in this process -------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_TARGET_H
#define PACC_PLUGIN_OFFLOAD_TARGET_H

#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace llvm {
class Module;
}

namespace pacc {

/// The backend for \p Arch ("sm_90"); null if this LLVM has none.
std::unique_ptr<llvm::TargetMachine>
createGpuTarget(llvm::StringRef Arch, const llvm::TargetOptions &Options);

/// PTX of a module, which is changed on the way.
llvm::Expected<std::string> emitPtx(llvm::Module &M, llvm::TargetMachine &TM);

} // namespace pacc

#endif
