//===- RegionPlan.h - From a region to a mapping ----------------*- C++ -*-===//
//
// Asks lib/Poly for a mapping of a region, in several forms: as the program has
// it, with copies of arrays for iterations, with values from before a loop; the
// one of least cost is taken.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_REGIONPLAN_H
#define PACC_PLUGIN_OFFLOAD_REGIONPLAN_H

#include "Offload/AstGen.h"
#include "Options.h"

namespace pacc {

/// Owns what lib/Poly finds of a region.
struct RegionPlan {
  pacc_scop Facts = {};   // as the program has it
  pacc_scop Planned = {}; // the same with copies of arrays for iterations
  pacc_expansions Expansions = {};
  pacc_dependences Deps = {}; // of Planned
  pacc_mapping *Mapping = nullptr;
  llvm::SmallVector<Cell, 4> Cells;
  UpdateMap Updates;   // that may run in any order
  bool Expand = false; // may arrays have copies?
  /// Bands of the schedule before which values are saved, and what that takes:
  /// the reads of Facts, and for each snapshot a statement and an array.
  llvm::SmallVector<unsigned, 2> Places;
  std::vector<polly::MemoryAccess *> Reads;
  pacc_snapshots Snapshots = {};
  std::vector<std::unique_ptr<polly::ScopStmt>> Saves;
  uint64_t Spent = 0; // isl operations on mappings, all of them together

  RegionPlan();
  RegionPlan(const RegionPlan &) = delete;
  RegionPlan &operator=(const RegionPlan &) = delete;
  ~RegionPlan();
  void clear();
};

/// The region in isl's notation: the input of lib/Poly, in the form that its
/// tests read (test/unit/Poly/region.h).
void dumpFacts(const pacc_scop &Facts, llvm::raw_ostream &OS);

/// Why the device can't help, "" if it can. The model is rough, and the sizes
/// are not known: only a hopeless mapping is left out here.
std::string whyHopeless(const pacc_mapping &Mapping);

/// The best plan that keeps the order of updates, unless that leaves them to
/// one thread and another order is better. Arrays get copies for the iterations
/// of loops that they alone keep in order, or loops get the values from before
/// them.
bool planRegion(polly::Scop &S, RegionPlan &P, const Options &Opts);

/// The AST of the region, with several points for each thread where that saves
/// loads and isl does not give up over it.
std::unique_ptr<RegionAst> buildAst(polly::Scop &S, RegionPlan &P,
                                    const Options &Opts);

} // namespace pacc

#endif
