//===- Streams.cpp - Streams that a thread makes for one launch -----------===//
#include "Streams.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace pacc {

static constexpr StringLiteral CreateName = "__cudaCDP2StreamCreateWithFlags";
static constexpr StringLiteral DestroyName = "__cudaCDP2StreamDestroy";

/// cudaStreamNonBlocking: the stream does not wait for the NULL stream.
static constexpr uint64_t NonBlocking = 1;

static constexpr unsigned StreamOperand = 5;

static bool calls(const User &U, StringRef Name) {
  const auto *Call = dyn_cast<CallBase>(&U);
  return Call && Call->getCalledFunction() &&
         Call->getCalledFunction()->getName() == Name;
}

bool isStreamCall(const CallBase &Call) {
  return calls(Call, CreateName) || calls(Call, DestroyName);
}

/// Collects what is done with the handle; false if that is more than to launch
/// and to destroy.
static bool collectUses(LoadInst &Load, const CallBase &Launch,
                        PrivateStream &Stream) {
  if (Load.isVolatile())
    return false;
  Stream.Loads.push_back(&Load);
  for (const Use &U : Load.uses()) {
    if (calls(*U.getUser(), DestroyName))
      Stream.Destroys.push_back(cast<CallBase>(U.getUser()));
    else if (U.getUser() != &Launch || U.getOperandNo() != StreamOperand)
      return false;
  }
  return true;
}

static bool collectUses(AllocaInst &Handle, const CallBase &Launch,
                        PrivateStream &Stream) {
  for (User *U : Handle.users()) {
    if (auto *Load = dyn_cast<LoadInst>(U)) {
      if (!collectUses(*Load, Launch, Stream))
        return false;
    } else if (calls(*U, CreateName)) {
      auto *Create = cast<CallBase>(U);
      auto *Flags = dyn_cast<ConstantInt>(Create->getArgOperand(1));
      if (Stream.Create || !Flags || Flags->getZExtValue() != NonBlocking)
        return false;
      Stream.Create = Create;
    } else if (!isa<LifetimeIntrinsic>(U)) {
      return false;
    }
  }
  return Stream.Create != nullptr;
}

std::optional<PrivateStream> privateStreamOf(const CallBase &Launch) {
  auto *Load = dyn_cast<LoadInst>(Launch.getArgOperand(StreamOperand));
  auto *Handle =
      Load ? dyn_cast<AllocaInst>(Load->getPointerOperand()) : nullptr;
  PrivateStream Stream;
  if (!Handle || !collectUses(*Handle, Launch, Stream))
    return std::nullopt;
  // Between two launches a new stream is made.
  Function &F = *Stream.Create->getFunction();
  CycleInfo Cycles;
  Cycles.compute(F);
  if (!DominatorTree(F).dominates(Stream.Create, &Launch) ||
      Cycles.getCycle(Stream.Create->getParent()) !=
          Cycles.getCycle(Launch.getParent()))
    return std::nullopt;
  return Stream;
}

void PrivateStream::erase() {
  auto Succeed = [](CallBase *Call) {
    Call->replaceAllUsesWith(Constant::getNullValue(Call->getType()));
    Call->eraseFromParent();
  };
  Succeed(Create);
  for (CallBase *Destroy : Destroys)
    Succeed(Destroy);
  for (LoadInst *Load : Loads) {
    Load->replaceAllUsesWith(Constant::getNullValue(Load->getType()));
    Load->eraseFromParent();
  }
}

} // namespace pacc
