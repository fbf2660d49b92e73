//===- OffloadPass.h - The offload passes -----------------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_OFFLOADPASS_H
#define PACC_PLUGIN_OFFLOAD_OFFLOADPASS_H

#include "Options.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/raw_ostream.h"

namespace pacc {

/// What the passes have in common: options, which are also their parameters,
/// and PassT::Name, `name` or `print<name>`.
template <typename PassT>
class PassWithOptions : public llvm::PassInfoMixin<PassT> {
public:
  explicit PassWithOptions(Options Opts) : Opts(std::move(Opts)) {}

  /// `name<parameters>` or `print<name<parameters>>`.
  void
  printPipeline(llvm::raw_ostream &OS,
                llvm::function_ref<llvm::StringRef(llvm::StringRef)>) const {
    llvm::StringRef Name = PassT::Name;
    bool IsPrinter = Name.consume_back(">");
    std::string Parameters;
    llvm::raw_string_ostream ParametersOS(Parameters);
    Opts.print(ParametersOS);
    OS << Name;
    if (!Parameters.empty())
      OS << '<' << Parameters << '>';
    if (IsPrinter)
      OS << '>';
  }
  static bool isRequired() { return true; }

protected:
  Options Opts;
};

/// Affine loop nests of every function become GPU kernels.
class OffloadPass : public PassWithOptions<OffloadPass> {
public:
  static constexpr llvm::StringLiteral Name = "polly-acc";
  using PassWithOptions::PassWithOptions;
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
};

/// What polly-acc would do, on stderr. Works on a copy of the module.
class KernelPrinterPass : public PassWithOptions<KernelPrinterPass> {
public:
  static constexpr llvm::StringLiteral Name = "print<polly-acc-kernels>";
  using PassWithOptions::PassWithOptions;
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
};

/// How polly-acc would choose the block of every kernel, on stderr; of a GPU's
/// module, what can be said of its kernels. Works on a copy of the module.
class BlockPrinterPass : public PassWithOptions<BlockPrinterPass> {
public:
  static constexpr llvm::StringLiteral Name = "print<polly-acc-blocks>";
  using PassWithOptions::PassWithOptions;
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
};

/// Remarks on the kernels of a GPU's module, whoever wrote them; changes
/// nothing.
class BlockRemarksPass : public PassWithOptions<BlockRemarksPass> {
public:
  static constexpr llvm::StringLiteral Name = "polly-acc-blocks";
  using PassWithOptions::PassWithOptions;
  llvm::PreservedAnalyses run(llvm::Module &M,
                              llvm::ModuleAnalysisManager &MAM);
};

} // namespace pacc

#endif
