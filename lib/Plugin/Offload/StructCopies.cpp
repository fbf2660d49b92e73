//===- StructCopies.cpp - Copies of a few bytes ---------------------------===//
#include "Offload/StructCopies.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace pacc {

namespace {

/// Bytes from the begin of the block, and a size that one number has.
struct Piece {
  uint64_t Offset, Size;
};

} // namespace

/// The fields of a block of \p Length bytes: what `tbaa.struct` says, without
/// the padding, or the widest numbers that its alignment allows. Empty if there
/// are too many.
static SmallVector<Piece, 16> piecesOf(const MemIntrinsic &Block,
                                       uint64_t Length, Align Alignment) {
  const unsigned MaxPieces = 16;
  SmallVector<Piece, 16> Pieces;
  auto Add = [&](uint64_t Offset, uint64_t Size) {
    uint64_t Unit =
        MinAlign(MinAlign(Size, 8), commonAlignment(Alignment, Offset).value());
    for (uint64_t I = 0; I < Size && Pieces.size() <= MaxPieces; I += Unit)
      Pieces.push_back({Offset + I, Unit});
  };
  if (MDNode *Fields = Block.getMetadata(LLVMContext::MD_tbaa_struct)) {
    auto Number = [&](unsigned I) {
      return mdconst::extract<ConstantInt>(Fields->getOperand(I))
          ->getZExtValue();
    };
    for (unsigned I = 0; I + 2 < Fields->getNumOperands(); I += 3)
      Add(Number(I), Number(I + 1));
  } else {
    Add(0, Length);
  }
  if (Pieces.size() > MaxPieces)
    Pieces.clear();
  return Pieces;
}

static bool split(MemIntrinsic &Block) {
  auto *Length = dyn_cast<ConstantInt>(Block.getLength());
  auto *Copy = dyn_cast<MemTransferInst>(&Block);
  auto *Set = dyn_cast<MemSetInst>(&Block);
  auto *Byte = Set ? dyn_cast<ConstantInt>(Set->getValue()) : nullptr;
  if (!Length || Block.isVolatile() || (!Copy && !Byte))
    return false;
  Align To = Block.getDestAlign().valueOrOne();
  Align From = Copy ? Copy->getSourceAlign().valueOrOne() : To;
  SmallVector<Piece, 16> Pieces =
      piecesOf(Block, Length->getZExtValue(), std::min(To, From));
  if (Pieces.empty())
    return false;
  IRBuilder<> Builder(&Block);
  AAMDNodes Aliasing = Block.getAAMetadata();
  Aliasing.TBAA = Aliasing.TBAAStruct = nullptr;
  // Everything is read before anything is written: the blocks may overlap.
  SmallVector<Value *, 16> Values;
  for (Piece P : Pieces) {
    if (!Copy) {
      Values.push_back(
          Builder.getInt(APInt::getSplat(8 * P.Size, Byte->getValue())));
      continue;
    }
    LoadInst *Load = Builder.CreateAlignedLoad(
        Builder.getIntNTy(8 * P.Size),
        Builder.CreateConstInBoundsGEP1_64(Builder.getInt8Ty(),
                                           Copy->getSource(), P.Offset),
        commonAlignment(From, P.Offset));
    Load->setAAMetadata(Aliasing);
    Values.push_back(Load);
  }
  for (auto [P, V] : zip(Pieces, Values))
    Builder
        .CreateAlignedStore(V,
                            Builder.CreateConstInBoundsGEP1_64(
                                Builder.getInt8Ty(), Block.getDest(), P.Offset),
                            commonAlignment(To, P.Offset))
        ->setAAMetadata(Aliasing);
  Block.eraseFromParent();
  return true;
}

bool splitStructCopies(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (auto *Block = dyn_cast<MemIntrinsic>(&I);
        Block && LI.getLoopFor(Block->getParent()))
      Changed |= split(*Block);
  return Changed;
}

} // namespace pacc
