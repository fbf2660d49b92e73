//===- Child.h - Aggregated versions of kernels -----------------*- C++ -*-===//
//
// The aggregated version of kernel `k` is the kernel `k__pacc_agg`. It takes
// one batch. Each of its blocks finds the launch that it belongs to, loads
// that launch's arguments and runs the body of `k` with the thread, block and
// size registers of that launch.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_AGGREGATE_CHILD_H
#define PACC_AGGREGATE_CHILD_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include <string>

namespace pacc {

class DeviceRuntime;

/// Why `Kernel` cannot have an aggregated version, or an empty string.
/// `ArgBytes` is the size of the argument buffer at a launch.
std::string childObstacle(llvm::Function &Kernel, uint64_t ArgBytes);

/// A parameter's place in the argument buffer.
struct Parameter {
  llvm::Type *Ty;
  uint64_t Offset;
  uint64_t Bytes;
  llvm::Align Alignment;
};
llvm::SmallVector<Parameter> parametersOf(const llvm::Function &Kernel);

/// Bytes of the argument buffer of a kernel, and the largest alignment in it.
uint64_t argumentBytes(const llvm::Function &Kernel);
llvm::Align argumentAlign(const llvm::Function &Kernel);

class ChildBuilder {
public:
  using Emit = llvm::function_ref<void(llvm::IRBuilder<> &)>;

  explicit ChildBuilder(DeviceRuntime &Runtime) : Runtime(Runtime) {}

  /// The aggregated version, declared at the first call.
  llvm::Function *declare(llvm::Function &Kernel);

  /// Writes the body. All launches must have their final form: the body of
  /// the kernel is cloned. `AtStart` and `AtEnd` emit code that every thread
  /// of a block runs, also those that the launch's blocks do not have. `Same`
  /// are the words of the arguments that a batch has once (Uniform.h).
  void define(llvm::Function &Kernel, uint64_t Same, Emit AtStart, Emit AtEnd);

  /// Writes a body that launches the kernel once per record: for kernels that
  /// other files launch merged but that can't be.
  void defineForward(llvm::Function &Kernel);

private:
  /// A clone of F that takes the ids as its last parameter.
  llvm::Function *cloneWithIds(llvm::Function &F);
  bool readsIds(llvm::Function &F);
  void replaceRegisters(llvm::Function &Clone);

  DeviceRuntime &Runtime;
  llvm::DenseMap<llvm::Function *, llvm::Function *> Children;
  llvm::DenseMap<llvm::Function *, llvm::Function *> Clones;
  llvm::DenseMap<llvm::Function *, bool> ReadsIds;
};

} // namespace pacc

#endif
