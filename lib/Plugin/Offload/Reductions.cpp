//===- Reductions.cpp - Finding updates in any order ----------------------===//
#include "Offload/Reductions.h"

#include "Offload/Combination.h"
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
// Values that a loop nest carries
//===----------------------------------------------------------------------===//

namespace {

/// The values that one variable of the program takes in a loop nest: PHIs, and
/// updates of the one before.
class CarriedValue {
public:
  static std::optional<CarriedValue> find(PHINode &Start, Loop &L,
                                          DominatorTree &DT, LoopInfo &LI) {
    CarriedValue Carried(Start, L, DT, LI);
    if (!Carried.collect())
      return std::nullopt;
    return Carried;
  }

  /// Values are others afterwards.
  bool makeOneUnconditional() {
    return any_of(Values, [&](Instruction *V) {
      auto *PHI = dyn_cast<PHINode>(V);
      return PHI && L.contains(PHI) && !LI.isLoopHeader(PHI->getParent()) &&
             makeUnconditional(*PHI, DT);
    });
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
    for (auto &[Update, How] : Updates) {
      Value *Old = Update->getOperand(How.oldOperand());
      Instruction *Comparison = comparisonOf(*Update);
      Builder.SetInsertPoint(Comparison ? Comparison : Update);
      Value *Latest = Builder.CreateLoad(Start.getType(), Slot);
      Update->replaceUsesOfWith(Old, Latest);
      if (Comparison)
        Comparison->replaceUsesOfWith(Old, Latest);
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
  CarriedValue(PHINode &Start, Loop &L, DominatorTree &DT, LoopInfo &LI)
      : Start(Start), L(L), DT(DT), LI(LI) {}

  bool collect() {
    Exit = L.getUniqueExitBlock();
    if (!Exit || !L.getLoopPreheader() || !L.hasDedicatedExits())
      return false;
    Values.insert(&Start);
    for (unsigned I = 0; I < Values.size(); ++I)
      for (User *U : Values[I]->users())
        if (!addUser(*Values[I], *cast<Instruction>(U)))
          return false;
    return !Updates.empty() && comesFromInside() && isAlwaysTheLatest();
  }

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
    Instruction *Update = &U;
    if (isa<FCmpInst>(U) && U.hasOneUse())
      Update = cast<Instruction>(U.user_back());
    auto How = Combination::of(*Update, V);
    if (!How || (Update != &U && comparisonOf(*Update) != &U) ||
        (!Updates.empty() && !Updates.begin()->second.isLike(*How)))
      return false;
    const unsigned MaxUpdates = 8;
    Updates.insert({Update, *How});
    Values.insert(Update);
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
        for (const auto &Entry : Updates) {
          Instruction *Update = Entry.first;
          if (Update != V && Update != User && comparisonOf(*Update) != User &&
              any_of(Points, [&](Instruction *P) {
                return isBetween(*V, *Update, *P);
              }))
            return false;
        }
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
    if (Update.getParent() != Use.getParent() || Update.comesBefore(&Use))
      return isPotentiallyReachable(&Update, &Use, &Defined, &DT, &LI);
    SmallVector<BasicBlock *, 4> Next(successors(Update.getParent()));
    return isPotentiallyReachableFromMany(Next, Use.getParent(), &Defined, &DT,
                                          &LI);
  }

  PHINode &Start;
  Loop &L;
  DominatorTree &DT;
  LoopInfo &LI;
  BasicBlock *Exit = nullptr;
  SmallSetVector<Instruction *, 8> Values;
  MapVector<Instruction *, Combination> Updates;
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
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (auto *Select = dyn_cast<SelectInst>(&I);
        Select && LI.getLoopFor(Select->getParent()))
      Changed |= makeUnconditional(*Select);
  for (Loop *L : LI)
    for (PHINode &PHI : make_early_inc_range(L->getHeader()->phis())) {
      while (auto Carried = CarriedValue::find(PHI, *L, DT, LI)) {
        Changed = true;
        if (Carried->makeOneUnconditional())
          continue;
        Carried->demote();
        break;
      }
    }
  return Changed;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// The update whose result \p Write stores, if \p Stmt reads the element for it
/// and uses the array besides only to read other elements. Where another
/// instance updates those, dependences keep the two in order.
static std::optional<Combination> updateBy(ScopStmt &Stmt,
                                           const MemoryAccess &Write) {
  auto *Store = dyn_cast_or_null<StoreInst>(Write.getAccessInstruction());
  if (!Store || !Write.isMustWrite())
    return std::nullopt;
  auto *Operation = dyn_cast<Instruction>(Store->getValueOperand());
  if (!Operation || !Operation->hasOneUse() || !Stmt.contains(Operation))
    return std::nullopt;
  isl::map Element =
      Write.getLatestAccessRelation().intersect_domain(Stmt.getDomain());
  const MemoryAccess *Read = nullptr;
  for (MemoryAccess *MA : Stmt) {
    if (MA == &Write ||
        MA->getLatestScopArrayInfo() != Write.getLatestScopArrayInfo())
      continue;
    if (!MA->isRead())
      return std::nullopt;
    if (Element.is_disjoint(MA->getLatestAccessRelation()))
      continue;
    if (Read)
      return std::nullopt;
    Read = MA;
  }
  Instruction *Load = Read ? Read->getAccessInstruction() : nullptr;
  bool SameElement =
      Load && isa<LoadInst>(Load) && Load->getType() == Operation->getType() &&
      all_of(Load->users(),
             [&](User *U) {
               return U == Operation || U == comparisonOf(*Operation);
             }) &&
      Read->getLatestAccessRelation().is_equal(Write.getLatestAccessRelation());
  return SameElement ? Combination::of(*Operation, *Load) : std::nullopt;
}

UpdateMap findUpdates(Scop &S) {
  UpdateMap Updates;
  DenseMap<const ScopArrayInfo *, Combination> Kinds;
  DenseMap<Instruction *, const ScopArrayInfo *> Arrays;
  DenseSet<const ScopArrayInfo *> Mixed;
  for (ScopStmt &Stmt : S) {
    if (!Stmt.isBlockStmt())
      continue;
    for (MemoryAccess *MA : Stmt) {
      if (!MA->isLatestArrayKind() || !MA->isWrite())
        continue;
      std::optional<Combination> How = updateBy(Stmt, *MA);
      if (!How)
        continue;
      auto *Operation = cast<Instruction>(MA->getAccessValue());
      const ScopArrayInfo *SAI = MA->getLatestScopArrayInfo();
      Updates[Operation] = &Stmt;
      Arrays[Operation] = SAI;
      if (!Kinds.insert({SAI, *How}).first->second.isLike(*How))
        Mixed.insert(SAI);
    }
  }
  Updates.remove_if(
      [&](auto &Entry) { return Mixed.contains(Arrays[Entry.first]); });
  return Updates;
}

/// x = x + ..., in a register or in memory; the \p Operand is the old one.
static bool replaces(const Instruction &Sum, const Value &Operand,
                     const Loop *L) {
  if (auto *PHI = dyn_cast<PHINode>(&Operand))
    return is_contained(PHI->incoming_values(), &Sum);
  auto *Load = dyn_cast<LoadInst>(&Operand);
  if (!Load || !L || !L->isLoopInvariant(Load->getPointerOperand()))
    return false;
  return any_of(Sum.users(), [&](const User *U) {
    auto *Store = dyn_cast<StoreInst>(U);
    return Store && Store->getPointerOperand() == Load->getPointerOperand();
  });
}

/// Is \p I a step of a sum or product in \p L that may not be reordered?
static bool isOrderedStep(const Instruction &I, const Loop *L) {
  if (!isa<FPMathOperator>(I) || I.hasAllowReassoc())
    return false;
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FMul:
    return replaces(I, *I.getOperand(0), L) || replaces(I, *I.getOperand(1), L);
  case Instruction::FSub:
    return replaces(I, *I.getOperand(0), L);
  default:
    auto *Call = dyn_cast<IntrinsicInst>(&I);
    return Call && Call->getIntrinsicID() == Intrinsic::fmuladd &&
           replaces(I, *Call->getArgOperand(2), L);
  }
}

bool hasOrderedSum(const Scop &S) {
  return any_of(S.getRegion().blocks(), [&](BasicBlock *BB) {
    const Loop *L = S.getLI()->getLoopFor(BB);
    return any_of(*BB,
                  [&](const Instruction &I) { return isOrderedStep(I, L); });
  });
}

} // namespace pacc
