//===- GpuKernels.cpp - What can be said of any kernel --------------------===//
#include "Offload/GpuKernels.h"

#include "Offload/BlockReport.h"
#include "Offload/Registers.h"
#include "Offload/Target.h"
#include "Offload/ThreadStep.h"
#include "pacc/model.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace pacc {

namespace {

/// One load, store or atomic operation on global memory.
struct GpuAccess {
  const Instruction *Where;
  std::string Text; // "load of 4 bytes: contiguous, 4 sectors per request"
};

struct GpuKernel {
  Function *F;
  KernelResources Resources;
  uint32_t Shared = 0;
  uint32_t Barriers = 0;
  uint32_t Block[3] = {0, 0, 0}; // promised to the compiler, or zero
  uint32_t MaxThreads = 0;       // of the launch bounds, or 0
  std::string Occupancy;
  std::vector<GpuAccess> Accesses;
};

/// "nvvm.reqntid"="32,8" as three numbers.
bool readDimensions(const Function &F, StringRef Attribute, uint32_t N[3]) {
  StringRef Text = F.getFnAttribute(Attribute).getValueAsString();
  if (Text.empty())
    return false;
  for (unsigned D = 0; D < 3; ++D) {
    StringRef Part;
    std::tie(Part, Text) = Text.split(',');
    if (Part.empty())
      N[D] = 1;
    else if (Part.trim().getAsInteger(10, N[D]))
      return false;
  }
  return true;
}

/// Shared memory that the kernel itself names, and whether it has barriers.
void readShared(const Module &M, GpuKernel &K) {
  for (const GlobalVariable &G : M.globals())
    if (G.getAddressSpace() == 3 && any_of(G.users(), [&](const User *U) {
          auto *I = dyn_cast<Instruction>(U);
          return I ? I->getFunction() == K.F : !U->use_empty();
        }))
      K.Shared += M.getDataLayout().getTypeAllocSize(G.getValueType());
  for (const Instruction &I : instructions(*K.F))
    if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      if (Intrinsic::getBaseName(Call->getIntrinsicID())
              .starts_with("llvm.nvvm.barrier"))
        K.Barriers = 1;
}

std::string describeAccess(const Instruction &I, Value *Pointer, Type *Ty,
                           StringRef What, ScalarEvolution &SE,
                           const uint32_t Block[3]) {
  pacc_access Access = {};
  Access.size = I.getDataLayout().getTypeStoreSize(Ty);
  Access.count = 1;
  static const unsigned Dims = 3;
  for (unsigned D = 0; D < Dims; ++D) {
    std::optional<int64_t> Step = stepOfThread(SE, Pointer, D);
    if (Step)
      Access.stride[D] = *Step;
    else
      Access.gather = true;
  }
  char Class[64];
  std::string Text;
  raw_string_ostream(Text) << What << " of " << Access.size << " bytes: "
                           << pacc_access_print(&Access, Class, sizeof(Class))
                           << (pacc_access_complex(&Access) ? " (complex)" : "")
                           << format(
                                  ", %.3g sectors per request",
                                  pacc_access_request(&Access, Block).sectors);
  return Text;
}

void readAccesses(GpuKernel &K, ScalarEvolution &SE) {
  // A warp along x stands for a block that is not known.
  const uint32_t Line[3] = {32, 1, 1};
  const uint32_t *Block = K.Block[0] ? K.Block : Line;
  for (Instruction &I : instructions(*K.F)) {
    Value *Pointer = nullptr;
    Type *Ty = nullptr;
    StringRef What;
    if (auto *Load = dyn_cast<LoadInst>(&I))
      Pointer = Load->getPointerOperand(), Ty = Load->getType(), What = "load";
    else if (auto *Store = dyn_cast<StoreInst>(&I))
      Pointer = Store->getPointerOperand(),
      Ty = Store->getValueOperand()->getType(), What = "store";
    else if (auto *Atomic = dyn_cast<AtomicRMWInst>(&I))
      Pointer = Atomic->getPointerOperand(), Ty = Atomic->getType(),
      What = "atomic operation";
    if (!Pointer)
      continue;
    unsigned Space = Pointer->getType()->getPointerAddressSpace();
    // Generic and global; a stack slot is a thread's own.
    if (Space > 1 || isa<AllocaInst>(getUnderlyingObject(Pointer)))
      continue;
    K.Accesses.push_back({&I, describeAccess(I, Pointer, Ty, What, SE, Block)});
  }
}

/// Occupancy with the promised block, or the sizes with the most active warps.
std::string describeOccupancy(const GpuKernel &K, const pacc_gpu *Gpu) {
  pacc_resources Resources = {};
  Resources.regs = K.Resources.Registers;
  Resources.smem_static = K.Shared;
  Resources.carveout = PACC_CARVEOUT_DEFAULT;
  Resources.barriers = K.Barriers;
  Resources.max_threads = K.MaxThreads;
  char Limits[80];
  std::string Text;
  raw_string_ostream OS(Text);
  auto Show = [&](const pacc_occupancy_info &Info) {
    OS << Info.blocks << " per SM, " << Info.warps << " of " << Info.warps_max
       << " warps, limited by "
       << pacc_limits_print(Info.limits, Limits, sizeof(Limits));
  };
  pacc_occupancy_info Info;
  uint32_t Threads = K.Block[0] * K.Block[1] * K.Block[2];
  if (Threads) {
    if (pacc_occupancy(Gpu, &Resources, Threads, &Info) == PACC_MODEL_OK) {
      OS << "blocks of " << Threads << " threads: ";
      Show(Info);
    }
    return Text;
  }
  pacc_occupancy_info Best = {};
  std::string Sizes;
  for (uint32_t T = 32; T <= (K.MaxThreads ? K.MaxThreads : 1024); T += 32) {
    if (pacc_occupancy(Gpu, &Resources, T, &Info) != PACC_MODEL_OK)
      continue;
    if (Info.warps > Best.warps) {
      Best = Info;
      Sizes.clear();
    }
    if (Info.warps == Best.warps)
      Sizes += (Sizes.empty() ? "" : ", ") + std::to_string(T);
  }
  OS << "most active warps with blocks of " << Sizes
     << " threads: " << Best.warps << " of " << Best.warps_max << " warps";
  return Text;
}

/// The architecture that the kernel is compiled for, if the model knows it.
const pacc_gpu *gpuOf(const Function &F, const Options &Opts) {
  StringRef Cpu = F.getFnAttribute("target-cpu").getValueAsString();
  const pacc_gpu *Gpu =
      Cpu.empty() ? nullptr : pacc_gpu_find(Cpu.str().c_str());
  return Gpu ? Gpu : pacc_gpu_find(Opts.Arch.c_str());
}

/// Registers and shared memory from ptxas, where it takes the module.
void readPtxas(Module &M, const pacc_gpu *Gpu,
               std::vector<GpuKernel> &Kernels) {
  const uint32_t TimeoutMs = 60000;
  std::unique_ptr<TargetMachine> TM = createGpuTarget(Gpu->arch, {});
  Expected<std::string> Ptx =
      TM ? emitPtx(*CloneModule(M), *TM)
         : createStringError(inconvertibleErrorCode(), "no NVPTX backend");
  if (!Ptx) {
    consumeError(Ptx.takeError());
    return;
  }
  pacc_ptxas_report Report;
  pacc_ptxas_run(nullptr, Gpu->arch, Ptx->data(), Ptx->size(), TimeoutMs,
                 &Report);
  for (GpuKernel &K : Kernels)
    if (const pacc_ptxas_kernel *Found =
            pacc_ptxas_kernel_find(&Report, K.F->getName().str().c_str())) {
      K.Resources = {Found->regs, Found->spill_stores + Found->spill_loads,
                     true};
      K.Shared = Found->smem;
      K.Barriers = Found->barriers;
    }
  pacc_ptxas_report_free(&Report);
}

std::vector<GpuKernel> readKernels(Module &M, ModuleAnalysisManager &MAM,
                                   const Options &Opts) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  std::vector<GpuKernel> Kernels;
  for (Function &F : M) {
    if (F.isDeclaration() || F.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    GpuKernel K = {&F, {}, 0, 0, {0, 0, 0}, 0, "", {}};
    K.Resources.Registers = estimateRegisters(F);
    uint32_t Bounds[3];
    readDimensions(F, "nvvm.reqntid", K.Block);
    if (readDimensions(F, "nvvm.maxntid", Bounds))
      K.MaxThreads = Bounds[0] * Bounds[1] * Bounds[2];
    readShared(M, K);
    Kernels.push_back(std::move(K));
  }
  if (Kernels.empty())
    return Kernels;
  const pacc_gpu *Gpu = gpuOf(*Kernels.front().F, Opts);
  if (Opts.Ptxas == "on")
    readPtxas(M, Gpu, Kernels);
  for (GpuKernel &K : Kernels) {
    K.Occupancy = describeOccupancy(K, Gpu);
    readAccesses(K, FAM.getResult<ScalarEvolutionAnalysis>(*K.F));
  }
  return Kernels;
}

std::string summary(const GpuKernel &K) {
  std::string Text = printRegisters(K.Resources);
  if (K.Shared)
    Text += ", " + std::to_string(K.Shared) + " bytes of shared memory";
  return Text + "; " + K.Occupancy;
}

} // namespace

