//===- Refuse.h - Errors of the user in the command line --------*- C++ -*-===//
//
// Pipelines are built where there is no context that takes diagnostics yet.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_REFUSE_H
#define PACC_PLUGIN_REFUSE_H

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"
#include <string>

namespace pacc {

/// Says as the compiler's error what is wrong with the options.
class RefusePass : public llvm::PassInfoMixin<RefusePass> {
public:
  explicit RefusePass(llvm::Error E) : Message(toString(std::move(E))) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &) {
    M.getContext().emitError(Message);
    return llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  std::string Message;
};

} // namespace pacc

#endif
