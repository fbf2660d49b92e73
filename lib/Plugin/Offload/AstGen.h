//===- AstGen.h - isl ASTs of a mapped region -------------------*- C++ -*-===//
//
// Everything of a region that isl has to compute before code is generated: the
// AST of its schedule, the size of every launch, and the copies of every array
// as expressions in the region's parameters.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_ASTGEN_H
#define PACC_PLUGIN_OFFLOAD_ASTGEN_H

#include "Offload/Blocks.h"
#include "Offload/ScopFacts.h"
#include "pacc/poly.h"
#include "polly/Support/GICHelper.h"
#include "llvm/ADT/MapVector.h"
#include "isl/isl-noexceptions.h"
#include <memory>
#include <vector>

namespace polly {
class MemoryAccess;
class Scop;
class ScopArrayInfo;
class ScopStmt;
} // namespace polly

namespace pacc {

/// One place in the AST where the host launches a kernel: along each dimension
/// of the grid the smallest coordinate and the number of threads.
struct LaunchAst {
  const pacc_kernel_plan *Plan = nullptr;
  KernelWork Work;
  isl::union_map SharedUpdates; // { Stmt[i] -> Array[j] }
  isl::union_map RowUpdates;    // those of one element by all threads along x
  isl::union_set Instances;     // that it executes, at any time
  /// Arrays of which no two points of a thread's tile touch the same element.
  llvm::SmallVector<const polly::ScopArrayInfo *, 4> Apart;
  std::vector<isl::ast_expr> First;
  std::vector<isl::ast_expr> Threads;
  /// Is no more than one block for each of MaxBlocks threads ever needed?
  std::vector<bool> FitsGrid;
  static constexpr int64_t MaxBlocks = 65535; // along y and z
};

/// A hull of array elements as addresses. When: is there any element? First and
/// Last: the first and the last element. A box of two dimensions has RowEnd,
/// the last element of the first row, NextRow, the first element of the second
/// one, and the number of Rows.
struct ExtentAst {
  isl::ast_expr When, First, Last, RowEnd, NextRow, Rows;
  bool isBox() const { return !Rows.is_null(); }
};

/// The product of its extents.
using BoxAst = std::vector<isl::ast_expr>;

/// How much a kernel has to do in a whole region (pacc_kernel_size).
struct SizeAst {
  BoxAst Launches, Threads;
  std::vector<BoxAst> Instances;
  unsigned Loop = 0; // 1, 2, ...: that one kernel can run
};

struct ArrayAst {
  const polly::ScopArrayInfo *SAI = nullptr;
  ExtentAst Touched, In, Out;
  bool HasIn = false, HasOut = false;
  /// See pacc_array_plan.
  bool Maybe = false, Changes = false, InIsOut = false;
  /// Of an array that iterations have copies of (pacc_expansion): along each
  /// loop how many, and the last iteration; { Stmt[i] -> iteration }.
  std::vector<isl::ast_expr> Counts, Last;
  isl::union_map Iteration;
  bool hasCopies() const { return !Counts.empty(); }
  /// Values from before a loop: on the device only.
  bool Scratch = false;
};

/// A read that takes values from before a loop: for which instances, and where
/// an element's value is, { Array[j] -> Saved[k] }.
struct SavedRead {
  isl::union_set Instances;
  isl::map Index;
  const polly::ScopArrayInfo *Saved;
};
using SavedReads = llvm::MapVector<const polly::MemoryAccess *,
                                   llvm::SmallVector<SavedRead, 1>>;

/// A loop of the host that one kernel can run. Phases are in the order of the
/// mapping's kernels.
struct LoopAst {
  const pacc_loop_plan *Plan = nullptr;
  std::vector<pacc_phase_plan> Phases;
  std::string WhyNot; // no kernel can run it
};

struct RegionAst {
  isl::ast_node Root;
  const pacc_mapping *Mapping = nullptr;
  isl::ast_expr RunCondition;
  /// Those with copies for iterations last; or those of saved values, if any.
  std::vector<ArrayAst> Arrays;
  SavedReads Saved;
  UpdateMap Updates; // that may run in any order
  std::vector<std::unique_ptr<LaunchAst>> Launches;
  std::vector<LoopAst> Loops; // those of the mapping
  /// One for each kernel, or none if they are not known.
  std::vector<SizeAst> Sizes;

  /// The launch that \p Mark stands for, or null.
  static const LaunchAst *launchOf(const isl::ast_node &Mark);
  /// What of the read's values \p Instances find in a copy; null: none.
  const SavedRead *savedFor(const polly::MemoryAccess *MA,
                            const isl::union_set &Instances) const;
  /// The loop that \p Mark stands for, or null.
  const LoopAst *loopOf(const isl::ast_node &Mark) const;
};

/// Bounds what isl may do within a scope. Polly's own C++ calls of isl must
/// stay outside: they do not expect failures.
class Quota {
public:
  /// What solves integer programs (who wrote a value last, where an array's
  /// accesses begin) takes ten times as long for an operation as what makes
  /// plans, so that it gets fewer: Extents for each array.
  enum Share : unsigned { Plans = 1, Asts = 4, Questions = 6, Extents = 16 };

  Quota(isl_ctx *Ctx, uint64_t MaxOperations, Share Part)
      : Ctx(Ctx),
        Most(MaxOperations ? std::max<uint64_t>(MaxOperations / Part, 1) : 0) {
    isl_ctx_reset_operations(Ctx);
    isl_ctx_set_max_operations(Ctx, Most);
  }
  ~Quota() { isl_ctx_set_max_operations(Ctx, 0); }

  /// About how many operations there were until now; resets isl's error.
  uint64_t used() const;

private:
  isl_ctx *Ctx;
  uint64_t Most;
};

struct RegionPlan;

/// nullptr: isl gave up, or needs more than \p MaxOperations.
std::unique_ptr<RegionAst>
buildRegionAst(polly::Scop &S, const RegionPlan &Plan, uint64_t MaxOperations);

} // namespace pacc

#endif
