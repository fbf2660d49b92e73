//===- ArrayNames.cpp - What the program calls an array -------------------===//
#include "Offload/ArrayNames.h"

#include "polly/ScopInfo.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace pacc {

/// The variable that is \p V: an address of it does not count.
static std::string sourceName(Value &V) {
  SmallVector<DbgVariableRecord *, 4> Records;
  findDbgUsers(&V, Records);
  for (const DbgVariableRecord *Record : Records)
    if (Record->isDbgDeclare() ||
        Record->getExpression()->getNumElements() == 0)
      return Record->getVariable()->getName().str();
  return "";
}

static std::string nameOf(Value &V) {
  if (std::string Name = sourceName(V); !Name.empty())
    return Name;
  if (V.hasName())
    return V.getName().str();
  if (auto *Arg = dyn_cast<Argument>(&V))
    return ("arg " + Twine(Arg->getArgNo() + 1) + " of " +
            Arg->getParent()->getName())
        .str();
  if (auto *Call = dyn_cast<CallBase>(&V); Call && Call->getCalledFunction())
    return ("result of " + Call->getCalledFunction()->getName()).str();
  // Of arrays that are swapped, what this one is at first.
  if (auto *PHI = dyn_cast<PHINode>(&V))
    for (Value *First : PHI->incoming_values())
      if (isa<Argument, GlobalVariable>(First))
        return nameOf(*First);
  if (auto *Load = dyn_cast<LoadInst>(&V))
    if (std::string From = nameOf(*const_cast<Value *>(
            getUnderlyingObject(Load->getPointerOperand())));
        !From.empty())
      return "*" + From;
  return "";
}

std::string arrayName(const polly::ScopArrayInfo &SAI) {
  Value *Base = SAI.getBasePtr(); // none yet for a scalar's cell
  std::string Name = Base ? nameOf(*Base) : "";
  if (!Name.empty())
    return Name;
  return SAI.isArrayKind() ? SAI.getName() : "scalar";
}

} // namespace pacc
