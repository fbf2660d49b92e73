//===- RegionPlan.cpp - From a region to a mapping ------------------------===//
#include "Offload/RegionPlan.h"

#include "Offload/ArrayNames.h"
#include "Offload/Reductions.h"
#include "Offload/ScopFacts.h"
#include "polly/ScopInfo.h"
#include "polly/Support/GICHelper.h"

using namespace llvm;
using namespace polly;

namespace pacc {

RegionPlan::RegionPlan() = default;

RegionPlan::~RegionPlan() { clear(); }

void RegionPlan::clear() {
  pacc_mapping_free(Mapping);
  Mapping = nullptr;
  pacc_dependences_clear(&Deps);
  pacc_expansions_clear(&Expansions);
  pacc_snapshots_clear(&Snapshots);
  pacc_scop_clear(&Planned);
  pacc_scop_clear(&Facts);
  Reads.clear();
  Saves.clear();
}

void dumpFacts(const pacc_scop &Facts, raw_ostream &OS) {
  auto Line = [&](StringRef Key, char *Text) {
    OS << Key << ": " << Text << '\n';
    free(Text);
  };
  Line("schedule", isl_schedule_to_str(Facts.schedule));
  Line("context", isl_set_to_str(Facts.context));
  Line("sizes", isl_set_to_str(Facts.sizes));
  Line("expected", isl_set_to_str(Facts.expected));
  Line("read", isl_union_map_to_str(Facts.read));
  Line("may_write", isl_union_map_to_str(Facts.may_write));
  Line("must_write", isl_union_map_to_str(Facts.must_write));
  Line("local_read", isl_union_map_to_str(Facts.local_read));
  Line("local_write", isl_union_map_to_str(Facts.local_write));
  Line("reduce", isl_union_map_to_str(Facts.reduce));
}

/// The snapshots of P.Places; -1: there is no such place.
static int findSnapshots(Scop &S, const RegionPlan &P, pacc_snapshots &List) {
  isl::map_list Reads = relationsOf(S, P.Reads);
  for (unsigned Place : P.Places)
    if (pacc_snapshots_add(&List, &P.Facts, Reads.get(), Place))
      return -1;
  return 0;
}

/// Gives \p Snapshot an array of Polly's, and a statement that fills it.
static void bindSnapshot(Scop &S, RegionPlan &P, pacc_snapshot &Snapshot) {
  auto *From = ScopArrayInfo::getFromId(
      isl::manage(isl_space_get_tuple_id(Snapshot.array, isl_dim_set)));
  SmallVector<const SCEV *, 4> Sizes(1, nullptr);
  for (unsigned K = 1; K < Snapshot.n_kept; ++K)
    Sizes.push_back(From->getDimensionSize(Snapshot.kept[K]));
  // Polly knows arrays without a base by their names.
  std::string Name =
      arrayName(*From) + "_before" + std::to_string(range_size(S.arrays()));
  ScopArrayInfo *Saved = S.getOrCreateScopArrayInfo(
      nullptr, From->getElementType(), Sizes, MemoryKind::Array, Name.c_str());
  isl::map Source = isl::manage_copy(Snapshot.source);
  isl::map Target = isl::manage_copy(Snapshot.target)
                        .set_tuple_id(isl::dim::out, Saved->getBasePtrId());
  P.Saves.push_back(
      std::make_unique<ScopStmt>(S, Source, Target, Source.domain()));
  isl_id_free(Snapshot.statement);
  isl_id_free(Snapshot.copy);
  Snapshot.statement = P.Saves.back()->getDomainId().release();
  Snapshot.copy = Saved->getBasePtrId().release();
}

/// Fills in Planned and its dependences.
static bool analyze(RegionPlan &P, const isl::map_list &Reads) {
  if (P.Expand && pacc_expansions_find(&P.Expansions, &P.Facts))
    return false;
  P.Planned = pacc_scop_copy(&P.Facts);
  return !pacc_scop_snapshot(&P.Planned, Reads.get(), &P.Snapshots) &&
         !pacc_scop_expand(&P.Planned, &P.Expansions) &&
         !pacc_dependences_compute(&P.Deps, &P.Planned);
}

/// Plans the region. Scalars whose values cross from one thread or launch to
/// another get a place in memory, and the region is planned again.
static bool makePlan(Scop &S, RegionPlan &P, uint64_t MaxOperations) {
  isl_ctx *Ctx = S.getIslCtx().get();
  // Every round demotes one scalar at least.
  while (true) {
    P.clear();
    P.Facts = describeScop(S, P.Updates);
    P.Reads = readsOf(S);
    {
      Quota Bound(Ctx, MaxOperations, Quota::Questions);
      if (findSnapshots(S, P, P.Snapshots))
        return false;
    }
    for (unsigned I = 0; I < P.Snapshots.n; ++I)
      bindSnapshot(S, P, P.Snapshots.at[I]);
    isl::map_list Reads = relationsOf(S, P.Reads);
    isl::union_set Crossing;
    {
      Quota Bound(Ctx, MaxOperations, Quota::Questions);
      if (!analyze(P, Reads))
        return false;
    }
    {
      Quota Bound(Ctx, MaxOperations, Quota::Plans);
      P.Mapping = pacc_mapping_compute(&P.Planned, &P.Deps);
      if (!P.Mapping || pacc_mapping_separate(P.Mapping, &P.Snapshots))
        return false;
      Crossing = isl::manage(
          pacc_mapping_crossing_scalars(P.Mapping, &P.Planned, &P.Deps));
      if (Crossing.is_null())
        return false;
      P.Spent += Bound.used();
    }
    if (Crossing.is_empty())
      return true;
    for (isl::set Scalar : Crossing.get_set_list()) {
      P.Cells.push_back(
          demoteToMemory(S, ScopArrayInfo::getFromId(Scalar.get_tuple_id())));
      Quota Bound(Ctx, MaxOperations, Quota::Questions);
      dropDeadWrites(S, P.Cells.back(), /*Escapes=*/false);
    }
  }
}

/// Does the kernel do anything but save values?
static bool computes(const pacc_kernel_plan &Kernel) {
  for (isl::set Set : isl::manage_copy(Kernel.domain).get_set_list())
    if (!static_cast<ScopStmt *>(Set.get_tuple_id().get_user())->isCopyStmt())
      return true;
  return false;
}

std::string whyHopeless(const pacc_mapping &Mapping) {
  const double Hopeless = 50;
  bool Parallel = false;
  for (unsigned K = 0; K < Mapping.n_kernels; ++K)
    Parallel |= Mapping.kernels[K].n_dims > 0 && computes(Mapping.kernels[K]);
  if (!Parallel)
    return "it has no parallel loop";
  if (Mapping.host_cost > 0 && Mapping.cost > Hopeless * Mapping.host_cost)
    return "its dependences leave too many small kernels: about " +
           std::to_string(int64_t(Mapping.cost / Mapping.host_cost)) +
           " times the time of the host's loops";
  return "";
}

/// Do threads do updates one after the other that others could do beside them?
static bool hasSequentialUpdates(const pacc_mapping &Mapping,
                                 const UpdateMap &Updates) {
  const double Many = 32; // instances of a thread
  for (unsigned K = 0; K < Mapping.n_kernels; ++K) {
    const pacc_kernel_plan &Kernel = Mapping.kernels[K];
    if (Kernel.n_dims > 0 && Kernel.work < Many * pacc_kernel_threads(&Kernel))
      continue;
    for (isl::set Set : isl::manage_copy(Kernel.domain).get_set_list())
      for (auto &[Operation, Stmt] : Updates)
        if (Set.get_tuple_id().get_user() == Stmt)
          return true;
  }
  return false;
}

/// Seconds by the rough model; infinity for what is not offloaded.
static double costOf(const RegionPlan &P) {
  return whyHopeless(*P.Mapping).empty()
             ? P.Mapping->cost
             : std::numeric_limits<double>::infinity();
}

/// Does the host launch a kernel again and again, or one without a grid?
static bool isSequential(const pacc_mapping &Mapping) {
  for (unsigned K = 0; K < Mapping.n_kernels; ++K)
    if (Mapping.kernels[K].host || Mapping.kernels[K].n_dims == 0)
      return true;
  return false;
}

/// Plans anew with copies of arrays, if that gives a better plan.
static bool planWithCopies(Scop &S, RegionPlan &P, uint64_t MaxOperations) {
  isl_ctx *Ctx = S.getIslCtx().get();
  {
    Quota Bound(Ctx, MaxOperations, Quota::Questions);
    pacc_expansions Some;
    bool Any = !pacc_expansions_find(&Some, &P.Facts) && Some.n > 0;
    pacc_expansions_clear(&Some);
    isl_ctx_reset_error(Ctx);
    if (!Any)
      return true;
  }
  // Copies take memory and traffic that the model does not know of.
  const double Gain = 2;
  double Cost = costOf(P);
  P.Expand = true;
  if (makePlan(S, P, MaxOperations) && P.Expansions.n > 0 &&
      Gain * costOf(P) < Cost)
    return true;
  isl_ctx_reset_error(Ctx);
  P.Expand = false;
  return makePlan(S, P, MaxOperations);
}

/// Would values be saved at the last of P.Places, too? -1: there is no such
/// place.
static int savesMore(Scop &S, const RegionPlan &P, uint64_t MaxOperations) {
  isl_ctx *Ctx = S.getIslCtx().get();
  pacc_snapshots List = {};
  int Result;
  {
    Quota Bound(Ctx, MaxOperations, Quota::Questions);
    Result = findSnapshots(S, P, List) ? -1 : List.n > P.Snapshots.n;
  }
  pacc_snapshots_clear(&List);
  isl_ctx_reset_error(Ctx);
  return Result;
}

/// Plans anew with values from before loops, wherever that gives a better plan:
/// iterations need not wait then until others have read what they overwrite.
/// Regions without launches in loops get none, and what took long to plan is
/// not tried again and again.
static bool planWithSnapshots(Scop &S, RegionPlan &P, uint64_t MaxOperations) {
  const double Gain = 1.1;
  double Cost = costOf(P);
  const bool Sequential = isSequential(*P.Mapping);
  bool Current = true;
  for (unsigned Place = 0;; ++Place) {
    if (!Current && !makePlan(S, P, MaxOperations))
      return false;
    Current = true;
    if (MaxOperations && P.Spent > MaxOperations)
      return true;
    P.Places.push_back(Place);
    int More = savesMore(S, P, MaxOperations);
    Current = More <= 0;
    if (More > 0 && makePlan(S, P, MaxOperations) && Gain * costOf(P) < Cost &&
        (Sequential || !isSequential(*P.Mapping))) {
      Cost = costOf(P);
      Current = true;
      continue;
    }
    isl_ctx_reset_error(S.getIslCtx().get());
    P.Places.pop_back();
    if (More < 0)
      return true;
  }
}

bool planRegion(Scop &S, RegionPlan &P, const Options &Opts) {
  const uint64_t MaxOperations = Opts.MaxOperations;
  for (const ScopArrayInfo *Scalar : scalarsThatEscape(S)) {
    P.Cells.push_back(demoteToMemory(S, Scalar));
    Quota Bound(S.getIslCtx().get(), MaxOperations, Quota::Questions);
    dropDeadWrites(S, P.Cells.back(), /*Escapes=*/true);
  }
  if (!makePlan(S, P, MaxOperations))
    return false;
  // In managed memory kernels work on the program's own arrays.
  if (Opts.Memory != "managed" && isSequential(*P.Mapping) &&
      !planWithCopies(S, P, MaxOperations))
    return false;
  if (!P.Expansions.n && !planWithSnapshots(S, P, MaxOperations))
    return false;
  UpdateMap Updates = findUpdates(S);
  if (Updates.empty() || !hasSequentialUpdates(*P.Mapping, Updates))
    return true;
  // The model does not know of atomic operations.
  const double Gain = 2;
  double Cost = costOf(P);
  P.Updates = Updates;
  if (makePlan(S, P, MaxOperations) && Gain * costOf(P) < Cost)
    return true;
  P.Updates.clear();
  return makePlan(S, P, MaxOperations);
}

static bool hasTiles(const pacc_mapping &Mapping) {
  for (unsigned K = 0; K < Mapping.n_kernels; ++K)
    if (Mapping.kernels[K].tile > 1)
      return true;
  return false;
}

std::unique_ptr<RegionAst> buildAst(Scop &S, RegionPlan &P,
                                    const Options &Opts) {
  isl_ctx *Ctx = S.getIslCtx().get();
  unsigned Tile = 0; // auto
  StringRef(Opts.ThreadTile).getAsInteger(10, Tile);
  bool Tiled;
  {
    Quota Bound(Ctx, Opts.MaxOperations, Quota::Questions);
    Tiled = !pacc_mapping_tile(P.Mapping, &P.Planned, Tile);
  }
  if (Tiled)
    if (auto Region = buildRegionAst(S, P, Opts.MaxOperations))
      return Region;
  if (Tiled && !hasTiles(*P.Mapping))
    return nullptr;
  isl_ctx_reset_error(Ctx);
  return makePlan(S, P, Opts.MaxOperations)
             ? buildRegionAst(S, P, Opts.MaxOperations)
             : nullptr;
}

} // namespace pacc
