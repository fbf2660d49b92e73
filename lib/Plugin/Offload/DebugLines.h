//===- DebugLines.h - Lines of the source in device code --------*- C++ -*-===//
//
// Line tables of kernels, as nvcc's -lineinfo makes them: tools show the
// source, and the machine code is the same as without. Only programs that are
// compiled with debug information get them.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_DEBUGLINES_H
#define PACC_PLUGIN_OFFLOAD_DEBUGLINES_H

#include "polly/ScopInfo.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugLoc.h"
#include <memory>
#include <vector>

namespace pacc {

/// Gives the loads and stores of a copy of \p Stmt the places of the original
/// ones: Polly writes these anew, and copies all other instructions. The copy
/// begins with the block \p First and ends before \p End.
void locateAccesses(polly::ScopStmt &Stmt, llvm::BasicBlock *First,
                    llvm::BasicBlock::iterator End);

/// Debug information of a module with kernels.
class DebugLines {
public:
  explicit DebugLines(llvm::Module &Device) : Device(Device) {}

  /// Places of a kernel's instructions, in their order; empty if the program
  /// has no debug information.
  using Places = std::vector<llvm::DebugLoc>;

  /// Takes the debug information, which is the host's, out of \p Kernel.
  static Places take(llvm::Function &Kernel);

  /// Gives \p Kernel, a copy of that in the device's module, lines: its own
  /// ones begin at \p Start, where its loops stand. What stands in functions
  /// that were inlined there remains inlined.
  void give(llvm::Function &Kernel, const Places &Places, llvm::DebugLoc Start);

  /// After the last kernel.
  void finish() {
    if (Builder)
      Builder->finalize();
  }

private:
  llvm::DISubprogram *createFunction(llvm::DIFile *File, llvm::StringRef Name,
                                     llvm::StringRef LinkageName,
                                     unsigned Line);
  llvm::DILocalScope *scopeIn(llvm::DISubprogram *Function, llvm::DIFile *File);
  llvm::DILocation *translate(const llvm::DILocation *Place,
                              llvm::DISubprogram *Kernel);

  llvm::Module &Device;
  std::unique_ptr<llvm::DIBuilder> Builder; // once there are lines
  /// Counterparts of the host's functions that were inlined.
  llvm::DenseMap<const llvm::DISubprogram *, llvm::DISubprogram *> Inlined;
};

} // namespace pacc

#endif
