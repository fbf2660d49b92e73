//===- Reductions.h - Updates in any order ----------------------*- C++ -*-===//
//
// `s += x` and its kin: s may get its values in any order, and from many
// threads. Prepare brings values that a whole loop nest carries into memory,
// ScopFacts finds the statements that update an element, lib/Poly plans with
// them, and in a kernel whose threads share elements they become atomic here.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_REDUCTIONS_H
#define PACC_PLUGIN_OFFLOAD_REDUCTIONS_H

#include "Offload/ScopFacts.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class DominatorTree;
class Instruction;
class PHINode;
class SelectInst;
class Value;
} // namespace llvm

namespace pacc {

/// If \p Join or \p Select is a value that was updated on some ways to it,
/// updates it there on all ways: with what changes nothing on the others.
/// Returns false and changes nothing if it is none.
bool makeUnconditional(llvm::PHINode &Join, llvm::DominatorTree &DT);
bool makeUnconditional(llvm::SelectInst &Select);

/// Moves values that an outermost loop carries by such operations alone into
/// stack slots. What is not offloaded comes back into registers later on.
/// Returns true if anything changed.
bool demoteReductions(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

/// The operations of \p S whose results replace the array element that they
/// read; all those of an array are of one kind, and what their statements read
/// of it besides are other elements.
UpdateMap findUpdates(polly::Scop &S);

/// Is there a sum or product of floating-point numbers whose order is fixed?
bool hasOrderedSum(const polly::Scop &S);

/// Who updates an element: one thread, several, or all that differ in x only.
enum class UpdateKind { Own, Shared, Row };

/// Marks an operation for makeUpdatesAtomic, or takes its mark away.
void markUpdate(llvm::Instruction &Operation, UpdateKind Kind);

/// Makes the marked updates of \p Kernel atomic. Where all threads update one
/// element, each collects its values first, and warps combine theirs; where
/// those along x do, warps combine the values of each update.
void makeUpdatesAtomic(llvm::Function &Kernel);

} // namespace pacc

#endif
