//===- Plan.cpp - Which launches are merged, and how far ------------------===//
#include "Plan.h"
#include "Child.h"
#include "Uniform.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace pacc {
namespace {

/// What the functions that run with a launch do besides.
struct Surroundings {
  /// Kernels and functions, called from other files, that reach the launch.
  SmallVector<Function *, 4> Roots;
  bool ReadsErrors = false;
  /// Copies, memsets, events, launches that stay: what it is, or empty.
  std::string OtherOperation;
  /// Ends threads by other means than a return.
  bool Exits = false;
};

class Planner {
public:
  Planner(Module &M, const AggregateOptions &Options)
      : M(M), Options(Options) {}
  std::vector<PlannedSite> run();

private:
  const Reach &reach(Function &F);
  Surroundings surroundingsOf(Function &F);
  void scan(Function &Root, Surroundings &Around);
  void findObstacles();
  bool findStreamConflicts();
  bool isLaunchedMerged(const Function &Kernel);
  bool isInCycle(const Site &S);
  std::string groupObstacle(Function &F);
  void chooseLevels(Function &F);
  void chooseStreams(Function &F);
  void chooseWaits(Function &F);
  void chooseSame(Function &Kernel);
  SmallVector<PlannedSite *, 8> sitesIn(const Function &F, bool Merged);

  Module &M;
  const AggregateOptions &Options;
  std::vector<PlannedSite> Sites;
  DenseMap<Function *, Reach> Reached;
};

bool isOrdered(StreamKind Stream) {
  return Stream == StreamKind::Null || Stream == StreamKind::PerThread ||
         Stream == StreamKind::Tail;
}

/// Device runtime calls that take effect in a stream's order.
bool isStreamOperation(StringRef Name) {
  for (StringRef Part : {"Memcpy", "Memset", "EventRecord", "StreamWaitEvent"})
    if (Name.contains(Part))
      return true;
  return false;
}

bool mayBeCalledFromElsewhere(const Function &F) {
  return F.getCallingConv() != CallingConv::PTX_Kernel &&
         (!F.hasLocalLinkage() || F.hasAddressTaken());
}

/// sm_70 has independent thread scheduling, and exited threads do not block
/// barriers.
bool isArchSupported(const Function &F) {
  StringRef Arch = F.getFnAttribute("target-cpu").getValueAsString();
  unsigned Number = 0;
  return !Arch.consume_front("sm_") || Arch.consumeInteger(10, Number) ||
         Number >= 70;
}

const Reach &Planner::reach(Function &F) {
  auto It = Reached.find(&F);
  if (It == Reached.end())
    It = Reached.insert({&F, reachableFrom(F)}).first;
  return It->second;
}

void Planner::scan(Function &Root, Surroundings &Around) {
  const Reach &R = reach(Root);
  if (!R.Unknown.empty())
    Around.OtherOperation = "it calls " + R.Unknown;
  for (Function *F : R.Functions)
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      if (auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand()))
        Around.Exits |= StringRef(Asm->getAsmString()).contains("exit");
      Function *Callee = Call->getCalledFunction();
      if (!Callee)
        continue;
      StringRef Name = Callee->getName();
      Around.Exits |= Callee->getIntrinsicID() == Intrinsic::nvvm_exit;
      if (!Name.consume_front("__cudaCDP2"))
        continue;
      Around.ReadsErrors |= Name == "GetLastError" || Name == "PeekAtLastError";
      if (isStreamOperation(Name))
        Around.OtherOperation = ("it calls cuda" + Name).str();
    }
  for (PlannedSite &P : Sites)
    if (!P.isMerged() && R.Functions.contains(P.S.caller()))
      Around.OtherOperation = "it has launches that stay as they are";
}

Surroundings Planner::surroundingsOf(Function &F) {
  Surroundings Around;
  scan(F, Around);
  Around.Roots.push_back(&F);
  for (Function &Root : M)
    if (&Root != &F && !Root.isDeclaration() &&
        reach(Root).Functions.contains(&F)) {
      Around.Roots.push_back(&Root);
      scan(Root, Around);
    }
  if (any_of(Around.Roots,
             [](Function *Root) { return mayBeCalledFromElsewhere(*Root); }))
    Around.OtherOperation = "it may be called from another file";
  return Around;
}

