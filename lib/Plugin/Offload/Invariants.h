//===- Invariants.h - Values that stay the same in a loop -------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_INVARIANTS_H
#define PACC_PLUGIN_OFFLOAD_INVARIANTS_H

#include "llvm/IR/PassManager.h"

namespace pacc {

/// Moves loads of whole numbers and of pointers out of loops that don't change
/// them: bounds, row lengths and arrays that stand in memory (`*n`, `g->rows`,
/// `table[i]` as the bound of a loop over j) become values that Polly can take
/// as parameters, and so does what is computed from them. What only inner loops
/// load is loaded under the conditions that they have. Nothing moves that a
/// store of the loop may change. Other loads stay: an array of one element is
/// no problem, and moved arithmetic would be.
void hoistLoads(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

/// Writes `sext %n` as `zext nneg %n` where %n is known not to be negative and
/// the function has a `zext %n`, too: the length of a row of a variable length
/// array is such a zext, and ScalarEvolution takes the two for different
/// values. Returns true if anything changed.
bool unifyExtensions(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

/// Counts the iterations of loops that end where a pointer does, as C++'s over
/// iterators do. The distance of two addresses becomes one unknown number: the
/// conditions under which it is what it seems have numbers of more than 64
/// bits. Returns true if anything changed.
bool countIterations(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace pacc

#endif
