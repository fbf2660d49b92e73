//===- DebugLines.cpp - Lines of the source in device code ----------------===//
#include "Offload/DebugLines.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace polly;

namespace pacc {

//===----------------------------------------------------------------------===//
// Copies of statements
//===----------------------------------------------------------------------===//

/// Gives the accesses of one kind in the copy the places of the originals. Of
/// other accesses to arrays, loads of scalars that are kept there come first,
/// stores of them last.
static void locate(ArrayRef<Instruction *> Originals,
                   ArrayRef<Instruction *> Copies) {
  if (Originals.empty() || Originals.size() > Copies.size())
    return;
  Copies = isa<LoadInst>(Originals[0]) ? Copies.take_back(Originals.size())
                                       : Copies.take_front(Originals.size());
  for (auto [Original, Copy] : zip_equal(Originals, Copies))
    Copy->setDebugLoc(Original->getDebugLoc());
}

static void locateInBlock(ScopStmt &Stmt, ArrayRef<Instruction *> Originals,
                          iterator_range<BasicBlock::iterator> Copy) {
  SmallVector<Instruction *, 8> Loads, Stores, NewLoads, NewStores;
  for (Instruction *I : Originals)
    if (isa<LoadInst, StoreInst>(I) && Stmt.getArrayAccessOrNULLFor(I))
      (isa<LoadInst>(I) ? Loads : Stores).push_back(I);
  for (Instruction &I : Copy)
    if (Value *Address = getLoadStorePointerOperand(&I);
        Address && !isa<AllocaInst>(Address))
      (isa<LoadInst>(I) ? NewLoads : NewStores).push_back(&I);
  locate(Loads, NewLoads);
  locate(Stores, NewStores);
}

void locateAccesses(ScopStmt &Stmt, BasicBlock *First,
                    BasicBlock::iterator End) {
  if (Stmt.isBlockStmt()) {
    locateInBlock(
        Stmt, Stmt.getInstructions(),
        {First->begin(), First == End->getParent() ? End : First->end()});
    return;
  }
  // The copy of a region starts with a block of its own, and has the same
  // branches otherwise.
  SetVector<std::pair<BasicBlock *, BasicBlock *>> Pairs;
  if (BasicBlock *Entry = First->getSingleSuccessor())
    Pairs.insert({Stmt.getEntryBlock(), Entry});
  for (size_t P = 0; P < Pairs.size(); ++P) {
    auto [Old, New] = Pairs[P];
    SmallVector<Instruction *, 16> Originals;
    for (Instruction &I : *Old)
      Originals.push_back(&I);
    locateInBlock(Stmt, Originals, *New);
    Instruction *OldEnd = Old->getTerminator(), *NewEnd = New->getTerminator();
    if (OldEnd->getNumSuccessors() != NewEnd->getNumSuccessors())
      continue;
    for (unsigned S = 0; S < OldEnd->getNumSuccessors(); ++S)
      if (Stmt.getRegion()->contains(OldEnd->getSuccessor(S)))
        Pairs.insert({OldEnd->getSuccessor(S), NewEnd->getSuccessor(S)});
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

DebugLines::Places DebugLines::take(Function &Kernel) {
  Places Found;
  bool Any = false;
  for (Instruction &I : instructions(Kernel)) {
    Found.push_back(I.getDebugLoc());
    // Remarks alone make places, too.
    if (const DILocation *Place = Found.back())
      if (const DICompileUnit *Unit =
              Place->getScope()->getSubprogram()->getUnit())
        Any |= Unit->getEmissionKind() != DICompileUnit::NoDebug;
  }
  stripDebugInfo(Kernel);
  return Any ? Found : Places();
}

DISubprogram *DebugLines::createFunction(DIFile *File, StringRef Name,
                                         StringRef LinkageName, unsigned Line) {
  if (!Builder) {
    Builder = std::make_unique<DIBuilder>(Device);
    Builder->createCompileUnit(
        DISourceLanguageName(dwarf::DW_LANG_C99), File, "polly-acc",
        /*isOptimized=*/true, "", 0, "", DICompileUnit::DebugDirectivesOnly);
    Device.addModuleFlag(Module::Warning, "Debug Info Version",
                         DEBUG_METADATA_VERSION);
  }
  DISubroutineType *Type =
      Builder->createSubroutineType(Builder->getOrCreateTypeArray({}));
  DISubprogram *New = Builder->createFunction(
      File, Name, LinkageName, File, Line, Type, Line, DINode::FlagZero,
      DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized);
  Builder->finalizeSubprogram(New);
  return New;
}

/// Includes are what makes a function stand in several files.
DILocalScope *DebugLines::scopeIn(DISubprogram *Function, DIFile *File) {
  if (File == Function->getFile())
    return Function;
  return Builder->createLexicalBlockFile(Function, File);
}

DILocation *DebugLines::translate(const DILocation *Place,
                                  DISubprogram *Kernel) {
  DISubprogram *Function = Kernel;
  DILocation *At = nullptr;
  if (const DILocation *Caller = Place->getInlinedAt()) {
    const DISubprogram *Old = Place->getScope()->getSubprogram();
    DISubprogram *&Known = Inlined[Old];
    if (!Known)
      Known = createFunction(Old->getFile(), Old->getName(),
                             Old->getLinkageName(), Old->getLine());
    Function = Known;
    At = translate(Caller, Kernel);
  }
  return DILocation::get(Device.getContext(), Place->getLine(),
                         Place->getColumn(),
                         scopeIn(Function, Place->getFile()), At);
}

void DebugLines::give(Function &Kernel, const Places &Places, DebugLoc Start) {
  if (Places.empty())
    return;
  if (!Start)
    Start = *find_if(Places, [](const DebugLoc &Place) { return bool(Place); });
  DIFile *File = Start->getFile();
  DISubprogram *Own =
      createFunction(File, Kernel.getName(), "", Start.getLine());
  Kernel.setSubprogram(Own);
  DILocation *Begin = DILocation::get(Device.getContext(), Start.getLine(),
                                      Start.getCol(), Own);
  for (auto [I, Place] : zip_equal(instructions(Kernel), Places))
    if (Place)
      I.setDebugLoc(translate(Place, Own));
  // Addresses belong to their accesses, and what else there is to the loops.
  for (BasicBlock &BB : Kernel) {
    DebugLoc Next = Begin;
    for (Instruction &I : reverse(BB)) {
      if (I.getDebugLoc())
        Next = I.getDebugLoc();
      else
        I.setDebugLoc(Next);
    }
  }
}

} // namespace pacc
