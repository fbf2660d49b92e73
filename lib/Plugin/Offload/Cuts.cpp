//===- Cuts.cpp - Smaller regions than Polly's ----------------------------===//
#include "Offload/Offloader.h"

#include "pacc/poly.h"
#include "polly/ScopInfo.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace polly;

namespace pacc {

/// The loops of \p R that are within no other of it, in order, and blocks that
/// all runs of the region pass, each with the number of loops before it. (Polly
/// takes a block that some runs pass for one that none does, rather than end
/// the region there.)
struct Offloader::LoopSequence {
  SmallVector<const Loop *, 32> Loops;
  SmallVector<std::pair<BasicBlock *, size_t>, 32> Between;

  LoopSequence(const Region &R, const LoopInfo &LI,
               const PostDominatorTree &PDT) {
    Function *F = R.getEntry()->getParent();
    for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(F)) {
      if (!R.contains(BB))
        continue;
      const Loop *L = LI.getLoopFor(BB);
      if (!L || !R.contains(L)) {
        if (PDT.dominates(BB, R.getEntry()))
          Between.push_back({BB, Loops.size()});
      } else if (L->getHeader() == BB &&
                 !(L->getParentLoop() && R.contains(L->getParentLoop()))) {
        Loops.push_back(L);
      }
    }
  }
};

/// Cuts the region after half of \p Twice of its loops, or as near to that as
/// it can be cut.
bool Offloader::cutAt(const Region &R, const LoopSequence &Sequence,
                      size_t Twice) {
  auto Distance = [&](const auto &Place) {
    return AbsoluteDifference(2 * Place.second, Twice);
  };
  auto *Best = llvm::min_element(Sequence.Between, [&](auto &One, auto &Other) {
    return Distance(One) < Distance(Other);
  });
  if (Best == Sequence.Between.end() || Best->second == 0 ||
      Best->second == Sequence.Loops.size())
    return false;
  // What no region can have in it.
  FunctionCallee Unknown =
      M.getOrInsertFunction("__pacc_cut", Type::getVoidTy(M.getContext()));
  Cuts.push_back(CallInst::Create(Unknown, "",
                                  Best->first->getTerminator()->getIterator()));
  for (BasicBlock *BB : R.blocks())
    Handled.erase(BB);
  return true;
}

/// A region of more than \p MaxLoops loops, one after the other, is cut
/// halfway.
bool Offloader::cut(const Region &R, size_t MaxLoops) {
  Function &F = *R.getEntry()->getParent();
  LoopSequence Sequence(R, FAM.getResult<LoopAnalysis>(F),
                        FAM.getResult<PostDominatorTreeAnalysis>(F));
  return Sequence.Loops.size() > MaxLoops &&
         cutAt(R, Sequence, Sequence.Loops.size());
}

/// The outermost loop of the region that has all statements of the kernel that
/// are in a loop, and no others; null if there is none.
static const Loop *loopOf(const pacc_kernel_plan &Kernel, Scop &S) {
  SmallPtrSet<const ScopStmt *, 8> Own;
  for (isl::set Set : isl::manage_copy(Kernel.domain).get_set_list())
    Own.insert(static_cast<const ScopStmt *>(Set.get_tuple_id().get_user()));
  auto Outermost = [&](const ScopStmt &Stmt) {
    Loop *L = S.getLI()->getLoopFor(Stmt.getEntryBlock());
    while (L && L->getParentLoop() && S.contains(L->getParentLoop()))
      L = L->getParentLoop();
    return L && S.contains(L) ? L : nullptr;
  };
  Loop *Found = nullptr;
  for (const ScopStmt &Stmt : S)
    if (Own.contains(&Stmt)) {
      Loop *L = Outermost(Stmt);
      if (L && Found && L != Found)
        return nullptr;
      Found = L ? L : Found;
    }
  bool HasOthers = any_of(S, [&](const ScopStmt &Stmt) {
    return !Own.contains(&Stmt) && Outermost(Stmt) == Found;
  });
  return HasOthers ? nullptr : Found;
}

/// A loop that one thread would run, in most of the region's time, is no work
/// for a GPU: it is cut off from the others, which may be.
bool Offloader::cutOffSerial(Scop &S, const pacc_mapping &Mapping) {
  const double Worth = 1e-3; // seconds: copies between two regions take some
  const Region &R = S.getRegion();
  ArrayRef<pacc_kernel_plan> Kernels(Mapping.kernels, Mapping.n_kernels);
  LoopSequence Sequence(
      R, *S.getLI(), FAM.getResult<PostDominatorTreeAnalysis>(S.getFunction()));
  double All = 0;
  for (const pacc_kernel_plan &Kernel : Kernels)
    All += pacc_kernel_cost(&Kernel);
  for (const pacc_kernel_plan &Kernel : Kernels) {
    double Seconds = pacc_kernel_cost(&Kernel);
    if (Kernel.n_dims > 0 || Kernel.host || Seconds < Worth ||
        2 * Seconds < All)
      continue;
    auto *Place = llvm::find(Sequence.Loops, loopOf(Kernel, S));
    size_t Before = Place - Sequence.Loops.begin();
    if (Place != Sequence.Loops.end() &&
        cutAt(R, Sequence, 2 * std::max<size_t>(Before, 1)))
      return true;
  }
  return false;
}

void Offloader::removeCuts() {
  for (WeakVH &Call : Cuts)
    if (Call)
      cast<Instruction>(Call)->eraseFromParent();
  Cuts.clear();
  NumHalved = 0;
  if (Function *Unknown = M.getFunction("__pacc_cut"))
    Unknown->eraseFromParent();
}

} // namespace pacc
