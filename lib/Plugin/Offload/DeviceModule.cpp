//===- DeviceModule.cpp - The kernels of one translation unit -------------===//
#include "Offload/DeviceModule.h"

#include "Aggregate/Runtime.h"
#include "Offload/Registers.h"
#include "Offload/ScopFacts.h"
#include "Offload/StoredValues.h"
#include "Offload/Target.h"
#include "Offload/Unroll.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace pacc {

static Error failure(const Twine &Message) {
  return createStringError(inconvertibleErrorCode(), Message);
}

DeviceModule::DeviceModule(Module &Host, const Options &Opts)
    : Host(Host), Opts(Opts),
      Device(std::make_unique<Module>("pacc." + Host.getModuleIdentifier(),
                                      Host.getContext())),
      Lines(*Device) {
  Device->setTargetTriple(Triple("nvptx64-nvidia-cuda"));
  Device->setSourceFileName(Host.getSourceFileName());
  TargetOptions TO;
  // What the source allows to be fused (-ffp-contract), or nothing.
  TO.AllowFPOpFusion =
      Opts.Fma == "on" ? FPOpFusion::Standard : FPOpFusion::Strict;
  TM = createGpuTarget(Opts.Arch, TO);
  if (TM)
    Device->setDataLayout(TM->createDataLayout());
}

DeviceModule::~DeviceModule() = default;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// x % y of floating point: the backend's own form loses bits where x / y is
/// large, fmod is exact.
static void expandRemainders(Function &Kernel) {
  for (Instruction &I : make_early_inc_range(instructions(Kernel))) {
    if (I.getOpcode() != Instruction::FRem)
      continue;
    IRBuilder<> Builder(&I);
    Type *Ty = I.getType();
    FunctionCallee Fmod = Kernel.getParent()->getOrInsertFunction(
        Ty->isFloatTy() ? "fmodf" : "fmod", Ty, Ty, Ty);
    CallInst *Call =
        Builder.CreateCall(Fmod, {I.getOperand(0), I.getOperand(1)});
    Call->setDoesNotAccessMemory();
    I.replaceAllUsesWith(Call);
    I.eraseFromParent();
  }
}

/// Gives every function that \p F calls its counterpart in the device module.
static void mapCallees(Function &F, Module &Device, ValueToValueMapTy &Map) {
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallInst>(&I);
    if (!Call || Map.count(Call->getCalledFunction()))
      continue;
    Function *Callee = Call->getCalledFunction();
    std::string Name = Callee->getName().str();
    if (auto Known = deviceFunctionFor(*Call); Known && !Known->empty())
      Name = *Known;
    auto *New = cast<Function>(
        Device.getOrInsertFunction(Name, Callee->getFunctionType())
            .getCallee());
    if (!New->isIntrinsic() && Name != GridBarrier) {
      New->setDoesNotAccessMemory();
      New->setDoesNotThrow();
    }
    Map[Callee] = New;
  }
}

unsigned DeviceModule::addKernel(Function &Kernel, const KernelWork &Work,
                                 DebugLoc Place, SmallVectorImpl<bool> &Used) {
  expandRemainders(Kernel);
  for (BasicBlock &BB : Kernel)
    SimplifyInstructionsInBlock(&BB);
  DebugLines::Places Places = DebugLines::take(Kernel);
  ValueToValueMapTy Map;
  SmallVector<Type *, 16> Types;
  for (Argument &Arg : Kernel.args()) {
    Used.push_back(!Arg.use_empty());
    if (Used.back())
      Types.push_back(Arg.getType());
  }
  auto *Type = FunctionType::get(Kernel.getReturnType(), Types, false);
  Function *New = Function::Create(Type, GlobalValue::ExternalLinkage,
                                   Kernel.getName(), *Device);
  unsigned Next = 0;
  for (Argument &Arg : Kernel.args()) {
    if (!Used[Arg.getArgNo()]) {
      Map[&Arg] = PoisonValue::get(Arg.getType());
      continue;
    }
    Argument *NewArg = New->getArg(Next++);
    NewArg->setName(Arg.getName());
    Map[&Arg] = NewArg;
  }
  mapCallees(Kernel, *Device, Map);
  SmallVector<ReturnInst *, 2> Returns;
  CloneFunctionInto(New, &Kernel, Map, CloneFunctionChangeType::DifferentModule,
                    Returns);
  Lines.give(*New, Places, Place);
  New->setCallingConv(CallingConv::PTX_Kernel);
  Kernel.eraseFromParent();
  if (Function *Barrier = Host.getFunction(GridBarrier);
      Barrier && Barrier->use_empty())
    Barrier->eraseFromParent();

  Kernels.push_back({New, Work, {}, placeInSource(Place), {}, {}});
  countOperations(*New, Kernels.back().Work);
  return Kernels.size() - 1;
}