void printGpuKernels(raw_ostream &OS, Module &M, ModuleAnalysisManager &MAM,
                     const Options &Opts) {
  for (const GpuKernel &K : readKernels(M, MAM, Opts)) {
    OS << "kernel " << K.F->getName() << ": " << summary(K) << '\n';
    for (const GpuAccess &A : K.Accesses)
      OS << "  " << A.Text << '\n';
  }
}

void remarkGpuKernels(Module &M, ModuleAnalysisManager &MAM,
                      const Options &Opts) {
  static const char *const PassName = "polly-acc-blocks";
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  for (const GpuKernel &K : readKernels(M, MAM, Opts)) {
    auto &ORE = FAM.getResult<OptimizationRemarkEmitterAnalysis>(*K.F);
    BasicBlock &Entry = K.F->getEntryBlock();
    ORE.emit(OptimizationRemarkAnalysis(PassName, "Occupancy",
                                        K.F->getSubprogram(), &Entry)
             << "kernel '" << ore::NV("Kernel", K.F->getName())
             << "': " << ore::NV("Summary", summary(K)));
    for (const GpuAccess &A : K.Accesses)
      ORE.emit(OptimizationRemarkAnalysis(PassName, "Access", A.Where)
               << ore::NV("Access", A.Text));
  }
}

} // namespace pacc
