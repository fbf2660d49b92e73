//===- ThreadStep.h - How addresses move from thread to thread --*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_THREADSTEP_H
#define PACC_PLUGIN_OFFLOAD_THREADSTEP_H

#include <cstdint>
#include <optional>

namespace llvm {
class ScalarEvolution;
class Value;
} // namespace llvm

namespace pacc {

/// Bytes between the addresses \p Pointer of a thread and of the next one along
/// dimension \p Dim (0, 1, 2: x, y, z) of its block; nullopt if they are not a
/// constant apart. Additions and multiplications of thread numbers are taken
/// not to wrap around.
std::optional<int64_t> stepOfThread(llvm::ScalarEvolution &SE,
                                    llvm::Value *Pointer, unsigned Dim);

} // namespace pacc

#endif
