//===- DeviceModule.h - The kernels of one translation unit -----*- C++ -*-===//
//
// Collects kernels in a module for NVPTX, chooses their blocks, compiles them
// to PTX and machine code, and embeds these and their bitcode in the host's
// module as a `struct pacc_image` (pacc/abi.h).
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_DEVICEMODULE_H
#define PACC_PLUGIN_OFFLOAD_DEVICEMODULE_H

#include "Offload/BlockReport.h"
#include "Offload/Blocks.h"
#include "Offload/DebugLines.h"
#include "Options.h"
#include "llvm/IR/Module.h"
#include <memory>
#include <optional>
#include <vector>

namespace llvm {
class GlobalVariable;
class TargetMachine;
} // namespace llvm

namespace pacc {

/// Of lib/DeviceRT, which the kernels of loops are linked with.
inline constexpr llvm::StringLiteral GridBarrier = "__pacc_dev_grid_barrier";

class DeviceModule {
public:
  DeviceModule(llvm::Module &Host, const Options &Opts);
  ~DeviceModule();

  /// Moves \p Kernel, written in the host's module, into the device's module
  /// without the parameters it does not use: \p Used says which are left.
  /// \p Place is that of its loops in the source. Returns its number in the
  /// image.
  unsigned addKernel(llvm::Function &Kernel, const KernelWork &Work,
                     llvm::DebugLoc Place, llvm::SmallVectorImpl<bool> &Used);

  /// The same for a kernel that runs a loop of launches of others.
  unsigned addLoopKernel(llvm::Function &Kernel,
                         llvm::ArrayRef<LoopPhase> Phases, llvm::DebugLoc Place,
                         llvm::SmallVectorImpl<bool> &Used);

  /// A `struct pacc_region` that names the image and a place in the source.
  llvm::Constant *createRegion(llvm::StringRef Name, llvm::StringRef Location);

  /// A `struct pacc_span`.
  llvm::Constant *createSpan(llvm::StringRef Name, llvm::StringRef Location);

  bool empty() const { return Kernels.empty(); }

  /// Warns of settings that name no toolkit.
  void checkToolkit() const;

  /// Compiles all kernels and fills in the image. A failure is an error of the
  /// compilation: the module is left with an image without device code.
  llvm::Error finish();

  /// What was decided for a kernel; the choice is made by finish().
  struct KernelInfo {
    llvm::Function *F;
    KernelWork Work;
    KernelResources Resources;
    std::string Label;
    BlockChoice Choice;
    std::vector<LoopPhase> Phases; // of a loop
    BlockReport report() const {
      return {F->getName(), Work, Resources, Choice};
    }
  };
  llvm::ArrayRef<KernelInfo> kernels() const { return Kernels; }

private:
  /// Forms of the kernels; those that are empty do not go into the image.
  struct Code {
    std::unique_ptr<llvm::Module> Fixed; // optimised, for the chosen blocks
    std::string Ptx, Cubin, Bitcode;
  };
  bool anyBlock() const { return Opts.BlockSize == "sweep"; }
  llvm::Error takeGivenBlocks();
  bool chooseBlocks();
  /// Threads of the largest block that the kernel may get; 0: it has but one.
  unsigned maxThreads(const KernelInfo &K) const;
  void fixBlocks(llvm::Module &M) const;
  void expandMultiplyAdds();
  void relaxMath();
  llvm::Error linkGridBarrier();
  llvm::Error linkLibdevice();
  void optimize();
  llvm::Error assemble(Code &C);
  bool runPtxas(Code &C);

  // Image.cpp
  void embed(const Code &C);
  llvm::Constant *describeKernel(const KernelInfo &K);
  llvm::Constant *describeRegion(llvm::StringRef Name,
                                 llvm::StringRef Location);
  llvm::GlobalVariable *createData(llvm::Constant *Data);
  llvm::Constant *createString(llvm::StringRef Text);

  llvm::Module &Host;
  const Options &Opts;
  std::unique_ptr<llvm::TargetMachine> TM;
  std::unique_ptr<llvm::Module> Device;
  DebugLines Lines;
  llvm::GlobalVariable *Image = nullptr;
  std::vector<KernelInfo> Kernels;
};

/// Path of NVIDIA's libdevice, from the option or the CUDA toolkit; nullopt if
/// there is none.
std::optional<std::string> findLibdevice(const Options &Opts);

} // namespace pacc

#endif
