//===- ScopFacts.h - What Polly knows of a region ---------------*- C++ -*-===//
//
// Turns a polly::Scop into the plain isl objects of pacc/poly.h, and says in
// advance whether code can be generated for it: after acceptance nothing may
// fail any more.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_SCOPFACTS_H
#define PACC_PLUGIN_OFFLOAD_SCOPFACTS_H

#include "pacc/poly.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringRef.h"
#include "isl/isl-noexceptions.h"
#include <string>
#include <vector>

namespace llvm {
class CallInst;
class DebugLoc;
class Instruction;
} // namespace llvm

namespace polly {
class MemoryAccess;
class Scop;
class ScopArrayInfo;
class ScopStmt;
} // namespace polly

namespace pacc {

/// Why a region stays on the host, and where.
struct Rejection {
  std::string Reason;
  const llvm::Instruction *Where = nullptr;
};

/// The name of the libdevice function for a call of the C library or of a
/// mathematical intrinsic, "" if the device has an instruction for it, nullopt
/// if the device can't do it.
std::optional<std::string> deviceFunctionFor(const llvm::CallInst &Call);

/// "gemm.c:42", or "" if there is no debug information.
std::string placeInSource(const llvm::DebugLoc &Loc);

/// Can the kernels of \p S be generated?
std::optional<Rejection> checkScop(polly::Scop &S);

/// Scalars that are defined and used in the region, and need a place in memory
/// whatever the mapping: their value comes from before the region or is used
/// after it.
llvm::SetVector<const polly::ScopArrayInfo *> scalarsThatEscape(polly::Scop &S);

/// A scalar that lives in memory, as element 0 of an array of its own.
struct Cell {
  const polly::ScopArrayInfo *Scalar;
  polly::ScopArrayInfo *Array;
};

/// Makes all accesses of the scalar accesses of a new array.
Cell demoteToMemory(polly::Scop &S, const polly::ScopArrayInfo *Scalar);

/// Takes away the writes of \p C that nobody sees, so that they keep no
/// iterations in order: of `x = a[i]` that is used after a loop, all but the
/// last. \p Escapes: the last value is used after the region.
void dropDeadWrites(polly::Scop &S, const Cell &C, bool Escapes);

/// Moves values of scalars into array elements that hold nothing else at the
/// time, and computes them where they are used (Polly's DeLICM and operand
/// tree forwarding). Fewer scalars mean fewer dependences.
void removeScalars(polly::Scop &S);

/// A scalar whose value is defined before the region: an argument of kernels.
bool isReadOnlyScalar(const polly::ScopArrayInfo *SAI, polly::Scop &S);

/// What the run-time check guarantees about the parameters, as a convex set.
isl::set checkedContext(polly::Scop &S);

/// Operations that update an element of an array, and their statements.
using UpdateMap = llvm::MapVector<llvm::Instruction *, polly::ScopStmt *>;

/// The reads of arrays in \p S, and their relations: pacc_scop's, one by one.
std::vector<polly::MemoryAccess *> readsOf(polly::Scop &S);
isl::map_list relationsOf(polly::Scop &S,
                          llvm::ArrayRef<polly::MemoryAccess *> Accesses);

/// The description that lib/Poly plans with. \p Updates may run in any order.
pacc_scop describeScop(polly::Scop &S, const UpdateMap &Updates);

} // namespace pacc

#endif
