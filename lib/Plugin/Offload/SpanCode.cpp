//===- SpanCode.cpp - The code of a span ----------------------------------===//
//
//                      before
//                        |
//                       Open --------- no ---------+
//                        |                         |
//              the blocks, data stay          One by one <---- Abort
//                        |      \                  |             ^
//                      Close     +-- failure ------|-------------+
//                     /     \                the blocks again
//                 yes        no -> One by one      |
//                  |                               |
//                After <---------------------------+
//
//===----------------------------------------------------------------------===//
#include "Offload/SpanCode.h"

#include "Offload/RuntimeCalls.h"
#include "Offload/Spans.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace pacc {

namespace {

class SpanWriter {
public:
  SpanWriter(Function &F, Span &S, DenseSet<const BasicBlock *> &Handled)
      : F(F), S(S), Handled(Handled), C(F.getContext()) {}

  void write(Constant *Descriptor);

private:
  void bound();
  void copyBlocks();
  void mergeValues();
  void connect(Constant *Descriptor);
  void removeDeadBlocks();
  void keepArrays(const OffloadedRegion &R);

  Function &F;
  Span &S;
  DenseSet<const BasicBlock *> &Handled;
  LLVMContext &C;
  BasicBlock *Open = nullptr, *Last = nullptr, *After = nullptr;
  BasicBlock *OneByOne = nullptr, *Abort = nullptr, *Close = nullptr;
  ValueToValueMapTy Copies;
  Value *Handle = nullptr;
};

} // namespace

/// One block before the first, one last block, one block after it.
void SpanWriter::bound() {
  SmallVector<BasicBlock *, 4> Outside, Leaving;
  for (BasicBlock *BB : predecessors(S.Entry))
    if (!S.Blocks.contains(BB))
      Outside.push_back(BB);
  Open = SplitBlockPredecessors(S.Entry, Outside, ".span");
  for (BasicBlock *BB : predecessors(S.Exit))
    if (S.Blocks.contains(BB))
      Leaving.push_back(BB);
  Last = SplitBlockPredecessors(S.Exit, Leaving, ".span.last");
  S.Blocks.insert(Last);
  After = BasicBlock::Create(C, "pacc.span.after", &F, S.Exit);
  BranchInst::Create(S.Exit, After);
  Last->getTerminator()->replaceSuccessorWith(S.Exit, After);
  S.Exit->replacePhiUsesWith(Last, After);
}

void SpanWriter::copyBlocks() {
  SmallVector<BasicBlock *, 32> Made;
  for (BasicBlock *BB : S.Blocks) {
    BasicBlock *Copy = CloneBasicBlock(BB, Copies, ".one", &F);
    Copies[BB] = Copy;
    Made.push_back(Copy);
    // No loop is reported twice.
    Handled.insert(Copy);
  }
  remapInstructionsInBlocks(Made, Copies);
}

/// Values that are used after the span come from either copy.
void SpanWriter::mergeValues() {
  auto *LastCopy = cast<BasicBlock>(Copies[Last]);
  for (BasicBlock *BB : S.Blocks)
    for (Instruction &I : *BB) {
      PHINode *Merged = nullptr;
      for (Use &U : make_early_inc_range(I.uses())) {
        auto *User = cast<Instruction>(U.getUser());
        if (User == Merged || S.Blocks.contains(User->getParent()))
          continue;
        if (!Merged) {
          Merged = PHINode::Create(I.getType(), 2, I.getName() + ".span",
                                   After->begin());
          Merged->addIncoming(&I, Close);
          Merged->addIncoming(Copies[&I], LastCopy);
        }
        U.set(Merged);
      }
    }
}

void SpanWriter::connect(Constant *Descriptor) {
  IRBuilder<> Builder(Open->getTerminator());
  Handle = callRuntime(Builder, "__pacc_rt_span_begin", Builder.getPtrTy(),
                       {Descriptor});
  Builder.CreateCondBr(Builder.CreateIsNotNull(Handle), S.Entry, OneByOne);
  Open->getTerminator()->eraseFromParent();

  auto *EntryCopy = cast<BasicBlock>(Copies[S.Entry]);
  BranchInst::Create(EntryCopy, OneByOne);
  EntryCopy->replacePhiUsesWith(Open, OneByOne);

  Last->getTerminator()->replaceSuccessorWith(After, Close);
  Builder.SetInsertPoint(Close);
  Value *Done = callRuntime(Builder, "__pacc_rt_span_end", Builder.getInt32Ty(),
                            {Handle});
  Builder.CreateCondBr(Builder.CreateIsNotNull(Done), After, OneByOne);

  Builder.SetInsertPoint(Abort);
  callRuntime(Builder, "__pacc_rt_span_abort", Builder.getVoidTy(), {Handle});
  Builder.CreateBr(OneByOne);
}

/// What ran the region's original loops gives the span up; the runtime is told
/// that the region is part of a span.
void SpanWriter::keepArrays(const OffloadedRegion &R) {
  for (BasicBlock *From : to_vector(predecessors(R.Fallback)))
    if (S.Blocks.contains(From))
      From->getTerminator()->replaceSuccessorWith(R.Fallback, Abort);

  Module *M = F.getParent();
  for (const OffloadedRegion::Array &Array : R.Arrays)
    if (!Array.Place->hasMetadata(CellMetadata))
      Array.Place->setCalledFunction(M->getOrInsertFunction(
          "__pacc_rt_span_array", Array.Place->getFunctionType()));

  auto Replace = [&](CallInst *Old, StringRef Name) {
    IRBuilder<> Builder(Old);
    SmallVector<Value *, 6> Arguments = {Handle};
    append_range(Arguments, Old->args());
    Old->replaceAllUsesWith(
        callRuntime(Builder, Name, Old->getType(), Arguments));
    Old->eraseFromParent();
  };
  if (R.Worth)
    Replace(R.Worth, "__pacc_rt_span_worth");
  Replace(R.Begin, "__pacc_rt_span_region");
}

void SpanWriter::write(Constant *Descriptor) {
  bound();
  copyBlocks();
  OneByOne = BasicBlock::Create(C, "pacc.one.by.one", &F);
  Abort = BasicBlock::Create(C, "pacc.span.abort", &F);
  Close = BasicBlock::Create(C, "pacc.span.close", &F);
  connect(Descriptor);
  mergeValues();
  for (const OffloadedRegion *R : S.Regions)
    keepArrays(*R);
  removeDeadBlocks();
}

/// The original loops of the first copy, for example.
void SpanWriter::removeDeadBlocks() {
  df_iterator_default_set<BasicBlock *> Reachable;
  for (BasicBlock *BB : depth_first_ext(&F, Reachable))
    (void)BB;
  for (BasicBlock &BB : F)
    if (!Reachable.contains(&BB))
      Handled.erase(&BB);
  EliminateUnreachableBlocks(F);
}

void writeSpan(Function &F, Span &S, Constant *Descriptor,
               DenseSet<const BasicBlock *> &Handled) {
  SpanWriter(F, S, Handled).write(Descriptor);
}

} // namespace pacc
