//===- Subscripts.h - Subscripts of arrays of fixed size --------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_SUBSCRIPTS_H
#define PACC_PLUGIN_OFFLOAD_SUBSCRIPTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/ValueHandle.h"

namespace pacc {

/// The front end writes A[i][j] of an array with rows of fixed size as a chain
/// of GEPs whose types show the rows. InstCombine turns the chain into byte
/// offsets, and Polly then sees one subscript with divisions. So the rows are
/// remembered before canonicalisation and every access is written as a single
/// `gep [M x T], A, i, j` after it.
class Subscripts {
public:
  /// Remembers the row type of every base pointer of \p F.
  explicit Subscripts(llvm::Function &F);

  /// Rewrites the accesses of \p F; returns true if anything changed. A wrong
  /// guess of how a constant offset splits over the subscripts changes no
  /// address, and Polly's run-time check of the subscripts' ranges finds it.
  bool restore(llvm::Function &F) const;

private:
  bool restoreAccess(llvm::Instruction &Access) const;
  llvm::SmallVector<std::pair<llvm::WeakTrackingVH, llvm::Type *>, 8> Rows;
};

} // namespace pacc

#endif
