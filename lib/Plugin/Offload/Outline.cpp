//===- Outline.cpp - Device code in functions of its own ------------------===//
#include "Offload/Outline.h"

#include "Offload/RuntimeCalls.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

using namespace llvm;

namespace pacc {

/// Stands for no code, and is gone when regions are outlined.
static const char *const Marker = "__pacc_region";

void markRegion(IRBuilderBase &Builder, Value *IsTiny) {
  CallInst *Mark = callRuntime(Builder, Marker, Builder.getVoidTy(), {IsTiny});
  // It may stand between regions (Spans.h), and is no obstacle to Polly.
  Mark->setDoesNotAccessMemory();
  Mark->setDoesNotThrow();
  Mark->addFnAttr(Attribute::WillReturn);
}

static bool isCallOf(const Instruction &I, StringRef Name) {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && Callee->getName() == Name;
}

template <typename RangeT>
static SmallVector<CallInst *, 8> findCalls(RangeT &&Code, StringRef Name) {
  SmallVector<CallInst *, 8> Calls;
  for (Instruction &I : Code)
    if (isCallOf(I, Name))
      Calls.push_back(cast<CallInst>(&I));
  return Calls;
}

namespace {

/// Blocks that are entered at the first one.
struct Piece {
  SetVector<BasicBlock *> Blocks;
  BasicBlock *Fallback = nullptr; // calls __pacc_rt_host_begin

  SmallVector<CallInst *, 8> marks() const {
    SmallVector<CallInst *, 8> Marks;
    for (BasicBlock *BB : Blocks)
      append_range(Marks, findCalls(*BB, Marker));
    return Marks;
  }
};

class Outliner {
public:
  Outliner(Function &F, FunctionAnalysisManager &FAM) : F(F), FAM(FAM) {}

  void run();

private:
  BasicBlock *split(CallInst *Call);
  Piece findPiece(BasicBlock *Entry, BasicBlock *Stop);
  bool extract(const Piece &P);
  void outlineSpan(CallInst *Begin);
  void outlineRegion(CallInst *Mark);
  void skipLoops(Value *IsTiny, BasicBlock *Question, BasicBlock *Fallback);
  void moveAllocas();

  Function &F;
  FunctionAnalysisManager &FAM;
  SmallVector<Function *, 8> Outlined;
};

} // namespace

/// The block that begins with the call, now.
BasicBlock *Outliner::split(CallInst *Call) {
  BasicBlock *Entry = SplitBlock(Call->getParent(), Call);
  FAM.invalidate(F, PreservedAnalyses::none());
  return Entry;
}

/// From \p Entry to where all its paths meet, or to \p Stop. Blocks is empty if
/// there is no such piece.
Piece Outliner::findPiece(BasicBlock *Entry, BasicBlock *Stop) {
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  auto &PDT = FAM.getResult<PostDominatorTreeAnalysis>(F);
  const DomTreeNode *After = PDT.getNode(Entry)->getIDom();
  if (!After || !After->getBlock())
    return {};
  Piece P;
  SmallVector<BasicBlock *, 32> Work = {Entry};
  while (!Work.empty()) {
    BasicBlock *BB = Work.pop_back_val();
    if (!DT.dominates(Entry, BB))
      return {};
    if (!P.Blocks.insert(BB))
      continue;
    for (BasicBlock *Next : successors(BB)) {
      if (Next == After->getBlock() || Next == Stop)
        continue;
      if (findCalls(*Next, "__pacc_rt_host_begin").empty())
        Work.push_back(Next);
      else if (P.Fallback && P.Fallback != Next)
        return {};
      else
        P.Fallback = Next;
    }
  }
  return P;
}

/// False: the piece has to stay.
bool Outliner::extract(const Piece &P) {
  CodeExtractor Extractor(P.Blocks.getArrayRef());
  if (!Extractor.isEligible())
    return false;
  Function *New = Extractor.extractCodeRegion(CodeExtractorAnalysisCache(F));
  FAM.invalidate(F, PreservedAnalyses::none());
  if (!New)
    return false;
  New->setName(F.getName() + ".offload");
  // Not 'cold': callers that always ask would be, too, with their loops.
  New->addFnAttr(Attribute::NoInline);
  New->addFnAttr(Attribute::OptimizeForSize);
  for (CallInst *Mark : findCalls(instructions(New), Marker))
    Mark->eraseFromParent();
  ignoreInlineCost(*cast<CallInst>(*New->user_begin()));
  Outlined.push_back(New);
  return true;
}

//===----------------------------------------------------------------------===//
// Next to nothing to do
//===----------------------------------------------------------------------===//

/// Goes from \p Question to \p Target, where tiny regions do, if nobody insists
/// on being asked.
static void skipTiny(Value *IsTiny, BasicBlock *Question, BasicBlock *Target) {
  Instruction *Asks = Question->getTerminator();
  IRBuilder<> Builder(Asks);
  Type *Word = Builder.getInt32Ty();
  LoadInst *Insists = Builder.CreateLoad(
      Word,
      Question->getModule()->getOrInsertGlobal("__pacc_rt_always_asked", Word));
  Insists->setAtomic(AtomicOrdering::Monotonic);
  Builder.CreateCondBr(Builder.CreateAnd(IsTiny, Builder.CreateIsNull(Insists)),
                       Target, Asks->getSuccessor(0));
  Asks->eraseFromParent();
}

/// The same for the loops behind \p Fallback: nobody is told that they ran.
void Outliner::skipLoops(Value *IsTiny, BasicBlock *Question,
                         BasicBlock *Fallback) {
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  CallInst *End = nullptr;
  for (CallInst *Call : findCalls(instructions(F), "__pacc_rt_host_end"))
    if (DT.dominates(Fallback, Call->getParent()))
      End = Call;
  BasicBlock *Loops = SplitBlock(Fallback, Fallback->getTerminator());
  skipTiny(IsTiny, Question, Loops);
  if (End) {
    IRBuilder<> Builder(Loops, Loops->begin());
    PHINode *IsTold = Builder.CreatePHI(Builder.getInt1Ty(), 2);
    IsTold->addIncoming(Builder.getFalse(), Question);
    IsTold->addIncoming(Builder.getTrue(), Fallback);
    End->moveBefore(SplitBlockAndInsertIfThen(IsTold, End->getIterator(), false)
                        ->getIterator());
  }
  FAM.invalidate(F, PreservedAnalyses::none());
}

/// Has \p V, and what it is computed from, before \p Place, outside of \p P.
static bool hoist(Value *V, const Piece &P, Instruction *Place) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !P.Blocks.contains(I->getParent()))
    return true;
  if (isa<PHINode>(I) || I->mayReadFromMemory() ||
      !isSafeToSpeculativelyExecute(I) ||
      !all_of(I->operands(), [&](Value *Op) { return hoist(Op, P, Place); }))
    return false;
  I->moveBefore(Place->getIterator());
  return true;
}