unsigned DeviceModule::addLoopKernel(Function &Kernel,
                                     ArrayRef<LoopPhase> Phases, DebugLoc Place,
                                     SmallVectorImpl<bool> &Used) {
  // The phase with the most threads stands for the loop in reports.
  auto Threads = [&](const LoopPhase &P) {
    const KernelWork &Work = Kernels[P.Kernel].Work;
    return Work.Dims ? double(Work.Extent[0]) * Work.Extent[1] * Work.Extent[2]
                     : 0;
  };
  const LoopPhase &Largest =
      *max_element(Phases, [&](const LoopPhase &A, const LoopPhase &B) {
        return Threads(A) < Threads(B);
      });
  KernelWork Work = Kernels[Largest.Kernel].Work;
  unsigned Number = addKernel(Kernel, Work, Place, Used);
  Kernels[Number].Work = std::move(Work);
  Kernels[Number].Phases = Phases;
  return Number;
}

unsigned DeviceModule::maxThreads(const KernelInfo &K) const {
  // Every architecture allows as many.
  const unsigned Any = 1024;
  if (anyBlock())
    return Any;
  auto Threads = [](const uint32_t Block[3]) {
    return Block[0] * Block[1] * Block[2];
  };
  unsigned Most = 0;
  for (const pacc_sized_block &S : K.Choice.Smaller)
    Most = std::max({Most, Threads(S.block), Threads(K.Choice.Block)});
  return Most;
}

/// Makes the block sizes constants of the code of \p M, a copy of the device
/// module, and a promise to ptxas.
void DeviceModule::fixBlocks(Module &M) const {
  if (anyBlock())
    return;
  for (const KernelInfo &K : Kernels) {
    Function &F = *M.getFunction(K.F->getName());
    if (unsigned Threads = maxThreads(K)) {
      F.addFnAttr("nvvm.maxntid", Twine(Threads).str());
      continue;
    }
    std::string Shape =
        (Twine(K.Choice.Block[0]) + "," + Twine(K.Choice.Block[1]) + "," +
         Twine(K.Choice.Block[2]))
            .str();
    F.addFnAttr("nvvm.reqntid", Shape);
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      auto *Call = dyn_cast<IntrinsicInst>(&I);
      if (!Call)
        continue;
      int Dim = -1;
      if (Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_ntid_x)
        Dim = 0;
      else if (Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_ntid_y)
        Dim = 1;
      else if (Call->getIntrinsicID() == Intrinsic::nvvm_read_ptx_sreg_ntid_z)
        Dim = 2;
      if (Dim < 0)
        continue;
      Call->replaceAllUsesWith(
          ConstantInt::get(Call->getType(), K.Choice.Block[Dim]));
      Call->eraseFromParent();
    }
  }
}

/// a * b + c in two roundings, as the CPU does it.
void DeviceModule::expandMultiplyAdds() {
  for (KernelInfo &K : Kernels)
    for (Instruction &I : make_early_inc_range(instructions(*K.F))) {
      auto *Call = dyn_cast<IntrinsicInst>(&I);
      if (!Call || Call->getIntrinsicID() != Intrinsic::fmuladd)
        continue;
      IRBuilder<> Builder(Call);
      Builder.setFastMathFlags(Call->getFastMathFlags());
      Value *Product =
          Builder.CreateFMul(Call->getArgOperand(0), Call->getArgOperand(1));
      Call->replaceAllUsesWith(
          Builder.CreateFAdd(Product, Call->getArgOperand(2)));
      Call->eraseFromParent();
    }
}

