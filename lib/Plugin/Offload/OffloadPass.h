//===- OffloadPass.h - The offload passes -----------------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_OFFLOADPASS_H
#define PACC_PLUGIN_OFFLOAD_OFFLOADPASS_H

#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace pacc {

/// polly-acc: affine loop nests of every function become GPU kernels.
class OffloadPass : public llvm::PassInfoMixin<OffloadPass> {
public:
  explicit OffloadPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  void printPipeline(
      llvm::raw_ostream &OS,
      llvm::function_ref<llvm::StringRef(llvm::StringRef)> MapClassName) const;
  static bool isRequired() { return true; }

private:
  Options Opts;
};

/// print<polly-acc-kernels>: what polly-acc would do, on stderr. Works on a
/// copy of the module.
class KernelPrinterPass : public llvm::PassInfoMixin<KernelPrinterPass> {
public:
  explicit KernelPrinterPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  void printPipeline(
      llvm::raw_ostream &OS,
      llvm::function_ref<llvm::StringRef(llvm::StringRef)> MapClassName) const;
  static bool isRequired() { return true; }

private:
  Options Opts;
};

/// print<polly-acc-blocks>: how polly-acc would choose the block of every
/// kernel, on stderr; of a GPU's module, what can be said of its kernels. Works
/// on a copy of the module.
class BlockPrinterPass : public llvm::PassInfoMixin<BlockPrinterPass> {
public:
  explicit BlockPrinterPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  void printPipeline(
      llvm::raw_ostream &OS,
      llvm::function_ref<llvm::StringRef(llvm::StringRef)> MapClassName) const;
  static bool isRequired() { return true; }

private:
  Options Opts;
};

/// polly-acc-blocks: remarks on the kernels of a GPU's module, whoever wrote
/// them; changes nothing.
class BlockRemarksPass : public llvm::PassInfoMixin<BlockRemarksPass> {
public:
  explicit BlockRemarksPass(Options Opts) : Opts(std::move(Opts)) {}
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
  void printPipeline(
      llvm::raw_ostream &OS,
      llvm::function_ref<llvm::StringRef(llvm::StringRef)> MapClassName) const;
  static bool isRequired() { return true; }

private:
  Options Opts;
};

} // namespace pacc

#endif
