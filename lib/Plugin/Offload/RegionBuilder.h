//===- RegionBuilder.h - Code of an offloaded region ------------*- C++ -*-===//
//
// Polly's IslNodeBuilder with two targets: what stands above a kernel's mark
// becomes host code that calls the runtime (HostCode.cpp), what stands below
// becomes a kernel (KernelCode.cpp). A loop of the host also becomes a kernel
// that runs all of it (LoopCode.cpp); the runtime chooses.
//
// A kernel is first written as a function of the host's module, the way Polly
// outlines OpenMP loops; DeviceModule then moves it to the device's module.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_REGIONBUILDER_H
#define PACC_PLUGIN_OFFLOAD_REGIONBUILDER_H

#include "Offload/AstGen.h"
#include "Options.h"
#include "polly/CodeGen/IslNodeBuilder.h"
#include "polly/ScopInfo.h"
#include "llvm/ADT/MapVector.h"

namespace pacc {

class DeviceModule;

/// The first line of the loops around the instances' statements.
llvm::DebugLoc placeOf(const isl::union_set &Instances);

class RegionBuilder final : public polly::IslNodeBuilder {
public:
  /// \p Name is unique in the module and starts every kernel's name.
  RegionBuilder(polly::PollyIRBuilder &Builder, polly::ScopAnnotator &Annotator,
                const llvm::DataLayout &DL, llvm::LoopInfo &LI,
                llvm::ScalarEvolution &SE, llvm::DominatorTree &DT,
                polly::Scop &S, llvm::BasicBlock *StartBlock,
                DeviceModule &Device, llvm::StringRef Name)
      : IslNodeBuilder(Builder, Annotator, DL, LI, SE, DT, S, StartBlock),
        Device(Device), Name(Name) {}

  /// Makes the stack slot that Polly keeps for \p Scalar the host memory of
  /// \p Cell, the array that stands for it on the device.
  void bindCell(polly::ScopArrayInfo *Cell,
                const polly::ScopArrayInfo *Scalar) {
    Cell->setBasePtr(BlockGen.getOrCreateAlloca(Scalar));
    Cells[Cell] = Scalar;
  }

  /// Gives an array that is on the device only an address that stands for it.
  void bindScratch(polly::ScopArrayInfo *Scratch) {
    Scratch->setBasePtr(
        createEntryAlloca(Builder.getInt8Ty(), Scratch->getName()));
  }

  /// Emits the whole region at the builder's position: asks whether it has
  /// enough work, opens it, copies in, executes the AST, closes it. Each of the
  /// conditions returned leads back to the original loops, from the end of its
  /// block, when it is false.
  llvm::SmallVector<llvm::Instruction *, 3>
  createRegion(const RegionAst &Region, llvm::Value *Descriptor,
               const Options &Opts);

  /// So little to do that the host is done, by far, before a device has copied
  /// anything and waited for its memory once in each launch. Parameters are
  /// available at the builder's position.
  llvm::Value *createIsTiny(const RegionAst &Region);

  /// Tells the runtime, at the builder's position, that the original loops run
  /// next, and that they have run.
  void createHostBegin(llvm::Value *Descriptor);
  void createHostEnd(llvm::Value *Descriptor);

  /// The call that opens the region.
  llvm::Value *run() const { return Run; }

  /// Kernels written so far, all in the device module.
  unsigned kernelCount() const { return NumKernels; }

private:
  void createMark(__isl_take isl_ast_node *Mark) override;
  void createUser(__isl_take isl_ast_node *User) override;
  isl::union_map getScheduleForAstNode(const isl::ast_node &Node) override;

  /// Of an array that iterations have copies of: the iteration of each
  /// statement's instances, and bytes between copies along each of its loops.
  struct Copies {
    isl::union_map Iteration;
    llvm::SmallVector<llvm::Value *, 3> Distance;
  };

  // Host side.
  llvm::Value *createSize(const BoxAst &Box);
  llvm::Value *createSize(llvm::ArrayRef<BoxAst> Boxes);
  llvm::Value *createBytes(const RegionAst &Region);
  llvm::Value *createSizes(llvm::ArrayRef<SizeAst> Sizes);
  llvm::Value *createWorth(const RegionAst &Region, llvm::Value *Descriptor);
  llvm::Value *createInstances(const RegionAst &Region);
  llvm::Value *createHasInstances(const RegionAst &Region, uint64_t Instances);
  void createArray(const ArrayAst &Array, unsigned Index);
  llvm::Value *createCopies(const ArrayAst &Array, llvm::Value *Label,
                            llvm::Value *Base, llvm::Value *First,
                            llvm::Value *End);
  struct Rows {
    llvm::Value *First, *Width, *Count, *Pitch;
  };
  Rows createRows(const ArrayAst &Array, const ExtentAst &Extent);
  void createCopy(const ArrayAst &Array, const ExtentAst &Extent,
                  unsigned Index, unsigned Direction);
  llvm::Value *offsetFrom(llvm::Value *Base, const isl::ast_expr &Address);
  llvm::Value *createParameters(llvm::ArrayRef<llvm::Value *> Arguments);
  void createLaunch(unsigned Kernel, llvm::ArrayRef<llvm::Value *> Arguments,
                    llvm::ArrayRef<llvm::Value *> Threads);
  llvm::Value *toInt64(llvm::Value *V);
  llvm::AllocaInst *createEntryAlloca(llvm::Type *Ty, const llvm::Twine &Name);

