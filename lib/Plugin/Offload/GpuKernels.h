//===- GpuKernels.h - What can be said of any kernel ------------*- C++ -*-===//
//
// Occupancy, and accesses as far as their addresses are known, of the kernels
// in a module for NVPTX: hand-written CUDA, say.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_GPUKERNELS_H
#define PACC_PLUGIN_OFFLOAD_GPUKERNELS_H

#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace pacc {

void printGpuKernels(llvm::raw_ostream &OS, llvm::Module &M,
                     llvm::ModuleAnalysisManager &MAM, const Options &Opts);
void remarkGpuKernels(llvm::Module &M, llvm::ModuleAnalysisManager &MAM,
                      const Options &Opts);

} // namespace pacc

#endif
