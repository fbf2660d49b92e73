//===- Spans.cpp - Data that stays on the device --------------------------===//
#include "Offload/Spans.h"

#include "Offload/DeviceModule.h"
#include "Offload/ScopFacts.h"
#include "Offload/SpanCode.h"
#include "pacc/abi.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"

using namespace llvm;

namespace pacc {

static const char *const PassName = "polly-acc";

//===----------------------------------------------------------------------===//
// Regions, as their code shows them
//===----------------------------------------------------------------------===//

static StringRef calleeName(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee ? Callee->getName() : "";
}

/// One of the conditions that lead back to the original loops may be this.
static CallInst *findWorth(const OffloadedRegion &R) {
  for (BasicBlock *BB : predecessors(R.Fallback))
    for (Instruction &I : *BB)
      if (calleeName(I) == "__pacc_rt_worth")
        return cast<CallInst>(&I);
  return nullptr;
}

/// Arrays are placed and copied on a straight line after the region's begin.
static void findArrays(OffloadedRegion &R) {
  BasicBlock *BB = R.Begin->getParent()->getTerminator()->getSuccessor(0);
  for (; BB; BB = BB->getSingleSuccessor())
    for (Instruction &I : *BB) {
      bool HasCopies = calleeName(I) == "__pacc_rt_array_copies";
      R.HasCopies |= HasCopies;
      if (HasCopies || calleeName(I) == "__pacc_rt_array")
        R.Arrays.push_back({cast<CallInst>(&I), false});
      else if (calleeName(I) == "__pacc_rt_copy" &&
               cast<ConstantInt>(I.getOperand(2))->getZExtValue() &
                   PACC_COPY_OUT)
        R.Arrays[cast<ConstantInt>(I.getOperand(1))->getZExtValue()].Written =
            true;
    }
}

static OffloadedRegion describe(CallInst *Begin, const DominatorTree &DT,
                                const PostDominatorTree &PDT) {
  OffloadedRegion R;
  R.Begin = Begin;
  R.Fallback = Begin->getParent()->getTerminator()->getSuccessor(1);
  R.Split = Begin->getParent();
  for (BasicBlock *From : predecessors(R.Fallback))
    R.Split = DT.findNearestCommonDominator(R.Split, From);
  BasicBlock *First = R.Split->getTerminator()->getSuccessor(0);
  R.Start =
      First == R.Fallback ? R.Split->getTerminator()->getSuccessor(1) : First;
  if (const DomTreeNode *After = PDT.getNode(R.Split)->getIDom())
    R.Merge = After->getBlock();
  R.Worth = findWorth(R);
  findArrays(R);
  return R;
}

//===----------------------------------------------------------------------===//
// What may stand between regions
//===----------------------------------------------------------------------===//

/// The objects that \p Pointer may point into, in whichever iteration.
static SmallVector<const Value *, 4> objectsOf(const Value *Pointer) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(Pointer, Objects, nullptr, /*MaxLookup=*/0);
  return Objects;
}

/// Never the same memory, in whichever iterations of loops around them. (Alias
/// analysis compares addresses of the same iteration.)
static bool areApart(const Value *A, const Value *B) {
  if (A == B)
    return false;
  if (isIdentifiedObject(A) && isIdentifiedObject(B))
    return true;
  return (isa<AllocaInst>(A) && isa<Argument>(B)) ||
         (isa<AllocaInst>(B) && isa<Argument>(A));
}

static bool areApart(const Value *Pointer, const OffloadedRegion &R) {
  auto Objects = objectsOf(Pointer);
  return all_of(R.Arrays, [&](const OffloadedRegion::Array &Array) {
    if (!Array.Written)
      return true;
    auto Others = objectsOf(Array.host());
    return all_of(Objects, [&](const Value *A) {
      return all_of(Others, [&](const Value *B) { return areApart(A, B); });
    });
  });
}

/// May it run twice, and in between region and region?
static bool onlyComputes(const Instruction &I) {
  if (isa<DbgInfoIntrinsic>(I) || isa<AssumeInst>(I) ||
      I.isLifetimeStartOrEnd())
    return true;
  auto *Call = dyn_cast<CallBase>(&I);
  return !isa<AllocaInst>(I) && !I.mayWriteToMemory() && !I.mayThrow() &&
         I.willReturn() && !I.isEHPad() &&
         !(Call && (Call->cannotDuplicate() || Call->isConvergent()));
}

static bool isHarmless(const Instruction &I, const Span &S) {
  if (!onlyComputes(I))
    return false;
  if (!I.mayReadFromMemory())
    return true;
  auto *Load = dyn_cast<LoadInst>(&I);
  return Load && Load->isSimple() &&
         all_of(S.Regions, [&](const OffloadedRegion *R) {
           return areApart(Load->getPointerOperand(), *R);
         });
}

