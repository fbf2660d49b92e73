//===- Streams.h - Streams that a thread makes for one launch ---*- C++ -*-===//
//
//   cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
//   kernel<<<grid, block, shared, stream>>>(...);
//   cudaStreamDestroy(stream);
//
// Nothing else is in such a stream, so that it orders nothing.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_AGGREGATE_STREAMS_H
#define PACC_AGGREGATE_STREAMS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include <optional>

namespace pacc {

/// Where a stream is made, read and destroyed.
struct PrivateStream {
  llvm::CallBase *Create = nullptr;
  llvm::SmallVector<llvm::CallBase *, 2> Destroys;
  llvm::SmallVector<llvm::LoadInst *, 2> Loads;

  /// Removes the stream. The launch gets the NULL stream.
  void erase();
};

/// The stream of `Launch` if it is made for this launch alone: each stream gets
/// one launch, and its handle is not seen by anyone else.
std::optional<PrivateStream> privateStreamOf(const llvm::CallBase &Launch);

/// True for functions of the toolkit's headers that do nothing but make or
/// destroy a stream.
bool isStreamCall(const llvm::CallBase &Call);

} // namespace pacc

#endif
