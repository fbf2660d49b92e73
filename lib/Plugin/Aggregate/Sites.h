//===- Sites.h - Launches in device code ------------------------*- C++ -*-===//
//
// Finds the launches that clang emits for kernel<<<...>>>(...) in device code:
//
//   buffer = __cudaCDP2GetParameterBuffer(64, size)
//   if (buffer) {
//     stores of the arguments
//     __cudaCDP2LaunchDevice(kernel, buffer, grid, block, shared, stream)
//   }
//
//===----------------------------------------------------------------------===//
#ifndef PACC_AGGREGATE_SITES_H
#define PACC_AGGREGATE_SITES_H

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/PassManager.h"
#include <string>
#include <vector>

namespace pacc {

/// The stream of a launch, as far as it is known. The values of the first
/// four are those of CUDA's handles. Private: made for this launch alone.
enum class StreamKind {
  Null = 0,
  PerThread = 2,
  Tail = 3,
  FireAndForget = 4,
  Private = 5,
  Other = 6,
};

struct Site {
  llvm::CallBase *Launch = nullptr;
  /// Null if memory of the thread's own can't stand in for it.
  llvm::CallBase *Buffer = nullptr;
  llvm::Function *Kernel = nullptr;
  uint64_t ArgBytes = 0;
  StreamKind Stream = StreamKind::Other;
  /// Why the launch has to stay as it is; empty if nothing speaks against it.
  std::string Obstacle;

  llvm::Function *caller() const { return Launch->getFunction(); }
};

/// Functions of lib/DeviceRT, and those written for a kernel's end, carry this
/// attribute; their own launches and registers are not the program's.
inline constexpr llvm::StringLiteral RuntimeAttribute = "pacc-device-rt";
bool isRuntimeFunction(const llvm::Function &F);

/// True for calls of __cudaCDP2LaunchDevice in any of its forms.
bool isLaunch(const llvm::CallBase &Call);

/// Brings launches into the form above: inlines the toolkit's launch wrappers,
/// and helper functions with launches into the kernels that call them. Makes
/// kernels of the declarations that are launched.
/// Returns true if anything changed.
bool prepareSites(llvm::Module &M, llvm::FunctionAnalysisManager &FAM);

/// All launches, in the order of functions and of blocks in reverse post
/// order.
std::vector<Site> findSites(llvm::Module &M);

/// Functions that `F` can reach by direct calls, itself included.
struct Reach {
  llvm::SetVector<llvm::Function *> Functions;
  /// A call whose target is not in this module and not known to be harmless,
  /// or through a pointer: its name, or "a function pointer".
  std::string Unknown;
};
Reach reachableFrom(llvm::Function &F);

/// Where threads of a block may wait for each other in a kernel: nowhere; at
/// barriers of the block that each of its threads passes once; or elsewhere, in
/// operations over a warp or in code that is not known.
enum class Waits { Nowhere, OnceEach, Anywhere };
Waits waitsOf(llvm::Function &Kernel);

/// True for functions that neither read thread and block numbers nor use
/// streams: the toolkit's device runtime, printf, malloc, libdevice.
bool isHarmlessExternal(const llvm::Function &F);

/// Name for messages: demangled, without parameters.
std::string readableName(const llvm::Function &F);

} // namespace pacc

#endif
