//===- Reductions.cpp - Finding updates in any order ----------------------===//
#include "Offload/Reductions.h"

#include "polly/ScopInfo.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace polly;

namespace pacc {

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The opcode or the intrinsic's number; subtraction counts as addition. 0: the
/// order of such operations matters.
static unsigned kindOf(const Instruction &Operation) {
  if (auto *Call = dyn_cast<IntrinsicInst>(&Operation))
    switch (Call->getIntrinsicID()) {
    case Intrinsic::smax:
    case Intrinsic::smin:
    case Intrinsic::umax:
    case Intrinsic::umin:
      return Instruction::OtherOpsEnd + Call->getIntrinsicID();
    default:
      return 0;
    }
  switch (Operation.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
    return Instruction::Add;
  case Instruction::FAdd:
  case Instruction::FSub:
    return Operation.hasAllowReassoc() ? unsigned(Instruction::FAdd) : 0;
  case Instruction::FMul:
    return Operation.hasAllowReassoc() ? unsigned(Instruction::FMul) : 0;
  case Instruction::Mul:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
    return Operation.getOpcode();
  default:
    return 0;
  }
}

/// What one atomic operation can hold.
static bool isAtomicType(const Type *Ty) {
  return Ty->isFloatTy() || Ty->isDoubleTy() || Ty->isIntegerTy(8) ||
         Ty->isIntegerTy(16) || Ty->isIntegerTy(32) || Ty->isIntegerTy(64);
}

std::optional<unsigned> oldOperandOf(const Instruction &Operation,
                                     const Value &Old) {
  if (!kindOf(Operation) || !isAtomicType(Operation.getType()))
    return std::nullopt;
  bool First = Operation.getOperand(0) == &Old;
  bool Second = Operation.getOperand(1) == &Old;
  bool Subtracts = Operation.getOpcode() == Instruction::Sub ||
                   Operation.getOpcode() == Instruction::FSub;
  if (First == Second || (Second && Subtracts))
    return std::nullopt;
  return First ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// Values that a loop nest carries
//===----------------------------------------------------------------------===//

namespace {

/// The values that one variable of the program takes in a loop nest: PHIs, and
/// updates of the one before.
class CarriedValue {
public:
  CarriedValue(PHINode &Start, Loop &L, DominatorTree &DT, LoopInfo &LI)
      : Start(Start), L(L), DT(DT), LI(LI) {}

  bool collect() {
    Exit = L.getUniqueExitBlock();
    if (!Exit || !L.getLoopPreheader() || !L.hasDedicatedExits() ||
        !isAtomicType(Start.getType()))
      return false;
    Values.insert(&Start);
    for (unsigned I = 0; I < Values.size(); ++I)
      for (User *U : Values[I]->users())
        if (!addUser(*Values[I], *cast<Instruction>(U)))
          return false;
    return !Updates.empty() && comesFromInside() && isAlwaysTheLatest();
  }

  void demote() {
    Function &F = *L.getHeader()->getParent();
    auto *Slot = new AllocaInst(
        Start.getType(), F.getDataLayout().getAllocaAddrSpace(),
        Start.getName() + ".sum", F.getEntryBlock().getFirstInsertionPt());
    IRBuilder<> Builder(L.getLoopPreheader()->getTerminator());
    Builder.CreateStore(Start.getIncomingValueForBlock(L.getLoopPreheader()),
                        Slot);
    Builder.SetInsertPoint(Exit, Exit->getFirstInsertionPt());
    Value *Result = Builder.CreateLoad(Start.getType(), Slot);
    SmallSetVector<PHINode *, 2> Copies;
    for (Instruction *V : Values)
      for (Use &U : make_early_inc_range(V->uses())) {
        auto *Outside = cast<Instruction>(U.getUser());
        if (L.contains(Outside))
          continue;
        if (auto *PHI = dyn_cast<PHINode>(Outside);
            PHI && PHI->getParent() == Exit)
          Copies.insert(PHI);
        else
          U.set(Result);
      }
    for (PHINode *Copy : Copies) {
      Copy->replaceAllUsesWith(Result);
      Copy->eraseFromParent();
    }
    for (Instruction *Update : Updates) {
      unsigned Old = 0;
      while (!Values.contains(dyn_cast<Instruction>(Update->getOperand(Old))))
        ++Old;
      Builder.SetInsertPoint(Update);
      Update->setOperand(Old, Builder.CreateLoad(Start.getType(), Slot));
      Builder.SetInsertPoint(Update->getNextNode());
      Builder.CreateStore(Update, Slot);
    }
    for (Instruction *V : Values)
      if (isa<PHINode>(V)) {
        V->replaceAllUsesWith(PoisonValue::get(V->getType()));
        V->eraseFromParent();
      }
  }

private:
  bool addUser(Instruction &V, Instruction &U) {
    if (!L.contains(&U)) {
      auto *PHI = dyn_cast<PHINode>(&U);
      return !PHI || PHI->getParent() != Exit ||
             all_of(PHI->operands(), [&](Value *In) {
               return Values.contains(dyn_cast<Instruction>(In));
             });
    }
    if (isa<PHINode>(U)) {
      Values.insert(&U);
      return true;
    }
    if (!oldOperandOf(U, V) ||
        (!Updates.empty() && kindOf(*Updates[0]) != kindOf(U)))
      return false;
    const unsigned MaxUpdates = 8;
    Updates.insert(&U);
    Values.insert(&U);
    return Updates.size() <= MaxUpdates;
  }

  /// Only the first value comes from before the loop.
  bool comesFromInside() const {
    return all_of(Values, [&](Instruction *V) {
      auto *PHI = dyn_cast<PHINode>(V);
      return !PHI || all_of(PHI->blocks(), [&](BasicBlock *BB) {
        return !L.contains(BB) ? PHI == &Start
                               : Values.contains(dyn_cast<Instruction>(
                                     PHI->getIncomingValueForBlock(BB)));
      });
    });
  }

  /// With one slot for all values, none may be used after a later one exists:
  /// no update lies on a way from a value to its use.
  bool isAlwaysTheLatest() const {
    for (Instruction *V : Values)
      for (Use &U : V->uses()) {
        auto *User = cast<Instruction>(U.getUser());
        SmallVector<Instruction *, 4> Points;
        if (auto *PHI = dyn_cast<PHINode>(User))
          Points.push_back(PHI->getIncomingBlock(U)->getTerminator());
        else if (L.contains(User))
          Points.push_back(User);
        else
          for (BasicBlock *Exiting : predecessors(Exit))
            Points.push_back(Exiting->getTerminator());
        for (Instruction *Update : Updates)
          if (Update != V && Update != User &&
              any_of(Points, [&](Instruction *P) {
                return isBetween(*V, *Update, *P);
              }))
            return false;
      }
    return true;
  }

  bool isBetween(Instruction &V, Instruction &Update, Instruction &Use) const {
    BasicBlock *BB = V.getParent();
    if (Update.getParent() == BB && Update.comesBefore(&V))
      return false;
    // Whoever enters the block of V once more passes V.
    if (Use.getParent() == BB)
      return Update.getParent() == BB && Update.comesBefore(&Use);
    SmallPtrSet<BasicBlock *, 1> Defined = {BB};
    return isPotentiallyReachable(&Update, &Use, &Defined, &DT, &LI);
  }

  PHINode &Start;
  Loop &L;
  DominatorTree &DT;
  LoopInfo &LI;
  BasicBlock *Exit = nullptr;
  SmallSetVector<Instruction *, 8> Values;
  SmallSetVector<Instruction *, 8> Updates;
};

} // namespace

/// A fused multiply-add that may be reassociated is a product and a sum.
static bool splitMultiplyAdds(Function &F) {
  bool Changed = false;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    if (!Call || Call->getIntrinsicID() != Intrinsic::fmuladd ||
        !Call->hasAllowReassoc())
      continue;
    IRBuilder<> Builder(Call);
    Value *Product = Builder.CreateFMulFMF(Call->getArgOperand(0),
                                           Call->getArgOperand(1), Call);
    Call->replaceAllUsesWith(
        Builder.CreateFAddFMF(Product, Call->getArgOperand(2), Call));
    Call->eraseFromParent();
    Changed = true;
  }
  return Changed;
}

bool demoteReductions(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  auto &DT = FAM.getResult<DominatorTreeAnalysis>(F);
  bool Changed = splitMultiplyAdds(F);
  for (Loop *L : LI)
    for (PHINode &PHI : make_early_inc_range(L->getHeader()->phis())) {
      CarriedValue Carried(PHI, *L, DT, LI);
      if (!Carried.collect())
        continue;
      Carried.demote();
      Changed = true;
    }
  return Changed;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// The operation whose result \p Write stores, if \p Stmt reads the element for
/// it and does nothing else with the array.
static Instruction *updateBy(ScopStmt &Stmt, const MemoryAccess &Write) {
  auto *Store = dyn_cast_or_null<StoreInst>(Write.getAccessInstruction());
  if (!Store || !Write.isMustWrite())
    return nullptr;
  auto *Operation = dyn_cast<Instruction>(Store->getValueOperand());
  if (!Operation || !Operation->hasOneUse() || !Stmt.contains(Operation))
    return nullptr;
  const MemoryAccess *Read = nullptr;
  for (MemoryAccess *MA : Stmt) {
    if (MA == &Write ||
        MA->getLatestScopArrayInfo() != Write.getLatestScopArrayInfo())
      continue;
    if (Read || !MA->isRead())
      return nullptr;
    Read = MA;
  }
  Instruction *Load = Read ? Read->getAccessInstruction() : nullptr;
  bool SameElement =
      Load && isa<LoadInst>(Load) && Load->hasOneUse() &&
      Load->getType() == Operation->getType() &&
      Read->getLatestAccessRelation().is_equal(Write.getLatestAccessRelation());
  return SameElement && oldOperandOf(*Operation, *Load) ? Operation : nullptr;
}

UpdateMap findUpdates(Scop &S) {
  UpdateMap Updates;
  DenseMap<const ScopArrayInfo *, unsigned> Kinds;
  DenseMap<Instruction *, const ScopArrayInfo *> Arrays;
  DenseSet<const ScopArrayInfo *> Mixed;
  for (ScopStmt &Stmt : S) {
    if (!Stmt.isBlockStmt())
      continue;
    for (MemoryAccess *MA : Stmt) {
      if (!MA->isLatestArrayKind() || !MA->isWrite())
        continue;
      Instruction *Operation = updateBy(Stmt, *MA);
      if (!Operation)
        continue;
      const ScopArrayInfo *SAI = MA->getLatestScopArrayInfo();
      Updates[Operation] = &Stmt;
      Arrays[Operation] = SAI;
      if (Kinds.insert({SAI, kindOf(*Operation)}).first->second !=
          kindOf(*Operation))
        Mixed.insert(SAI);
    }
  }
  Updates.remove_if(
      [&](auto &Entry) { return Mixed.contains(Arrays[Entry.first]); });
  return Updates;
}

} // namespace pacc