/// What -ffast-math allows, in kernels alone.
void DeviceModule::relaxMath() {
  for (KernelInfo &K : Kernels)
    for (Instruction &I : instructions(*K.F))
      if (isa<FPMathOperator>(I))
        I.setFast(true);
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

std::optional<std::string> findLibdevice(const Options &Opts) {
  if (!Opts.Libdevice.empty())
    return sys::fs::exists(Opts.Libdevice)
               ? std::optional<std::string>(Opts.Libdevice)
               : std::nullopt;
  SmallVector<std::string, 4> Roots;
  for (const char *Variable : {"CUDA_PATH", "CUDA_HOME"})
    if (auto Root = sys::Process::GetEnv(Variable))
      Roots.push_back(*Root);
  Roots.push_back(PACC_CUDA_PATH);
  Roots.push_back("/usr/local/cuda");
  for (const std::string &Root : Roots) {
    if (Root.empty())
      continue;
    SmallString<128> Path(Root);
    sys::path::append(Path, "nvvm", "libdevice", "libdevice.10.bc");
    if (sys::fs::exists(Path))
      return std::string(Path);
  }
  return std::nullopt;
}

Error DeviceModule::linkGridBarrier() {
  if (!Device->getFunction(GridBarrier))
    return Error::success();
  Expected<std::unique_ptr<Module>> Runtime = loadDeviceRuntime(*Device);
  if (!Runtime)
    return Runtime.takeError();
  if (Linker::linkModules(*Device, std::move(*Runtime), Linker::LinkOnlyNeeded))
    return failure("cannot link the device runtime");
  Function *Barrier = Device->getFunction(GridBarrier);
  Barrier->setLinkage(GlobalValue::InternalLinkage);
  Barrier->addFnAttr(Attribute::AlwaysInline);
  return Error::success();
}

Error DeviceModule::linkLibdevice() {
  bool Needed = any_of(*Device, [](const Function &F) {
    return F.isDeclaration() && F.getName().starts_with("__nv_");
  });
  if (!Needed)
    return Error::success();
  std::optional<std::string> Path = findLibdevice(Opts);
  if (!Path)
    return failure("no libdevice.10.bc found");
  SMDiagnostic Diagnostic;
  std::unique_ptr<Module> Library =
      parseIRFile(*Path, Diagnostic, Device->getContext());
  if (!Library)
    return failure("cannot read " + *Path + ": " + Diagnostic.getMessage());
  Library->setTargetTriple(Device->getTargetTriple());
  Library->setDataLayout(Device->getDataLayout());
  bool Failed = Linker::linkModules(
      *Device, std::move(Library), Linker::LinkOnlyNeeded,
      [](Module &M, const StringSet<> &Names) {
        internalizeModule(M, [&](const GlobalValue &G) {
          return !G.hasName() || !Names.contains(G.getName());
        });
      });
  if (Failed)
    return failure("cannot link " + *Path);
  for (const Function &F : *Device)
    if (F.isDeclaration() && F.getName().starts_with("__nv_"))
      return failure(*Path + " has no " + F.getName());
  Device->addModuleFlag(Module::Override, "nvvm-reflect-ftz", 0u);
  return Error::success();
}

namespace {

struct UnrollWaitingLoops : PassInfoMixin<UnrollWaitingLoops> {
  MutableArrayRef<DeviceModule::KernelInfo> Kernels;
  const Options &Opts;

  UnrollWaitingLoops(MutableArrayRef<DeviceModule::KernelInfo> Kernels,
                     const Options &Opts)
      : Kernels(Kernels), Opts(Opts) {}
  /// Metadata alone.
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    for (DeviceModule::KernelInfo &K : Kernels)
      if (K.F == &F && K.Phases.empty())
        unrollWaitingLoops(FAM.getResult<LoopAnalysis>(F), K.Work, Opts);
    return PreservedAnalyses::all();
  }
};

struct MoveLoadsFirst : PassInfoMixin<MoveLoadsFirst> {
  MutableArrayRef<DeviceModule::KernelInfo> Kernels;

  MoveLoadsFirst(MutableArrayRef<DeviceModule::KernelInfo> Kernels)
      : Kernels(Kernels) {}
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    bool Moved = moveLoadsFirst(FAM.getResult<LoopAnalysis>(F),
                                FAM.getResult<AAManager>(F));
    for (DeviceModule::KernelInfo &K : Kernels)
      K.Work.LoadsPass |= K.F == &F && Moved;
    PreservedAnalyses Kept;
    Kept.preserveSet<CFGAnalyses>();
    return Kept;
  }
};

} // namespace

