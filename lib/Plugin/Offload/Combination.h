//===- Combination.h - What an update computes ------------------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_COMBINATION_H
#define PACC_PLUGIN_OFFLOAD_COMBINATION_H

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace pacc {

/// `old op x`, such that a series of them gives the same value in any order: on
/// whole numbers, on floating point that the program allows to be reassociated,
/// and extrema. An operation is a binary operator, an intrinsic, or a select
/// together with its comparison.
class Combination {
public:
  /// \p Operation with \p Old as the old value; nullopt if it is none. Of
  /// `x > old ? x : old` the sign of a zero depends on the order. That is no
  /// matter if the program says so or x is never -0.0; \p CheckZeros = false
  /// does not look.
  static std::optional<Combination> of(const llvm::Instruction &Operation,
                                       const llvm::Value &Old,
                                       bool CheckZeros = true);

  /// Operand number of the old value.
  unsigned oldOperand() const { return Old; }
  /// x as create() takes it: negated for a subtraction.
  llvm::Value *createNew(llvm::IRBuilderBase &Builder,
                         llvm::Instruction &Operation) const;
  /// \p Old op \p New
  llvm::Value *create(llvm::IRBuilderBase &Builder, llvm::Value *Old,
                      llvm::Value *New) const;
  /// What changes nothing: old op identity = old.
  llvm::Constant *identity() const;
  /// The machine's own operation on memory; nullopt if there is none.
  std::optional<llvm::AtomicRMWInst::BinOp> atomic() const;
  llvm::Type *type() const { return Ty; }

  /// May operations of both be mixed in a series?
  bool isLike(const Combination &Other) const {
    return Kind == Other.Kind && Ty == Other.Ty && Predicate == Other.Predicate;
  }

  /// What both allow.
  Combination meet(const Combination &Other) const {
    Combination Result = *this;
    Result.Flags &= Other.Flags;
    return Result;
  }

private:
  llvm::Type *Ty = nullptr;
  /// Opcode of a binary operator (Add, FAdd for subtractions) or the number of
  /// an intrinsic after all opcodes. FCmpGreater and FCmpLess are selects.
  unsigned Kind = 0;
  unsigned Old = 0;
  /// Of a select: `x Predicate old ? x : old`.
  llvm::CmpInst::Predicate Predicate = llvm::CmpInst::BAD_FCMP_PREDICATE;
  llvm::FastMathFlags Flags;
};

/// The comparison that belongs to an update by select, or null.
llvm::Instruction *comparisonOf(const llvm::Instruction &Operation);

} // namespace pacc

#endif
