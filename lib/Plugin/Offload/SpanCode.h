//===- SpanCode.h - The code of a span --------------------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_SPANCODE_H
#define PACC_PLUGIN_OFFLOAD_SPANCODE_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Instructions.h"

namespace pacc {

/// The code of an offloaded region.
///
///     Split -> Start ... Begin ... -> Merge
///       \        \         \            /
///        +--------+---------+-> Fallback: the original loops
struct OffloadedRegion {
  struct Array {
    llvm::CallInst *Place; // the call of __pacc_rt_array(_copies)
    bool Written;
    llvm::Value *host() const { return Place->getArgOperand(2); }
  };
  llvm::CallInst *Begin;
  llvm::CallInst *Worth = nullptr; // the call of __pacc_rt_worth, if any
  llvm::BasicBlock *Split, *Start, *Fallback, *Merge = nullptr;
  llvm::SmallVector<Array, 8> Arrays;
  bool HasCopies = false; // has any array copies for iterations?
};

/// Blocks that are entered at Entry and left to Exit alone, which is outside.
struct Span {
  llvm::BasicBlock *Entry = nullptr, *Exit = nullptr;
  llvm::SetVector<llvm::BasicBlock *> Blocks;
  llvm::SmallVector<const OffloadedRegion *, 8> Regions;
};

/// Copies the blocks, and makes the original ones keep the arrays of their
/// regions on the device. No analysis is kept up to date.
void writeSpan(llvm::Function &F, Span &S, llvm::Constant *Descriptor,
               llvm::DenseSet<const llvm::BasicBlock *> &Handled);

} // namespace pacc

#endif