/// The first instruction that must see or write the host's memory; nullptr:
/// there is none.
static const Instruction *findObstacle(const Span &S, const DominatorTree &DT) {
  for (const BasicBlock *BB : S.Blocks) {
    if (any_of(S.Regions, [&](const OffloadedRegion *R) {
          return DT.dominates(R->Fallback, BB) || DT.dominates(R->Start, BB);
        }))
      continue;
    if (BB->hasAddressTaken() || !(isa<BranchInst>(BB->getTerminator()) ||
                                   isa<SwitchInst>(BB->getTerminator())))
      return BB->getTerminator();
    for (const Instruction &I : *BB)
      if (!I.isTerminator() && !isHarmless(I, S))
        return &I;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {

/// Where a span may begin, or end. Outside: the loop that it stands in.
using Place = std::pair<BasicBlock *, const Loop *>;

class SpanFinder {
public:
  SpanFinder(Function &F, FunctionAnalysisManager &FAM, ArrayRef<WeakVH> Begins,
             const DenseSet<const Value *> &Done);
  /// The largest span, or one without regions.
  Span findLargest();

private:
  void addPlaces(BasicBlock *Entry, BasicBlock *Exit, const Loop *Outside);
  void addPlaces(const OffloadedRegion &R);
  bool fill(Span &S) const;
  bool isUseful(const Span &S) const;
  bool shareMemory(const OffloadedRegion &A, const OffloadedRegion &B) const;

  DominatorTree &DT;
  PostDominatorTree &PDT;
  LoopInfo &LI;
  OptimizationRemarkEmitter &ORE;
  SmallVector<OffloadedRegion, 8> Regions;
  SetVector<Place> Entries, Exits;
};

} // namespace

SpanFinder::SpanFinder(Function &F, FunctionAnalysisManager &FAM,
                       ArrayRef<WeakVH> Begins,
                       const DenseSet<const Value *> &Done)
    : DT(FAM.getResult<DominatorTreeAnalysis>(F)),
      PDT(FAM.getResult<PostDominatorTreeAnalysis>(F)),
      LI(FAM.getResult<LoopAnalysis>(F)),
      ORE(FAM.getResult<OptimizationRemarkEmitterAnalysis>(F)) {
  for (const WeakVH &Begin : Begins)
    if (Begin && !Done.contains(Begin))
      Regions.push_back(describe(cast<CallInst>(Begin), DT, PDT));
  for (const OffloadedRegion &R : Regions)
    addPlaces(R);
}

/// The code from \p Entry to \p Exit, and what is around it in \p Outside: a
/// condition, for example.
void SpanFinder::addPlaces(BasicBlock *Entry, BasicBlock *Exit,
                           const Loop *Outside) {
  Entries.insert({Entry, Outside});
  Exits.insert({Exit, Outside});
  for (auto *N = DT.getNode(Entry)->getIDom(); N; N = N->getIDom())
    if (LI.getLoopFor(N->getBlock()) == Outside && !pred_empty(N->getBlock()))
      Entries.insert({N->getBlock(), Outside});
  for (auto *N = PDT.getNode(Exit)->getIDom(); N && N->getBlock();
       N = N->getIDom())
    if (LI.getLoopFor(N->getBlock()) == Outside)
      Exits.insert({N->getBlock(), Outside});
}

void SpanFinder::addPlaces(const OffloadedRegion &R) {
  const Loop *Outside = LI.getLoopFor(R.Split);
  if (R.Merge)
    addPlaces(R.Split, R.Merge, Outside);
  for (const Loop *L = Outside; L; L = L->getParentLoop())
    if (BasicBlock *Exit = L->getUniqueExitBlock())
      addPlaces(L->getHeader(), Exit, L->getParentLoop());
}

/// Finds the blocks from S.Entry to S.Exit. False: they are no piece of code
/// with one entry and one exit, or have arrays of which each iteration has a
/// copy; these do not stay on the device.
bool SpanFinder::fill(Span &S) const {
  SmallVector<BasicBlock *, 32> Work = {S.Entry};
  S.Blocks.insert(S.Entry);
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    if (succ_empty(BB) || !DT.dominates(S.Entry, BB))
      return false;
    for (BasicBlock *Next : successors(BB))
      if (Next != S.Exit && S.Blocks.insert(Next))
        Work.push_back(Next);
  }
  for (const OffloadedRegion &R : Regions)
    if (S.Blocks.contains(R.Split)) {
      if (R.HasCopies)
        return false;
      S.Regions.push_back(&R);
    }
  return true;
}

bool SpanFinder::shareMemory(const OffloadedRegion &A,
                             const OffloadedRegion &B) const {
  for (const OffloadedRegion::Array &X : A.Arrays)
    for (const Value *Object : objectsOf(X.host()))
      for (const OffloadedRegion::Array &Y : B.Arrays)
        if (is_contained(objectsOf(Y.host()), Object))
          return true;
  return false;
}

/// Is there anything that would be copied in vain?
bool SpanFinder::isUseful(const Span &S) const {
  for (const OffloadedRegion *R : S.Regions) {
    const Loop *L = LI.getLoopFor(R->Split);
    if (L && all_of(L->blocks(),
                    [&](BasicBlock *BB) { return S.Blocks.contains(BB); }))
      return true;
    for (const OffloadedRegion *Other : S.Regions)
      if (Other != R && shareMemory(*R, *Other))
        return true;
  }
  return false;
}

Span SpanFinder::findLargest() {
  Span Best, Failed;
  const Instruction *Obstacle = nullptr;
  for (const Place &First : Entries)
    for (const Place &Past : Exits) {
      Span S;
      S.Entry = First.first;
      S.Exit = Past.first;
      if (First.second != Past.second || S.Entry == S.Exit ||
          !DT.dominates(S.Entry, S.Exit) || !PDT.dominates(S.Exit, S.Entry) ||
          !fill(S) || S.Regions.size() < Best.Regions.size() || !isUseful(S))
        continue;
      if (S.Regions.size() == Best.Regions.size() &&
          S.Blocks.size() <= Best.Blocks.size())
        continue;
      if (const Instruction *I = findObstacle(S, DT)) {
        if (S.Regions.size() > Failed.Regions.size()) {
          Failed = S;
          Obstacle = I;
        }
        continue;
      }
      Best = std::move(S);
    }
  if (Best.Regions.empty() && Obstacle)
    ORE.emit(OptimizationRemarkMissed(PassName, "NotKept", Obstacle)
             << "data do not stay on the GPU between regions: this may need "
                "them, or has effects of its own");
  return Best;
}

//===----------------------------------------------------------------------===//

/// Splits blocks that lead to regions, so that spans may begin behind whatever
/// has effects. The function's first block has to stay in front of them.
static void splitBlocks(Function &F, FunctionAnalysisManager &FAM,
                        ArrayRef<WeakVH> Begins) {
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &PDT = FAM.getResult<PostDominatorTreeAnalysis>(F);
  SetVector<BasicBlock *> Leading;
  for (const WeakVH &Begin : Begins)
    if (Begin) {
      OffloadedRegion R = describe(cast<CallInst>(Begin), DT, PDT);
      for (auto *N = DT.getNode(R.Split); N; N = N->getIDom())
        Leading.insert(N->getBlock());
    }
  for (BasicBlock *BB : Leading) {
    BasicBlock::iterator At = BB->getTerminator()->getIterator();
    while (At != BB->getFirstInsertionPt() && onlyComputes(*std::prev(At)))
      --At;
    if (At != BB->getFirstInsertionPt() || BB == &F.getEntryBlock())
      SplitBlock(BB, At);
  }
}

void formSpans(Function &F, FunctionAnalysisManager &FAM, DeviceModule &Device,
               ArrayRef<WeakVH> Begins, DenseSet<const BasicBlock *> &Handled) {
  // Values that were in memory for Polly's sake are values again.
  FAM.invalidate(F, PromotePass().run(F, FAM));
  splitBlocks(F, FAM, Begins);
  FAM.invalidate(F, PreservedAnalyses::none());
  DenseSet<const Value *> Done;
  unsigned Number = 0;
  while (true) {
    // It owns the regions that the span refers to.
    SpanFinder Finder(F, FAM, Begins, Done);
    Span S = Finder.findLargest();
    if (S.Regions.empty())
      return;
    auto &ORE = FAM.getResult<OptimizationRemarkEmitterAnalysis>(F);
    DebugLoc Loc = S.Regions.front()->Begin->getDebugLoc();
    ORE.emit(OptimizationRemark(PassName, "Kept", Loc, S.Entry)
             << "data stay on the GPU from region to region: "
             << ore::NV("Regions", unsigned(S.Regions.size()))
             << " regions run as one span");
    for (const OffloadedRegion *R : S.Regions)
      Done.insert(R->Begin);
    Constant *Descriptor = Device.createSpan(
        (F.getName() + "_span" + Twine(Number++)).str(), placeInSource(Loc));
    writeSpan(F, S, Descriptor, Handled);
    FAM.invalidate(F, PreservedAnalyses::none());
    if (verifyFunction(F, &errs()))
      report_fatal_error("polly-acc generated an invalid function", false);
  }
}

} // namespace pacc
