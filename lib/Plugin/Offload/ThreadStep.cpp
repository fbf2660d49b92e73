//===- ThreadStep.cpp - How addresses move from thread to thread ----------===//
#include "Offload/ThreadStep.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace pacc {

namespace {

using Step = std::optional<int64_t>;

class StepVisitor : public SCEVVisitor<StepVisitor, Step> {
public:
  StepVisitor(ScalarEvolution &SE, unsigned Dim) : SE(SE) {
    static const Intrinsic::ID Registers[] = {
        Intrinsic::nvvm_read_ptx_sreg_tid_x,
        Intrinsic::nvvm_read_ptx_sreg_tid_y,
        Intrinsic::nvvm_read_ptx_sreg_tid_z};
    Thread = Registers[Dim];
  }

  Step visitConstant(const SCEVConstant *) { return 0; }
  Step visitVScale(const SCEVVScale *) { return 0; }
  Step visitPtrToIntExpr(const SCEVPtrToIntExpr *S) {
    return visit(S->getOperand());
  }
  Step visitTruncateExpr(const SCEVTruncateExpr *S) {
    return visit(S->getOperand());
  }
  Step visitZeroExtendExpr(const SCEVZeroExtendExpr *S) {
    return visit(S->getOperand());
  }
  Step visitSignExtendExpr(const SCEVSignExtendExpr *S) {
    return visit(S->getOperand());
  }

  Step visitAddExpr(const SCEVAddExpr *S) {
    int64_t Sum = 0;
    for (const SCEV *Operand : S->operands()) {
      Step Part = visit(Operand);
      if (!Part)
        return std::nullopt;
      Sum += *Part;
    }
    return Sum;
  }

  /// A product moves if one factor does; the others must be constants then.
  Step visitMulExpr(const SCEVMulExpr *S) {
    int64_t Factor = 1, Moving = 0;
    bool Known = true;
    for (const SCEV *Operand : S->operands()) {
      Step Part = visit(Operand);
      auto *Constant = dyn_cast<SCEVConstant>(Operand);
      if (!Part || (*Part && Moving))
        return std::nullopt;
      if (*Part)
        Moving = *Part;
      else if (Constant && Constant->getAPInt().getSignificantBits() <= 64)
        Factor *= Constant->getAPInt().getSExtValue();
      else
        Known = false;
    }
    if (!Moving)
      return 0;
    return Known ? Step(Factor * Moving) : std::nullopt;
  }

  /// All threads are in the same iteration.
  Step visitAddRecExpr(const SCEVAddRecExpr *S) {
    for (const SCEV *Operand : drop_begin(S->operands())) {
      Step Part = visit(Operand);
      if (!Part || *Part)
        return std::nullopt;
    }
    return visit(S->getStart());
  }

  Step visitUDivExpr(const SCEVUDivExpr *S) {
    return still({S->getLHS(), S->getRHS()});
  }
  Step visitSMaxExpr(const SCEVSMaxExpr *S) { return still(S->operands()); }
  Step visitUMaxExpr(const SCEVUMaxExpr *S) { return still(S->operands()); }
  Step visitSMinExpr(const SCEVSMinExpr *S) { return still(S->operands()); }
  Step visitUMinExpr(const SCEVUMinExpr *S) { return still(S->operands()); }
  Step visitSequentialUMinExpr(const SCEVSequentialUMinExpr *S) {
    return still(S->operands());
  }

  Step visitUnknown(const SCEVUnknown *S) {
    auto *I = dyn_cast<Instruction>(S->getValue());
    if (!I)
      return 0;
    if (auto *Call = dyn_cast<IntrinsicInst>(I)) {
      if (Call->getIntrinsicID() == Thread)
        return 1;
      if (Call->arg_empty())
        return 0; // another register
    }
    // What is computed from values that do not move does not move; a value
    // from memory is known only by its address.
    if (isa<LoadInst>(I) || isa<CallInst>(I) || isa<PHINode>(I))
      return std::nullopt;
    for (Value *Operand : I->operands()) {
      if (!SE.isSCEVable(Operand->getType()))
        return std::nullopt;
      Step Part = visit(SE.getSCEV(Operand));
      if (!Part || *Part)
        return std::nullopt;
    }
    return 0;
  }

  Step visitCouldNotCompute(const SCEVCouldNotCompute *) {
    return std::nullopt;
  }

private:
  Step still(ArrayRef<const SCEV *> Operands) {
    for (const SCEV *Operand : Operands) {
      Step Part = visit(Operand);
      if (!Part || *Part)
        return std::nullopt;
    }
    return 0;
  }

  ScalarEvolution &SE;
  Intrinsic::ID Thread;
};

} // namespace

std::optional<int64_t> stepOfThread(ScalarEvolution &SE, Value *Pointer,
                                    unsigned Dim) {
  return StepVisitor(SE, Dim).visit(SE.getSCEV(Pointer));
}

} // namespace pacc