void DeviceModule::optimize() {
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PassBuilder PB(TM.get());
  TM->registerPassBuilderCallbacks(PB);
  // Sums are values by then, and loops not unrolled yet.
  PB.registerVectorizerStartEPCallback(
      [&](FunctionPassManager &Passes, OptimizationLevel) {
        Passes.addPass(KeepStoredValues());
        Passes.addPass(UnrollWaitingLoops(Kernels, Opts));
      });
  PB.registerOptimizerLastEPCallback([&](ModulePassManager &Passes,
                                         OptimizationLevel,
                                         ThinOrFullLTOPhase) {
    Passes.addPass(createModuleToFunctionPassAdaptor(MoveLoadsFirst(Kernels)));
  });
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  PB.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(*Device, MAM);
}

/// Machine code and the kernels' exact resources. False without a ptxas, or if
/// it fails: the driver compiles the PTX, and says what is wrong with it.
bool DeviceModule::runPtxas(Code &C) {
  const uint32_t TimeoutMs = 60000;
  if (Opts.Ptxas != "on")
    return false;
  pacc_ptxas_report Report;
  pacc_model_status Status =
      pacc_ptxas_run(nullptr, Opts.Arch.c_str(), C.Ptx.data(), C.Ptx.size(),
                     TimeoutMs, &Report);
  if (Status == PACC_MODEL_OK && Report.cubin) {
    C.Cubin.assign(static_cast<const char *>(Report.cubin), Report.cubin_size);
    for (KernelInfo &K : Kernels)
      if (const pacc_ptxas_kernel *Found =
              pacc_ptxas_kernel_find(&Report, K.F->getName().str().c_str()))
        K.Resources = {Found->regs, Found->spill_stores + Found->spill_loads,
                       true};
  }
  pacc_ptxas_report_free(&Report);
  return !C.Cubin.empty();
}

/// PTX and machine code with the blocks that are chosen.
Error DeviceModule::assemble(Code &C) {
  C.Fixed = CloneModule(*Device);
  fixBlocks(*C.Fixed);
  Expected<std::string> Ptx = emitPtx(*C.Fixed, *TM);
  if (!Ptx)
    return Ptx.takeError();
  C.Ptx = std::move(*Ptx);
  C.Cubin.clear();
  return Error::success();
}

static void warn(Module &M, const Twine &Message) {
  M.getContext().diagnose(
      DiagnosticInfoGeneric("polly-acc: " + Message, DS_Warning));
}

/// "gemm" of "gemm_scop0_kernel1".
static StringRef functionOf(StringRef Kernel) {
  return Kernel.substr(0, Kernel.rfind("_scop"));
}

