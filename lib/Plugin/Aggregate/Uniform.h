//===- Uniform.h - Arguments that all launches share ------------*- C++ -*-===//
//
// Arguments that all threads of a grid pass alike are kept once per merged
// launch (KLAP: El Hajj et al., MICRO 2016, section 4.4): constants, the
// parameters of the kernel that launches, and what is computed from those.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_AGGREGATE_UNIFORM_H
#define PACC_AGGREGATE_UNIFORM_H

#include "Sites.h"
#include "llvm/ADT/SmallVector.h"

namespace pacc {

/// The value that a launch stores for each parameter of its kernel, or null if
/// it comes in pieces or is copied from memory.
llvm::SmallVector<llvm::Value *> passedValues(const Site &S);

/// What a launch takes for its blocks' size along x, y and z and for shared
/// memory, null where it is not known.
llvm::SmallVector<llvm::Value *, 4> passedShape(const Site &S);

/// Whether V has one value in all threads of a grid and can be computed again
/// anywhere: made of constants and, if `WithParameters`, of parameters.
bool isSameInGrid(const llvm::Value &V, bool WithParameters);

/// The words of 8 bytes of the argument buffer in which all parameters are the
/// same, as bits. `IsSame` has a flag per parameter, and loses those that share
/// words with others that are not the same.
uint64_t sameWords(const llvm::Function &Kernel,
                   llvm::SmallVectorImpl<bool> &IsSame);

/// Bytes in front of a byte of the argument buffer when the words of `Same` are
/// left out.
uint64_t packedOffset(uint64_t Offset, uint64_t Same);

} // namespace pacc

#endif