SmallVector<PlannedSite *, 8> Planner::sitesIn(const Function &F, bool Merged) {
  SmallVector<PlannedSite *, 8> Result;
  for (PlannedSite &P : Sites)
    if (P.S.caller() == &F && P.isMerged() == Merged)
      Result.push_back(&P);
  return Result;
}

void Planner::findObstacles() {
  DenseMap<Function *, bool> ReadsErrors;
  for (PlannedSite &P : Sites) {
    Site &S = P.S;
    if (!S.Obstacle.empty())
      continue;
    Function *F = S.caller();
    if (!isArchSupported(*F)) {
      S.Obstacle = "merging needs sm_70 or later";
      continue;
    }
    if (!ReadsErrors.count(F))
      ReadsErrors[F] = surroundingsOf(*F).ReadsErrors;
    if (ReadsErrors[F])
      S.Obstacle = "the program asks for launch errors (cudaGetLastError)";
    else if (S.Stream == StreamKind::Null &&
             Options.Order == Siblings::Serialized)
      S.Obstacle = "launches of a block into its NULL stream run in order "
                   "(siblings=serialized)";
    else if (S.Kernel->isDeclaration() && !Options.OtherFiles)
      S.Obstacle = "the kernel is defined in another file; "
                   "-polly-acc-agg-other-files, given for both, merges it";
    else
      S.Obstacle = childObstacle(*S.Kernel, S.ArgBytes);
  }
}

/// Merged launches of per-thread streams go into the block's NULL stream, so
/// nothing else may be in the thread's stream. True if sites were dropped.
bool Planner::findStreamConflicts() {
  bool Changed = false;
  for (PlannedSite &P : Sites) {
    if (!P.isMerged() || P.S.Stream != StreamKind::PerThread)
      continue;
    std::string Other = surroundingsOf(*P.S.caller()).OtherOperation;
    if (Other.empty())
      continue;
    P.S.Obstacle = "the thread's stream may hold other operations: " + Other;
    Changed = true;
  }
  return Changed;
}

bool Planner::isLaunchedMerged(const Function &Kernel) {
  return any_of(Sites, [&](const PlannedSite &P) {
    return P.isMerged() && P.S.Kernel == &Kernel;
  });
}

bool Planner::isInCycle(const Site &S) {
  CycleInfo Cycles;
  Cycles.compute(*S.caller());
  return Cycles.getCycle(S.Launch->getParent()) != nullptr;
}

/// Why the launches of F can't wait for the end of their block or grid.
std::string Planner::groupObstacle(Function &F) {
  if (F.getCallingConv() != CallingConv::PTX_Kernel)
    return "it is in a function that could not be inlined into a kernel";
  Surroundings Around = surroundingsOf(F);
  if (!Around.OtherOperation.empty())
    return "its order with other operations has to stay: " +
           Around.OtherOperation;
  if (Around.Exits)
    return "threads end by an exit instruction";
  for (Function *Reached : reach(F).Functions)
    if (Reached != &F && !sitesIn(*Reached, true).empty())
      return "the kernel has launches in functions that could not be inlined";
  SmallVector<PlannedSite *, 8> Own = sitesIn(F, true);
  if (Own.size() > PACC_SLOTS)
    return "the kernel has more than " + std::to_string(PACC_SLOTS) +
           " launches";
  return {};
}