/// What the user said of the toolkit, and is wrong: others are looked for.
void DeviceModule::checkToolkit() const {
  for (const char *Variable : {"CUDA_PATH", "CUDA_HOME"}) {
    auto Root = sys::Process::GetEnv(Variable);
    if (Root && !Root->empty() && !sys::fs::exists(*Root + "/bin/ptxas") &&
        !sys::fs::exists(*Root + "/nvvm/libdevice/libdevice.10.bc"))
      warn(Host, Twine(Variable) + "=" + *Root +
                     " is no CUDA toolkit: it has neither bin/ptxas nor "
                     "nvvm/libdevice/libdevice.10.bc");
  }
  auto Ptxas = sys::Process::GetEnv("PACC_PTXAS");
  if (Opts.Ptxas == "on" && Ptxas && !Ptxas->empty() &&
      !sys::fs::can_execute(*Ptxas))
    warn(Host, "PACC_PTXAS=" + *Ptxas +
                   " is no program: kernels get no machine code, and their "
                   "registers are estimated");
}

/// Blocks that the user's file names stand before all others.
Error DeviceModule::takeGivenBlocks() {
  if (Opts.BlockFile.empty())
    return Error::success();
  Expected<StringMap<BlockShape>> Shapes = readBlockFile(Opts.BlockFile);
  if (!Shapes)
    return Shapes.takeError();
  StringSet<> Functions;
  for (KernelInfo &K : Kernels) {
    Functions.insert(functionOf(K.F->getName()));
    if (auto It = Shapes->find(K.F->getName()); It != Shapes->end()) {
      K.Work.Given = It->second;
      K.Work.GivenBy = "file";
      Shapes->erase(It);
    }
  }
  // What is left is of other source files, or wrong.
  for (const auto &Left : *Shapes)
    if (Functions.contains(functionOf(Left.getKey())))
      warn(Host, Opts.BlockFile + ": there is no kernel '" + Left.getKey() +
                     "' (-Rpass=polly-acc names them)");
  return Error::success();
}

/// Returns true if any block is another one than before.
bool DeviceModule::chooseBlocks() {
  bool Changed = false;
  for (KernelInfo &K : Kernels) {
    std::vector<PhaseWork> Phases;
    for (const LoopPhase &P : K.Phases)
      Phases.push_back({&Kernels[P.Kernel].Work, P.Launches, P.Waits});
    BlockChoice New = Phases.empty()
                          ? chooseBlock(K.Work, K.Resources, Opts)
                          : chooseLoopBlock(Phases, K.Resources, K.Work, Opts);
    Changed |= !std::equal(New.Block, New.Block + 3, K.Choice.Block) ||
               New.Smaller.size() != K.Choice.Smaller.size();
    K.Choice = std::move(New);
  }
  return Changed;
}

static std::string bitcodeOf(const Module &M) {
  std::unique_ptr<Module> Plain = CloneModule(M);
  StripDebugInfo(*Plain);
  std::string Bitcode;
  raw_string_ostream OS(Bitcode);
  WriteBitcodeToFile(*Plain, OS);
  return Bitcode;
}

Error DeviceModule::finish() {
  if (!TM)
    return failure("this LLVM has no NVPTX backend");
  Lines.finish();
  if (Opts.Fma == "off")
    expandMultiplyAdds();
  if (Opts.FastMath)
    relaxMath();
  std::string Problem;
  raw_string_ostream ProblemOS(Problem);
  if (verifyModule(*Device, &ProblemOS))
    return failure("generated invalid device code: " + Problem);

  if (Error E = takeGivenBlocks())
    return E;
  if (Error E = linkGridBarrier())
    return E;
  Code C;
  // Without libdevice, and for any block.
  if (Opts.EmbedBitcode == "on")
    C.Bitcode = bitcodeOf(*Device);
  if (Error E = linkLibdevice())
    return E;
  optimize();
  for (KernelInfo &K : Kernels)
    K.Resources.Registers = estimateRegisters(*K.F);
  chooseBlocks();
  if (Error E = assemble(C))
    return E;
  // What ptxas says may lead to other blocks, and these to other code.
  if (runPtxas(C) && chooseBlocks()) {
    if (Error E = assemble(C))
      return E;
    runPtxas(C);
  }
  if (Opts.DumpKernelIR)
    C.Fixed->print(errs(), nullptr);
  if (Opts.DumpKernelAsm)
    errs() << C.Ptx;
  embed(C);
  return Error::success();
}

} // namespace pacc
