//===- AstGen.cpp - isl ASTs of a mapped region ---------------------------===//
#include "Offload/AstGen.h"

#include "Offload/RegionPlan.h"
#include "polly/CodeGen/IslAst.h"
#include "polly/ScopInfo.h"
#include "isl/ast_build.h"
#include "isl/options.h"
#include <cstring>

using namespace llvm;
using namespace polly;

namespace pacc {

namespace {

/// State of the callbacks of isl's AST generator.
struct Generator {
  RegionAst &Region;
  const pacc_scop &Facts;
  const pacc_dependences &Deps;
  std::vector<LaunchAst *> Open;
  bool Failed = false;
};

} // namespace

static isl_pw_aff *addConstant(isl_pw_aff *Aff, long Value) {
  isl_set *Domain = isl_pw_aff_domain(isl_pw_aff_copy(Aff));
  isl_val *Constant = isl_val_int_from_si(isl_pw_aff_get_ctx(Aff), Value);
  return isl_pw_aff_add(Aff, isl_pw_aff_val_on_domain(Domain, Constant));
}

static const pacc_kernel_plan *planOf(isl_id *Mark) {
  if (strcmp(isl_id_get_name(Mark), PACC_KERNEL_MARK) != 0)
    return nullptr;
  return static_cast<const pacc_kernel_plan *>(isl_id_get_user(Mark));
}

/// Expressions for the smallest value and the number of values of \p Dim in the
/// current iteration of the host's loops.
static bool addExtent(LaunchAst &Launch, isl_union_pw_aff *Dim,
                      const pacc_kernel_plan &Plan, isl_set *Context,
                      isl_ast_build *Build) {
  isl_union_map *Outer = isl_ast_build_get_schedule(Build);
  Outer =
      isl_union_map_intersect_domain(Outer, isl_union_set_copy(Plan.domain));
  isl_union_map *Coordinate =
      isl_union_map_from_union_pw_aff(isl_union_pw_aff_copy(Dim));
  isl_map *Map = isl_map_from_union_map(
      isl_union_map_apply_range(isl_union_map_reverse(Outer), Coordinate));
  pacc_range Range;
  if (pacc_range_compute(&Range, Map, 0))
    return false;
  Launch.FitsGrid.push_back(
      pacc_range_is_at_most(&Range, Context, LaunchAst::MaxBlocks));
  Launch.First.push_back(
      isl::manage(isl_ast_build_expr_from_pw_aff(Build, Range.first)));
  Launch.Threads.push_back(
      isl::manage(isl_ast_build_expr_from_pw_aff(Build, Range.count)));
  return !Launch.First.back().is_null() && !Launch.Threads.back().is_null();
}

/// isl may write a kernel more than once, for parts of its instances: under
/// different conditions, or of different statements. A thread keeps local
/// scalars in registers, so that no value of one may go from part to part.
static bool isTakenApart(const RegionAst &Region, LaunchAst &Launch,
                         const pacc_dependences &Deps, isl_ast_build *Build) {
  isl::union_map Flow = isl::manage_copy(Deps.local_flow);
  Launch.Instances = isl::manage(isl_ast_build_get_schedule(Build))
                         .domain()
                         .intersect(isl::manage_copy(Launch.Plan->domain));
  auto Passes = [&](const isl::union_set &From, const isl::union_set &To) {
    return !Flow.intersect_domain(From)
                .intersect_range(To)
                .is_empty()
                .is_true();
  };
  return any_of(Region.Launches, [&](auto &Other) {
    return Other.get() != &Launch && Other->Plan == Launch.Plan &&
           (Passes(Other->Instances, Launch.Instances) ||
            Passes(Launch.Instances, Other->Instances));
  });
}

static void findApart(LaunchAst &Launch, const pacc_scop &Facts) {
  if (Launch.Plan->tile == 1)
    return;
  isl::union_set Elements =
      isl::manage_copy(Launch.Plan->domain)
          .apply(isl::manage_copy(Facts.read)
                     .unite(isl::manage_copy(Facts.may_write)));
  for (isl::set Array : Elements.get_set_list())
    if (pacc_tile_keeps_apart(Launch.Plan, &Facts, Array.get_space().get()))
      Launch.Apart.push_back(ScopArrayInfo::getFromId(Array.get_tuple_id()));
}

static isl_stat beforeMark(isl_id *Mark, isl_ast_build *Build, void *User) {
  auto &G = *static_cast<Generator *>(User);
  const pacc_kernel_plan *Plan = planOf(Mark);
  if (!Plan)
    return isl_stat_ok;
  G.Region.Launches.push_back(std::make_unique<LaunchAst>());
  LaunchAst &Launch = *G.Region.Launches.back();
  Launch.Plan = Plan;
  Launch.Work = describeWork(*Plan, G.Facts);
  Launch.SharedUpdates =
      isl::manage(pacc_kernel_shared_updates(Plan, &G.Facts));
  Launch.RowUpdates =
      isl::manage(pacc_kernel_row_updates(Plan, Launch.SharedUpdates.get()));
  if (Launch.RowUpdates.is_null() ||
      isTakenApart(G.Region, Launch, G.Deps, Build))
    G.Failed = true;
  else
    Launch.Work.Combine = !Launch.RowUpdates.is_empty();
  findApart(Launch, G.Facts);
  for (unsigned D = 0; D < Plan->n_dims; ++D)
    if (!addExtent(Launch, Plan->dim[D], *Plan, G.Facts.context, Build)) {
      G.Failed = true;
      return isl_stat_error;
    }
  G.Open.push_back(&Launch);
  return isl_stat_ok;
}

static isl_ast_node *afterMark(isl_ast_node *Node, isl_ast_build *Build,
                               void *User) {
  auto &G = *static_cast<Generator *>(User);
  isl_id *Mark = isl_ast_node_mark_get_id(Node);
  if (planOf(Mark)) {
    isl_ctx *Ctx = isl_ast_node_get_ctx(Node);
    Node = isl_ast_node_set_annotation(
        Node, isl_id_alloc(Ctx, "pacc_launch", G.Open.back()));
    G.Open.pop_back();
  }
  isl_id_free(Mark);
  return Node;
}

static void freePayload(void *Payload) {
  delete static_cast<IslAstInfo::IslAstUserPayload *>(Payload);
}

/// Does each read of the statement find all values in the same array?
static bool isUniform(const RegionAst &Region, isl_ast_node *User,
                      isl_ast_build *Build) {
  isl::ast_expr Call = isl::manage(isl_ast_node_user_get_expr(User));
  isl::id Id = isl::manage(isl_ast_expr_get_op_arg(Call.get(), 0)).get_id();
  isl::union_set Executed =
      isl::manage(isl_ast_build_get_schedule(Build)).domain();
  for (const MemoryAccess *MA : *static_cast<ScopStmt *>(Id.get_user()))
    if (auto Saved = Region.Saved.find(MA); Saved != Region.Saved.end())
      for (const SavedRead &Read : Saved->second)
        if (!Executed.is_subset(Read.Instances) &&
            !Executed.is_disjoint(Read.Instances))
          return false;
  return true;
}

static isl_ast_node *atEachDomain(isl_ast_node *Node, isl_ast_build *Build,
                                  void *User) {
  auto &G = *static_cast<Generator *>(User);
  G.Failed |= !isUniform(G.Region, Node, Build);
  // Polly's builders look for the build of a statement here.
  auto *Payload = new IslAstInfo::IslAstUserPayload();
  Payload->Build = isl::manage_copy(Build);
  isl_id *Id = isl_id_alloc(isl_ast_node_get_ctx(Node), "", Payload);
  Id = isl_id_set_free_user(Id, freePayload);
  return isl_ast_node_set_annotation(Node, Id);
}

const SavedRead *RegionAst::savedFor(const MemoryAccess *MA,
                                     const isl::union_set &Instances) const {
  auto Reads = Saved.find(MA);
  if (Reads != Saved.end())
    for (const SavedRead &Read : Reads->second)
      if (Instances.is_subset(Read.Instances))
        return &Read;
  return nullptr;
}

const LoopAst *RegionAst::loopOf(const isl::ast_node &Mark) const {
  isl::id Id = isl::manage(isl_ast_node_mark_get_id(Mark.get()));
  if (Id.get_name() != PACC_LOOP_MARK)
    return nullptr;
  auto *Plan = static_cast<const pacc_loop_plan *>(Id.get_user());
  return &Loops[Plan - Mapping->loops];
}

const LaunchAst *RegionAst::launchOf(const isl::ast_node &Mark) {
  isl_id *Id = isl_ast_node_get_annotation(Mark.get());
  auto *Launch = Id ? static_cast<LaunchAst *>(isl_id_get_user(Id)) : nullptr;
  isl_id_free(Id);
  return Launch;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

uint64_t Quota::used() const {
  // isl counts, but does not tell: look for the limit that stops it.
  uint64_t Low = 0, High = Most;
  if (isl_ctx_last_error(Ctx) == isl_error_quota)
    Low = High;
  while (Low < High) {
    uint64_t Middle = Low + (High - Low + 1) / 2;
    isl_ctx_set_max_operations(Ctx, Middle);
    if (isl_val *Value = isl_val_zero(Ctx)) {
      isl_val_free(Value);
      High = Middle - 1;
    } else {
      Low = Middle;
    }
  }
  isl_ctx_reset_error(Ctx);
  isl_ctx_set_max_operations(Ctx, Most);
  return Low;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static isl::ast_expr addressOf(const isl::ast_build &Build,
                               isl_pw_multi_aff *Element) {
  isl_ast_expr *Access =
      isl_ast_build_access_from_pw_multi_aff(Build.get(), Element);
  return isl::manage(isl_ast_expr_address_of(Access));
}

/// The element in row \p Row (plus \p Offset) of \p RowOf and in the column of
/// \p ColumnOf.
static isl_pw_multi_aff *combine(isl_pw_multi_aff *RowOf, int Offset,
                                 isl_pw_multi_aff *ColumnOf) {
  isl_pw_aff *Row = isl_pw_multi_aff_get_pw_aff(RowOf, 0);
  Row = addConstant(Row, Offset);
  isl_pw_multi_aff *Element = isl_pw_multi_aff_copy(ColumnOf);
  return isl_pw_multi_aff_set_pw_aff(Element, 0, Row);
}

static bool buildExtent(ExtentAst &Ast, const pacc_extent &Extent,
                        const isl::ast_build &Build) {
  Ast.When = isl::manage(
      isl_ast_build_expr_from_set(Build.get(), isl_set_copy(Extent.when)));
  Ast.First = addressOf(Build, isl_pw_multi_aff_copy(Extent.first));
  Ast.Last = addressOf(Build, isl_pw_multi_aff_copy(Extent.last));
  if (Ast.When.is_null() || Ast.First.is_null() || Ast.Last.is_null())
    return false;
  if (!Extent.box || isl_pw_multi_aff_dim(Extent.first, isl_dim_out) != 2)
    return true;
  Ast.RowEnd = addressOf(Build, combine(Extent.first, 0, Extent.last));
  Ast.NextRow = addressOf(Build, combine(Extent.first, 1, Extent.first));
  isl_pw_aff *Rows =
      isl_pw_aff_sub(isl_pw_multi_aff_get_pw_aff(Extent.last, 0),
                     isl_pw_multi_aff_get_pw_aff(Extent.first, 0));
  Rows = addConstant(isl_pw_aff_coalesce(Rows), 1);
  Ast.Rows = isl::manage(isl_ast_build_expr_from_pw_aff(Build.get(), Rows));
  return !Ast.RowEnd.is_null() && !Ast.NextRow.is_null() && !Ast.Rows.is_null();
}

static bool buildCopies(ArrayAst &Ast, const pacc_expansion &Expansion,
                        const isl::ast_build &Build) {
  isl_size N = isl_pw_aff_list_n_pw_aff(Expansion.counts);
  for (isl_size D = 0; D < N; ++D) {
    Ast.Counts.push_back(isl::manage(isl_ast_build_expr_from_pw_aff(
        Build.get(), isl_pw_aff_list_get_pw_aff(Expansion.counts, D))));
    Ast.Last.push_back(isl::manage(isl_ast_build_expr_from_pw_aff(
        Build.get(), isl_pw_multi_aff_get_pw_aff(Expansion.last, D))));
    if (Ast.Counts.back().is_null() || Ast.Last.back().is_null())
      return false;
  }
  Ast.Iteration = isl::manage_copy(Expansion.iteration);
  return true;
}

static bool buildArray(ArrayAst &Ast, const ScopArrayInfo &SAI,
                       const RegionPlan &Region, const isl::ast_build &Build) {
  isl::space Space = SAI.getSpace();
  // The program's accesses, and the statements that save values.
  pacc_scop Program = Region.Facts;
  Program.schedule = Region.Planned.schedule;
  pacc_array_plan Plan;
  if (pacc_array_plan_compute(&Plan, &Program, &Region.Deps,
                              isl_space_copy(Space.get())))
    return false;
  Ast.SAI = &SAI;
  Ast.HasIn = Plan.has_in;
  Ast.HasOut = Plan.has_out;
  Ast.Maybe = Plan.maybe;
  Ast.Changes = Plan.changes;
  Ast.InIsOut = Plan.in_is_out;
  bool Ok = buildExtent(Ast.Touched, Plan.touched, Build) &&
            (!Ast.HasIn || buildExtent(Ast.In, Plan.in, Build)) &&
            (!Ast.HasOut || buildExtent(Ast.Out, Plan.out, Build));
  pacc_array_plan_clear(&Plan);
  if (auto *Expansion = pacc_expansion_of(&Region.Expansions, Space.get()))
    Ok = Ok && buildCopies(Ast, *Expansion, Build);
  return Ok;
}

/// The arrays of saved values, and who reads them.
static bool buildSaved(RegionAst &Region, const RegionPlan &Plan,
                       const isl::ast_build &Build) {
  for (unsigned I = 0; I < Plan.Snapshots.n; ++I) {
    const pacc_snapshot &Snapshot = Plan.Snapshots.at[I];
    isl::map Index = isl::manage(pacc_snapshot_index(&Snapshot));
    ArrayAst Ast;
    Ast.SAI = ScopArrayInfo::getFromId(isl::manage_copy(Snapshot.copy));
    Ast.Scratch = true;
    pacc_array_plan Array;
    if (pacc_array_plan_compute(&Array, &Plan.Planned, &Plan.Deps,
                                Ast.SAI->getSpace().release()))
      return false;
    bool Ok = buildExtent(Ast.Touched, Array.touched, Build);
    pacc_array_plan_clear(&Array);
    if (!Ok)
      return false;
    for (unsigned R = 0; R < Snapshot.n_reads; ++R)
      Region.Saved[Plan.Reads[Snapshot.reads[R].access]].push_back(
          {isl::union_set(isl::manage_copy(Snapshot.reads[R].map).domain()),
           Index, Ast.SAI});
    Region.Arrays.push_back(std::move(Ast));
  }
  return true;
}

static bool hasCopies(const ScopArrayInfo &SAI, const RegionPlan &Plan) {
  return pacc_expansion_of(&Plan.Expansions, SAI.getSpace().get());
}

static bool isAccessed(const ScopArrayInfo &SAI, const pacc_scop &Facts) {
  isl::union_set Elements = isl::manage_copy(Facts.read)
                                .unite(isl::manage_copy(Facts.may_write))
                                .range();
  return !Elements.extract_set(SAI.getSpace()).is_empty();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static BoxAst buildBox(isl_pw_aff_list *Extents, const isl::ast_build &Build) {
  BoxAst Box;
  isl_size N = isl_pw_aff_list_n_pw_aff(Extents);
  for (isl_size I = 0; I < N; ++I)
    Box.push_back(isl::manage(isl_ast_build_expr_from_pw_aff(
        Build.get(), isl_pw_aff_list_get_pw_aff(Extents, I))));
  return Box;
}

static bool isComplete(const BoxAst &Box) {
  return std::none_of(Box.begin(), Box.end(),
                      [](const isl::ast_expr &E) { return E.is_null(); });
}

static bool buildSize(SizeAst &Ast, const pacc_kernel_plan &Kernel,
                      const isl::ast_build &Build) {
  pacc_kernel_size Size;
  if (pacc_kernel_size_compute(&Size, &Kernel))
    return false;
  Ast.Launches = buildBox(Size.launches, Build);
  Ast.Threads = buildBox(Size.threads, Build);
  for (unsigned I = 0; I < Size.n_boxes; ++I)
    Ast.Instances.push_back(buildBox(Size.instances[I], Build));
  pacc_kernel_size_clear(&Size);
  return isComplete(Ast.Launches) && isComplete(Ast.Threads) &&
         all_of(Ast.Instances, isComplete);
}

/// Sizes only help to decide where the region runs: where they take too long,
/// it runs on the device.
static void buildSizes(RegionAst &Region, const pacc_mapping &Mapping,
                       const isl::ast_build &Build, uint64_t MaxOperations) {
  isl_ctx *Ctx = isl_ast_build_get_ctx(Build.get());
  Quota Bound(Ctx, MaxOperations, Quota::Questions);
  Region.Sizes.resize(Mapping.n_kernels);
  for (unsigned K = 0; K < Mapping.n_kernels; ++K)
    if (!buildSize(Region.Sizes[K], Mapping.kernels[K], Build)) {
      Region.Sizes.clear();
      isl_ctx_reset_error(Ctx);
      return;
    }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Loops that isl gives up on stay loops of the host.
static void describeLoops(RegionAst &Region, const RegionPlan &Plan,
                          isl_ctx *Ctx, uint64_t MaxOperations) {
  Quota Bound(Ctx, MaxOperations, Quota::Questions);
  const pacc_mapping &Mapping = *Plan.Mapping;
  for (unsigned L = 0; L < Mapping.n_loops; ++L) {
    Region.Loops.emplace_back();
    LoopAst &Loop = Region.Loops.back();
    Loop.Plan = &Mapping.loops[L];
    Loop.Phases.resize(Loop.Plan->n_phases);
    if (const char *Why = pacc_loop_phases_compute(
            Loop.Phases.data(), Loop.Plan, &Mapping, &Plan.Planned, &Plan.Deps))
      Loop.WhyNot = Why;
    else if (!Region.Sizes.empty())
      for (unsigned K = 0; K < Loop.Plan->n_phases; ++K)
        Region.Sizes[Loop.Plan->first + K].Loop = L + 1;
  }
  isl_ctx_reset_error(Ctx);
}

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

/// Polly takes a condition with a number of 64 bits or more for false.
static bool hasLargeNumbers(const isl::ast_expr &E) {
  switch (isl_ast_expr_get_type(E.get())) {
  case isl_ast_expr_int:
    return APIntFromVal(isl_ast_expr_get_val(E.get())).getBitWidth() >= 64;
  case isl_ast_expr_op:
    for (int I = 0, N = isl_ast_expr_get_op_n_arg(E.get()); I < N; ++I)
      if (hasLargeNumbers(isl::manage(isl_ast_expr_get_op_arg(E.get(), I))))
        return true;
    return false;
  default:
    return false;
  }
}

/// Parameters far from where 64 bits end.
static isl::set moderateParameters(const isl::set &Context) {
  isl_set *Box = isl_set_universe(Context.get_space().release());
  isl_val *Limit = isl_val_2exp(isl_val_int_from_si(Context.ctx().get(), 60));
  for (unsigned P = 0, N = unsignedFromIslSize(Context.dim(isl::dim::param));
       P < N; ++P) {
    Box = isl_set_lower_bound_val(Box, isl_dim_param, P,
                                  isl_val_neg(isl_val_copy(Limit)));
    Box = isl_set_upper_bound_val(Box, isl_dim_param, P, isl_val_copy(Limit));
  }
  isl_val_free(Limit);
  return isl::manage(Box);
}

/// When the region may run on the device; null if that can't be written down.
static isl::ast_expr buildRunCondition(Scop &S) {
  isl::set Context = S.getContext();
  auto Build = [](const isl::set &Known) {
    return isl::manage(isl_ast_build_from_context(Known.copy()));
  };
  isl::ast_expr Condition = IslAst::buildRunCondition(S, Build(Context));
  if (Condition.is_null() || !hasLargeNumbers(Condition))
    return Condition;
  // Such numbers come of computations that overflow at the ends of the range.
  isl::set Moderate = moderateParameters(Context);
  isl::ast_expr Checked =
      IslAst::buildRunCondition(S, Build(Context.intersect(Moderate)));
  if (Checked.is_null() || hasLargeNumbers(Checked))
    return {};
  isl::ast_expr Limits = isl::manage(
      isl_ast_build_expr_from_set(Build(Context).get(), Moderate.release()));
  return isl::manage(isl_ast_expr_and(Limits.release(), Checked.release()));
}

std::unique_ptr<RegionAst> buildRegionAst(Scop &S, const RegionPlan &Plan,
                                          uint64_t MaxOperations) {
  isl_ctx *Ctx = S.getIslCtx().get();
  const pacc_scop &Facts = Plan.Facts;
  const pacc_mapping &Mapping = *Plan.Mapping;
  // Polly's builders expect loops of the form iv <= expression.
  isl_options_set_ast_build_atomic_upper_bound(Ctx, true);
  isl_options_set_ast_build_detect_min_max(Ctx, true);
  // Statements of one launch stay in it: they may pass values in registers.
  isl_options_set_ast_build_group_coscheduled(Ctx, true);

  auto Region = std::make_unique<RegionAst>();
  Region->RunCondition = buildRunCondition(S);
  isl::ast_build Plain =
      isl::manage(isl_ast_build_from_context(isl_set_copy(Facts.context)));
  SmallVector<const ScopArrayInfo *, 8> Arrays;
  for (const ScopArrayInfo *SAI : S.arrays())
    if (SAI->isArrayKind() && isAccessed(*SAI, Facts))
      Arrays.push_back(SAI);
  Region->Mapping = &Mapping;
  buildSizes(*Region, Mapping, Plain, MaxOperations);
  describeLoops(*Region, Plan, Ctx, MaxOperations);

  for (bool HasCopies : {false, true})
    for (const ScopArrayInfo *SAI : Arrays) {
      if (hasCopies(*SAI, Plan) != HasCopies)
        continue;
      Quota Bound(Ctx, MaxOperations, Quota::Extents);
      Region->Arrays.emplace_back();
      if (!buildArray(Region->Arrays.back(), *SAI, Plan, Plain))
        return nullptr;
    }

  Quota Bound(Ctx, MaxOperations, Quota::Asts);
  if (!buildSaved(*Region, Plan, Plain))
    return nullptr;

  Generator G{*Region, Plan.Planned, Plan.Deps, {}};
  isl_ast_build *Build =
      isl_ast_build_from_context(isl_set_copy(Facts.context));
  Build = isl_ast_build_set_at_each_domain(Build, atEachDomain, &G);
  Build = isl_ast_build_set_before_each_mark(Build, beforeMark, &G);
  Build = isl_ast_build_set_after_each_mark(Build, afterMark, &G);
  Region->Root = isl::manage(isl_ast_build_node_from_schedule(
      Build, isl_schedule_copy(Mapping.schedule)));
  isl_ast_build_free(Build);
  if (Region->Root.is_null() || G.Failed)
    return nullptr;
  return Region;
}

} // namespace pacc