  // Device side.
  using ValueList = llvm::SmallVector<llvm::Value *, 16>;
  using ArraySet = llvm::SmallPtrSet<const llvm::Value *, 4>;
  /// A kernel's function, what it executes, and the values of the host that its
  /// first parameters stand for.
  struct KernelHead {
    llvm::Function *F;
    isl::union_set Instances;
    llvm::SetVector<llvm::Value *> HostValues;
    llvm::BasicBlock *HostBlock;
    llvm::BasicBlock::iterator HostPoint;
  };
  void createKernel(const LaunchAst &Launch, isl::ast_node Body);
  void createThread(const LaunchAst &Launch, isl::ast_node Body);
  void createTile(isl::ast_node Body);
  llvm::SetVector<llvm::Value *>
  collectArguments(const isl::union_set &Instances);
  /// A function without a body; parameters of the types \p Others come last.
  /// Arrays in \p NotAlone may change while the kernel looks on.
  KernelHead createHead(const llvm::Twine &Name,
                        const isl::union_set &Instances,
                        llvm::ArrayRef<llvm::Type *> Others,
                        const ArraySet &NotAlone = {});
  /// Has \p CreateBody write what comes at the builder's position in the
  /// kernel; the builder is back on the host afterwards.
  void writeKernel(const KernelHead &Head,
                   llvm::function_ref<void()> CreateBody);
  /// The arguments for the parameters that are used.
  ValueList pass(const KernelHead &Head, llvm::ArrayRef<llvm::Value *> Others,
                 llvm::ArrayRef<bool> Used);

  // A loop of launches in one kernel.
  struct LoopState;
  void createLoop(const LoopAst &Loop, isl::ast_node Body);
  llvm::Value *createLoopKernel(const LoopAst &Loop, isl::ast_node Body);
  void createPhase(const LaunchAst &Launch, isl::ast_node Body);
  void createBarrier(const pacc_phase_plan &Phase);
  void createIteration();
  llvm::Constant *describeLoop(const LoopAst &Loop, unsigned Kernel,
                               unsigned Barrier);
  llvm::Value *createCopyAddress(polly::ScopStmt &Stmt,
                                 const polly::ScopArrayInfo &SAI,
                                 const Copies &C, const isl::ast_build &Build);
  void createSave(const polly::ScopStmt &Stmt,
                  const isl::id_to_ast_expr &Accesses);

  DeviceModule &Device;
  std::string Name;
  llvm::Value *Run = nullptr;
  /// Where the device addresses of arrays are kept on the host.
  llvm::DenseMap<llvm::Value *, llvm::Value *> DeviceAddress;
  llvm::DenseMap<const polly::ScopArrayInfo *, const polly::ScopArrayInfo *>
      Cells; // and the scalars in them
  llvm::MapVector<const polly::ScopArrayInfo *, Copies> CopiesOf;
  const RegionAst *Ast = nullptr;
  bool AlwaysOneKernel = false, NeverOneKernel = false;
  /// What the kernel that is written executes.
  isl::union_set Instances;
  /// Of the loop whose kernel is written, else null.
  LoopState *InLoop = nullptr;
  /// What a point of a thread's full tile has for itself: places of local
  /// scalars, and arrays of which no other point touches the same element.
  struct PointValues {
    polly::BlockGenerator::AllocaMapTy Scalars;
    llvm::MapVector<llvm::Value *, llvm::Value *> Arrays;
  };
  llvm::SmallVector<PointValues, 8> Points;
  /// The launch whose threads with tiles are written, else null.
  const LaunchAst *Tiled = nullptr;
  bool InFullTile = false;
  /// In the device module: of each kernel of the mapping.
  llvm::DenseMap<const pacc_kernel_plan *, unsigned> KernelOf;
  unsigned NumKernels = 0, NumLoops = 0;
};

} // namespace pacc

#endif
