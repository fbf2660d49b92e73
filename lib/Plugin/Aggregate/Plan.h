//===- Plan.h - Which launches are merged, and how far ----------*- C++ -*-===//
//
// Judges every launch of a module against the rules of CUDA's dynamic
// parallelism and chooses its granularity. Changes nothing.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_AGGREGATE_PLAN_H
#define PACC_AGGREGATE_PLAN_H

#include "Aggregate.h"
#include "Runtime.h"
#include "Sites.h"
#include "llvm/ADT/SmallVector.h"

namespace pacc {

struct PlannedSite {
  Site S;
  /// Warp, Block or Grid; meaningless if the site has an obstacle.
  Granularity Level = Granularity::Warp;
  /// Number of its records in its kernel, if Level is Block or Grid.
  unsigned Slot = 0;
  /// Level is Block, and the kernel has launches in loops whose order counts:
  /// records stand in the order of each thread (lib/DeviceRT/rounds.c).
  bool InRounds = false;
  /// Where a launch that is not merged goes, and one that is.
  StreamKind PlainStream = StreamKind::Null;
  StreamKind MergedStream = StreamKind::Null;
  /// Whether the launch has an order with others of its thread.
  bool Ordered = true;
  /// What happens to the launch if CUDA has no room for it.
  Wait IfNoRoom = Wait::Now;
  /// Words of the arguments that are the same for all launches of its kernel
  /// that may be merged with this one, as bits, and the values of all
  /// parameters that are the same.
  uint64_t Same = 0;
  struct SameParameter {
    uint64_t Offset;
    llvm::Value *V;
  };
  llvm::SmallVector<SameParameter, 4> SameParameters;
  /// Size of the blocks along x, y, z and shared memory, if they are the same.
  llvm::SmallVector<llvm::Value *, 4> SameShape;
  /// Why this granularity.
  std::string Why;

  bool isMerged() const { return S.Obstacle.empty(); }

  /// The first version of CUDA's launch interface, which clang uses, refuses
  /// these streams (cudaErrorInvalidValue, CUDA 13).
  bool needsNewInterface() const {
    return S.Stream == StreamKind::Tail ||
           S.Stream == StreamKind::FireAndForget;
  }
  /// Whether a launch that is not merged goes out through the second version.
  bool isRenewed() const {
    return !isMerged() && needsNewInterface() && S.Buffer;
  }
};

std::vector<PlannedSite> planSites(llvm::Module &M,
                                   const AggregateOptions &Options);

} // namespace pacc

#endif
