//===- Aggregate.h - Merging of device-side launches ------------*- C++ -*-===//
//
// CUDA kernels that launch kernels (dynamic parallelism) do so with thousands
// of small launches. The pass polly-acc-agg merges the launches of a warp, of
// a block or of a whole grid into one. It works on device modules (nvptx64)
// and leaves others alone.
//
// Files: Sites (finding and judging launches), Streams (streams made for one
// launch), Plan (what is merged, and how far), Child (aggregated versions of
// kernels), Runtime (linking lib/DeviceRT), Rewrite (changing launches), Pass
// (passes, options, remarks).
//
//===----------------------------------------------------------------------===//
#ifndef PACC_AGGREGATE_AGGREGATE_H
#define PACC_AGGREGATE_AGGREGATE_H

#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace llvm {
class PassBuilder;
} // namespace llvm

namespace pacc {

enum class Granularity { Auto, Warp, Block, Grid };
enum class Siblings { Independent, Serialized };

llvm::StringRef toString(Granularity G);

struct AggregateOptions {
  Granularity Level = Granularity::Auto;
  /// Whether launches of different threads into a block's NULL stream may
  /// run in any order (and at once).
  Siblings Order = Siblings::Independent;
  /// Whether the kernels of other files are merged too, and this file's kernels
  /// get aggregated versions for them. All files have to agree.
  bool OtherFiles = false;
  /// Bytes of device memory for records; a power of two, 1M to 4G.
  uint64_t Pool = 64u << 20;

  /// Parses `granularity=grid;pool=64M;siblings=serialized;other-files`.
  static llvm::Expected<AggregateOptions> parse(llvm::StringRef Parameters);
  void print(llvm::raw_ostream &OS) const;
};

/// polly-acc-agg: merges launches.
class AggregatePass : public llvm::PassInfoMixin<AggregatePass> {
public:
  explicit AggregatePass(AggregateOptions Options) : Options(Options) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
  void printPipeline(llvm::raw_ostream &OS,
                     llvm::function_ref<llvm::StringRef(llvm::StringRef)> Map);

private:
  AggregateOptions Options;
};

/// print<polly-acc-agg-sites>: prints every launch and what would be done.
class AggregateSitesPrinter
    : public llvm::PassInfoMixin<AggregateSitesPrinter> {
public:
  AggregateSitesPrinter(AggregateOptions Options, llvm::raw_ostream &OS)
      : Options(Options), OS(OS) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
  void printPipeline(llvm::raw_ostream &OS,
                     llvm::function_ref<llvm::StringRef(llvm::StringRef)> Map);

private:
  AggregateOptions Options;
  llvm::raw_ostream &OS;
};

/// Registers both passes by name, and the first at the start of the
/// optimisation pipeline if -polly-acc-agg is given.
void registerAggregatePasses(llvm::PassBuilder &PB);

} // namespace pacc

#endif
