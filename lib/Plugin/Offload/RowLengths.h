//===- RowLengths.h - Rows as long as some unknown value --------*- C++ -*-===//
//
// Polly finds the subscripts of arrays whose rows are as long as some unknown
// value, and is right about them only then. Other lengths are hidden from
// ScalarEvolution: the run-time check compares them with the bounds.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_ROWLENGTHS_H
#define PACC_PLUGIN_OFFLOAD_ROWLENGTHS_H

#include "llvm/IR/PassManager.h"

namespace llvm {
class Region;
class SCEV;
class ScalarEvolution;
} // namespace llvm

namespace polly {
class ScopDetection;
} // namespace polly

namespace pacc {

/// Hides lengths max(n, 0), as they are in Fortran. Returns true if anything
/// changed.
bool hideExtents(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

/// Polly moves an inner subscript that is negative by one row
/// (MemoryAccess::foldAccessRelation), and takes the first parameter of the
/// row's length for its length: n for n - 1. Can that happen to \p Subscript?
bool mayBeFoldedWrongly(const llvm::SCEV *Subscript, const llvm::SCEV *Length,
                        llvm::ScalarEvolution &SE);

/// Hides the lengths of \p R's arrays by which Polly would move a subscript
/// wrongly. Returns true if anything changed.
bool hideLengths(const llvm::Region &R, polly::ScopDetection &SD,
                 llvm::ScalarEvolution &SE);

} // namespace pacc

#endif