/// A block's state is in static shared memory, of which a kernel has 48 KiB
/// (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability"). Whatever the module has counts as the kernel's.
static bool hasRoomForBlockState(const Module &M, uint64_t State) {
  constexpr uint64_t Most = 48 << 10;
  uint64_t Bytes = 0;
  for (const GlobalVariable &G : M.globals())
    if (G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
      Bytes +=
          M.getDataLayout().getTypeAllocSize(G.getValueType()).getFixedValue();
  return Bytes <= Most - State;
}

void Planner::chooseLevels(Function &F) {
  std::string Obstacle = groupObstacle(F);
  SmallVector<PlannedSite *, 8> Own = sitesIn(F, true);
  // A grid has no stream in which launches of different rounds stay in order.
  bool InRounds = any_of(Own, [&](PlannedSite *P) {
    return isOrdered(P->S.Stream) && isInCycle(P->S);
  });
  std::string Loop =
      Own.size() == 1 ? "it is in a loop" : "the kernel has a launch in a loop";
  bool ByBlock = Options.Level == Granularity::Block || InRounds;
  bool NoRoom = ByBlock && !hasRoomForBlockState(M, InRounds ? 1024 : 512);
  if (Obstacle.empty() && InRounds && NoRoom)
    Obstacle = Loop + ", and a block has no shared memory left";
  unsigned Slots = 0;
  for (auto [Index, P] : enumerate(Own)) {
    if (Options.Level == Granularity::Warp) {
      P->Level = Granularity::Warp;
      P->Why = "as asked for";
    } else if (!Obstacle.empty()) {
      P->Level = Granularity::Warp;
      P->Why = Obstacle;
    } else {
      P->Level = ByBlock && !NoRoom ? Granularity::Block : Granularity::Grid;
      // Launches of one kernel that have no order are recorded together.
      auto Before = ArrayRef(Own).take_front(Index);
      auto *Like = find_if(Before, [&, P = P](PlannedSite *Q) {
        return Q->S.Kernel == P->S.Kernel && Q->Ordered == P->Ordered &&
               (InRounds ? Q->MergedStream == P->MergedStream &&
                               Q->PlainStream == P->PlainStream
                         : !P->Ordered);
      });
      P->InRounds = InRounds;
      P->Slot = Like != Before.end() ? (*Like)->Slot : Slots++;
      P->Why = InRounds ? Loop
               : Options.Level == Granularity::Auto
                   ? "each thread launches at most once here, and nothing "
                     "depends on when"
               : NoRoom ? "a block has no shared memory left"
                        : "as asked for";
    }
  }
}

/// A thread's launches keep their order: they all go into the block's NULL
/// stream. If there is only one, no order is left to keep.
void Planner::chooseStreams(Function &F) {
  bool IsKernel = F.getCallingConv() == CallingConv::PTX_Kernel;
  SmallVector<PlannedSite *, 8> Own = sitesIn(F, true);
  unsigned Ordered = static_cast<unsigned>(
      count_if(Own, [](PlannedSite *P) { return isOrdered(P->S.Stream); }));
  bool Alone =
      IsKernel && Ordered == 1 && surroundingsOf(F).OtherOperation.empty();
  for (Function *Reached : reach(F).Functions)
    Alone &= Reached == &F || sitesIn(*Reached, true).empty();
  unsigned Unordered = 0;
  for (PlannedSite *P : Own) {
    StreamKind Stream = P->S.Stream;
    P->Ordered = isOrdered(Stream) &&
                 (!Alone || isInCycle(P->S) || Stream == StreamKind::Tail);
    P->PlainStream = Stream == StreamKind::Tail ? Stream : StreamKind::Null;
    P->MergedStream = P->PlainStream;
    if (!P->Ordered) {
      // Of a merged grid the stream is that of the thread which launches it.
      P->MergedStream = StreamKind::PerThread;
      if (Stream != StreamKind::Null)
        P->PlainStream = StreamKind::PerThread;
      // Two launches of a thread should not wait for each other.
      if (Ordered == 0 && Unordered++ % 2 == 1)
        P->PlainStream = P->MergedStream = StreamKind::Null;
    }
  }
}

/// A launch may wait for the end of its grid if all kernels that reach it can
/// have code at their end. Others of its thread then have to wait too; but
/// what is not merged, and tail launches, would come before it.
void Planner::chooseWaits(Function &F) {
  Surroundings Around = surroundingsOf(F);
  if (Around.Exits || any_of(Around.Roots, [](Function *Root) {
        return mayBeCalledFromElsewhere(*Root);
      }))
    return;
  bool HasTail = any_of(Sites, [&](const PlannedSite &P) {
    return P.S.Stream == StreamKind::Tail &&
           any_of(Around.Roots, [&](Function *Root) {
             return reach(*Root).Functions.contains(P.S.caller());
           });
  });
  for (PlannedSite *P : sitesIn(F, true)) {
    if (!P->Ordered)
      P->IfNoRoom = Wait::Later;
    else if (Around.OtherOperation.empty() && !HasTail)
      P->IfNoRoom = Wait::LaterAll;
  }
}

/// Launches that one kernel makes of another may be merged, and there the
/// optimiser may join launches of functions.
void Planner::chooseSame(Function &Kernel) {
  SmallVector<PlannedSite *, 8> Own;
  for (PlannedSite &P : Sites)
    if (P.isMerged() && P.S.Kernel == &Kernel)
      Own.push_back(&P);
  bool FromFunctions = any_of(Own, [](PlannedSite *P) {
    return P->S.caller()->getCallingConv() != CallingConv::PTX_Kernel;
  });
  // Whether number A of what each launch passes is the same.
  auto IsSame = [&](const auto &Passed, size_t A) {
    return all_of(seq<size_t>(0, Own.size()), [&](size_t I) {
      Value *V = Passed[I][A];
      Function *Caller = Own[I]->S.caller();
      // A merged grid has the parameters of many launches.
      bool WithParameters = !FromFunctions && !isLaunchedMerged(*Caller);
      return V && isSameInGrid(*V, WithParameters) &&
             all_of(seq<size_t>(0, I), [&](size_t J) {
               return Passed[J][A] == V ||
                      (!FromFunctions && Own[J]->S.caller() != Caller);
             });
    });
  };
  SmallVector<SmallVector<Value *>, 8> Passed;
  SmallVector<SmallVector<Value *, 4>, 8> Shapes;
  for (PlannedSite *P : Own) {
    Passed.push_back(passedValues(P->S));
    Shapes.push_back(passedShape(P->S));
  }
  SmallVector<bool, 8> SameParameters;
  for (size_t A = 0; A < Kernel.arg_size(); ++A)
    SameParameters.push_back(IsSame(Passed, A));
  bool SameShape =
      all_of(seq<size_t>(0, 4), [&](size_t D) { return IsSame(Shapes, D); });
  uint64_t Same = sameWords(Kernel, SameParameters);
  SmallVector<Parameter> Parameters = parametersOf(Kernel);
  for (auto [P, Values, Shape] : zip(Own, Passed, Shapes)) {
    P->Same = Same;
    if (SameShape)
      P->SameShape = Shape;
    for (auto [Parameter, V, Flag] : zip(Parameters, Values, SameParameters))
      if (Flag)
        P->SameParameters.push_back({Parameter.Offset, V});
  }
}

std::vector<PlannedSite> Planner::run() {
  for (Site &S : findSites(M)) {
    PlannedSite P;
    P.S = std::move(S);
    P.PlainStream = P.S.Stream;
    Sites.push_back(std::move(P));
  }
  findObstacles();
  while (findStreamConflicts())
    ;
  SmallSetVector<Function *, 8> Callers;
  for (PlannedSite &P : Sites)
    if (P.isMerged())
      Callers.insert(P.S.caller());
  for (Function *F : Callers) {
    chooseStreams(*F);
    chooseLevels(*F);
    chooseWaits(*F);
  }
  // Other files do not know what the launches of this one have in common.
  if (!Options.OtherFiles) {
    SmallSetVector<Function *, 8> Kernels;
    for (PlannedSite &P : Sites)
      if (P.isMerged())
        Kernels.insert(P.S.Kernel);
    for (Function *Kernel : Kernels)
      chooseSame(*Kernel);
  }
  return std::move(Sites);
}

} // namespace

std::vector<PlannedSite> planSites(Module &M, const AggregateOptions &Options) {
  return Planner(M, Options).run();
}

} // namespace pacc