/// Are all regions of a span tiny? False: that is not known before it.
static Value *areTiny(const Piece &P, Instruction *Place) {
  IRBuilder<> Builder(Place);
  Value *All = Builder.getTrue();
  for (CallInst *Mark : P.marks()) {
    if (!hoist(Mark->getArgOperand(0), P, Place))
      return Builder.getFalse();
    All = Builder.CreateAnd(All, Mark->getArgOperand(0));
  }
  return All;
}

static bool isFalse(Value *Condition) {
  return PatternMatch::match(Condition, PatternMatch::m_Zero());
}

//===----------------------------------------------------------------------===//

void Outliner::outlineSpan(CallInst *Begin) {
  // If it can't be opened, or fails, its regions run one by one.
  BasicBlock *Question = Begin->getParent();
  BasicBlock *OneByOne = Question->getTerminator()->getSuccessor(1);
  Piece P = findPiece(split(Begin), OneByOne);
  if (P.Blocks.empty())
    return;
  Value *IsTiny = areTiny(P, Question->getTerminator());
  if (!extract(P) || isFalse(IsTiny))
    return;
  skipTiny(IsTiny, Question, OneByOne);
  FAM.invalidate(F, PreservedAnalyses::none());
}

void Outliner::outlineRegion(CallInst *Mark) {
  BasicBlock *Question = Mark->getParent();
  Value *IsTiny = Mark->getArgOperand(0);
  BasicBlock *Entry = split(Mark);
  Mark->eraseFromParent();
  Piece P = findPiece(Entry, nullptr);
  if (P.Fallback && P.marks().empty() && extract(P) && !isFalse(IsTiny))
    skipLoops(IsTiny, Question, P.Fallback);
}

/// Memory that nothing else uses is that of the new functions, of each its own:
/// no values pass in it from one to another.
void Outliner::moveAllocas() {
  for (Instruction &I : make_early_inc_range(F.getEntryBlock())) {
    auto *Slot = dyn_cast<AllocaInst>(&I);
    if (!Slot || !Slot->isStaticAlloca() ||
        !all_of(I.users(), [&](const User *U) {
          auto *Call = dyn_cast<CallInst>(U);
          return Call && is_contained(Outlined, Call->getCalledFunction());
        }))
      continue;
    for (Use &U : make_early_inc_range(I.uses())) {
      Function *To = cast<CallInst>(U.getUser())->getCalledFunction();
      Instruction *Own = I.clone();
      Own->insertBefore(To->getEntryBlock().getFirstInsertionPt());
      To->getArg(U.getOperandNo())->replaceAllUsesWith(Own);
      U.set(PoisonValue::get(I.getType()));
    }
    I.eraseFromParent();
  }
}

void Outliner::run() {
  for (CallInst *Begin : findCalls(instructions(F), "__pacc_rt_span_begin"))
    outlineSpan(Begin);
  for (CallInst *Mark : findCalls(instructions(F), Marker))
    outlineRegion(Mark);
  moveAllocas();
  if (Function *Unused = F.getParent()->getFunction(Marker))
    Unused->eraseFromParent();
}

void outlineRegions(Function &F, FunctionAnalysisManager &FAM) {
  Outliner(F, FAM).run();
}

} // namespace pacc
