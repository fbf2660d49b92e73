//===- Blocks.cpp - The thread block of a kernel --------------------------===//
#include "Offload/Blocks.h"

#include "Offload/ArrayNames.h"
#include "pacc/cost.h"
#include "polly/ScopInfo.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <map>

using namespace llvm;
using namespace polly;

namespace pacc {

/// Rows whose length is a parameter are taken to be this long.
static const int64_t NominalRow = 1000;

namespace {
struct Collector {
  KernelWork &Work;
  std::map<isl_id *, uint32_t> Arrays;
};
} // namespace

/// Bytes that one step of each of \p N subscripts of \p SAI moves. Those
/// beyond its dimensions come first, and say which copy of it is meant.
static SmallVector<int64_t, 4> stridesOf(const ScopArrayInfo &SAI, unsigned N) {
  SmallVector<int64_t, 4> Strides(N, 0);
  int64_t Stride = SAI.getElemSizeInBytes();
  for (unsigned D = N, Own = SAI.getNumberOfDimensions(); D-- > 0;) {
    Strides[D] = Stride;
    auto *Size =
        Own > 1 ? dyn_cast<SCEVConstant>(SAI.getDimensionSize(--Own)) : nullptr;
    Stride *= Size ? Size->getAPInt().getSExtValue() : NominalRow;
  }
  return Strides;
}

static void collect(const pacc_access_step *Step, void *User) {
  auto &C = *static_cast<Collector *>(User);
  const ScopArrayInfo &SAI =
      *ScopArrayInfo::getFromId(isl::manage_copy(Step->array));
  auto Number = C.Arrays.emplace(Step->array, C.Arrays.size()).first->second;
  pacc_access A = {};
  if (Number == C.Work.Arrays.size())
    C.Work.Arrays.push_back(arrayName(SAI));
  A.array = Number;
  A.size = SAI.getElemSizeInBytes();
  A.write = Step->write;
  A.gather = !Step->affine;
  A.count = Step->count;
  A.points = Step->points;
  if (Step->affine) {
    SmallVector<int64_t, 4> Strides = stridesOf(SAI, Step->n_indices);
    bool Moves = false;
    for (unsigned K = 0; K < Step->n_indices; ++K) {
      for (unsigned D = 0; D < PACC_MAX_DIMS; ++D)
        A.stride[D] += Step->step[D][K] * Strides[K];
      A.seq += Step->step[PACC_MAX_DIMS][K] * Strides[K];
      Moves |= Step->step[PACC_MAX_DIMS][K] != 0;
      A.offset += Step->offset[K] * Strides[K];
    }
    // An address that the thread's loop does not move stays in a register.
    if (Step->sequential && !Moves)
      A.count = Step->points;
  }
  C.Work.Accesses.push_back(A);
}

KernelWork describeWork(const pacc_kernel_plan &Plan, const pacc_scop &Facts) {
  KernelWork Work;
  Work.Dims = Plan.n_dims;
  double Threads = 1;
  for (unsigned D = 0; D < Plan.n_dims; ++D) {
    Work.Extent[D] = std::max<double>(1, Plan.extent[D]);
    Threads *= Work.Extent[D];
  }
  Work.Active = Plan.active;
  Work.Iterations = std::max(1.0, Plan.work / Threads / Plan.tile);
  Collector C{Work, {}};
  pacc_kernel_foreach_access(&Plan, &Facts, collect, &C);
  return Work;
}

void countOperations(const Function &Kernel, KernelWork &Work) {
  DominatorTree DT(const_cast<Function &>(Kernel));
  LoopInfo LI(DT);
  unsigned Deepest = 0;
  for (const BasicBlock &BB : Kernel)
    Deepest = std::max(Deepest, LI.getLoopDepth(&BB));
  for (const Instruction &I : instructions(Kernel)) {
    // As if all loops had the same trip count.
    unsigned Depth = LI.getLoopDepth(I.getParent());
    double Times = Depth == Deepest
                       ? Work.Iterations
                       : std::pow(Work.Iterations, double(Depth) / Deepest);
    if (isa<BinaryOperator>(I) && I.getType()->isFloatingPointTy()) {
      bool Double = I.getType()->isDoubleTy();
      (I.getOpcode() == Instruction::FDiv ? Work.Special
       : Double                           ? Work.Fp64
                                          : Work.Fp32) += Times;
    } else if (auto *Call = dyn_cast<CallInst>(&I)) {
      if (Call->getIntrinsicID() == Intrinsic::fmuladd)
        (Call->getType()->isDoubleTy() ? Work.Fp64 : Work.Fp32) += Times;
      else if (Call->getType()->isFloatingPointTy())
        Work.Special += Times;
    }
  }
}

/// Iterations whose loads are issued before the first is waited for. LLVM
/// unrolls such loops, and ptxas has three to five of their loads under way in
/// the machine code of PolyBench's sums, and as many as iterations where we
/// have them unrolled (by the registers that it takes); none passes a store
/// where it did not before.
static double iterationsAhead(const KernelWork &K) {
  const double LoadsAhead = std::max(4u, K.Unrolled);
  // Statements beside the loop are iterations, too.
  const double AlmostAll = 0.9;
  double Loads = 0;
  for (const pacc_access &A : K.Accesses) {
    if (A.count < AlmostAll * K.Iterations)
      continue;
    if (A.write && !K.LoadsPass)
      return 1;
    if (A.write)
      continue;
    Loads += A.count / K.Iterations;
  }
  return std::max(1.0, LoadsAhead / std::max(1.0, Loads));
}

pacc_work modelWork(const KernelWork &K, const KernelResources &Resources) {
  pacc_work Work = {};
  Work.dims = K.Dims;
  std::copy_n(K.Extent, 3, Work.extent);
  Work.active = K.Active;
  Work.regs = Resources.Registers;
  Work.regs_exact = Resources.Exact;
  Work.seq_trip = K.Iterations;
  Work.combine = K.Combine;
  Work.chain = 1;
  Work.ahead = iterationsAhead(K);
  Work.fp64 = K.Fp64;
  Work.fp32 = K.Fp32;
  Work.special = K.Special;
  // Once optimised, an access costs one 64-bit addition to its address, which
  // is two of 32 bits.
  for (const pacc_access &A : K.Accesses)
    Work.ints += 2 * A.count;
  Work.n_accesses = K.Accesses.size();
  Work.accesses = K.Accesses.data();
  return Work;
}

/// The shape with its threads along the dimensions that the grid has.
static void fitToGrid(const BlockShape &Shape, unsigned Dims,
                      uint32_t Block[3]) {
  Block[0] = Dims == 1 ? Shape.X * Shape.Y * Shape.Z : Shape.X;
  Block[1] = Dims == 1 ? 1 : Dims == 2 ? Shape.Y * Shape.Z : Shape.Y;
  Block[2] = Dims < 3 ? 1 : Shape.Z;
}

/// Ranks all candidates, or one given shape, into \p Choice.
static pacc_model_status rank(const pacc_gpu *Gpu, const pacc_work &Work,
                              const pacc_rank_options &How,
                              BlockChoice &Choice) {
  pacc_ranking Ranking = {};
  pacc_model_status Status = pacc_rank_blocks(Gpu, &Work, &How, &Ranking);
  if (Status == PACC_MODEL_OK) {
    Choice.Score = Ranking.scores[0];
    Choice.ComplexAccess = Ranking.complex_access;
    Choice.Sync = Ranking.sync;
    std::copy_n(Choice.Score.block, 3, Choice.Block);
    if (How.mode == PACC_RANK_AUTO || How.mode == PACC_RANK_PAPER)
      Choice.Ranking.assign(Ranking.scores, Ranking.scores + Ranking.n);
  }
  pacc_ranking_free(&Ranking);
  return Status;
}

/// Times that a launch is larger than the next smaller one that gets a block of
/// its own, and how much faster that must make it, with what any launch takes:
/// code for several blocks is slower than code for one.
static const double SizeStep = 8, WorthIt = 1.05;

/// Sizes of launches are known at run time: sizes and trip counts may be
/// parameters, and triangles shrink. Where the block that was chosen for the
/// expected size is too large for a launch of a few threads, those get another.
static void chooseForSmaller(const pacc_gpu *Gpu, pacc_work Work,
                             BlockChoice &Choice) {
  const unsigned Steps = 2;
  double Threads = 1;
  for (unsigned D = 0; D < Work.dims; ++D)
    Threads *= Work.extent[D];
  const double Shrink = std::pow(SizeStep, 1.0 / Work.dims);
  pacc_rank_options Auto = {PACC_RANK_AUTO, {0, 0, 0}};
  const uint32_t *Block = Choice.Block;
  for (unsigned Step = 0; Step < Steps; ++Step) {
    // Halfway between the two sizes.
    pacc_sized_block Sized;
    Sized.threads_sm = Threads / std::pow(SizeStep, Step + 0.5) / Gpu->sm_count;
    if (Sized.threads_sm == 0)
      break;
    for (unsigned D = 0; D < Work.dims; ++D)
      Work.extent[D] = std::max<double>(1, Work.extent[D] / Shrink);
    pacc_ranking Ranking = {};
    if (pacc_rank_blocks(Gpu, &Work, &Auto, &Ranking) == PACC_MODEL_OK) {
      ArrayRef<pacc_block_score> Scores(Ranking.scores, Ranking.n);
      auto Same = find_if(Scores, [&](const pacc_block_score &S) {
        return std::equal(S.block, S.block + 3, Block);
      });
      if (Same == Scores.end() ||
          Same->time + PACC_SECONDS_LAUNCH >
              WorthIt * (Ranking.scores->time + PACC_SECONDS_LAUNCH)) {
        std::copy_n(Ranking.scores->block, 3, Sized.block);
        Choice.Smaller.insert(Choice.Smaller.begin(), Sized);
        Block = Choice.Smaller.front().block;
      }
    }
    pacc_ranking_free(&Ranking);
  }
}

BlockChoice chooseBlock(const KernelWork &K, const KernelResources &Resources,
                        const Options &Opts) {
  BlockChoice Choice;
  if (K.Dims == 0) {
    Choice.Reason = "one thread";
    return Choice;
  }
  BlockShape Given = K.Given;
  Choice.Reason = K.GivenBy;
  if (!Given.X) {
    Given = cantFail(parseBlockShape(Opts.BlockSize));
    Choice.Reason = Given.X ? "option" : Opts.BlockSize;
  }
  const pacc_gpu *Gpu = pacc_gpu_find(Opts.Arch.c_str());
  pacc_work Work = modelWork(K, Resources);
  pacc_rank_options How = {PACC_RANK_AUTO, {0, 0, 0}};
  if (!Given.X && Opts.BlockSize == "paper")
    How.mode = PACC_RANK_PAPER;
  pacc_model_status Status = rank(Gpu, Work, How, Choice);
  if (Status == PACC_MODEL_OK && !Given.X && Opts.BlockSize == "api") {
    How.mode = PACC_RANK_API;
    Status = rank(Gpu, Work, How, Choice);
  }
  if (Given.X) {
    fitToGrid(Given, K.Dims, Choice.Block);
    std::copy_n(Choice.Block, 3, How.fixed);
    How.mode = PACC_RANK_FIXED;
    rank(Gpu, Work, How, Choice);
  } else if (Status != PACC_MODEL_OK) {
    static const uint32_t Usual[3][3] = {{128, 1, 1}, {32, 8, 1}, {32, 4, 2}};
    std::copy_n(Usual[K.Dims - 1], 3, Choice.Block);
    Choice.Reason = std::string("not ranked: ") + pacc_model_message(Status);
  } else if (Opts.BlockSize == "auto" || Opts.BlockSize == "sweep") {
    chooseForSmaller(Gpu, Work, Choice);
  }
  return Choice;
}

Expected<StringMap<BlockShape>> readBlockFile(StringRef Path) {
  auto Failure = [](const Twine &Message) {
    return createStringError(inconvertibleErrorCode(), Message);
  };
  ErrorOr<std::unique_ptr<MemoryBuffer>> File = MemoryBuffer::getFile(Path);
  if (!File)
    return Failure("cannot read " + Path + ": " + File.getError().message());
  StringMap<BlockShape> Shapes;
  for (line_iterator Line(**File, /*SkipBlanks=*/true, '#'); !Line.is_at_end();
       ++Line) {
    auto [Kernel, Shape] = Line->split('#').first.trim().split(' ');
    if (Kernel.empty())
      continue;
    Expected<BlockShape> Parsed = parseBlockShape(Shape.trim());
    if (!Parsed)
      consumeError(Parsed.takeError());
    if (!Parsed || !Parsed->X)
      return Failure(Path + ":" + Twine(Line.line_number()) +
                     ": expected the name of a kernel and WxHxD, such as "
                     "'gemm_scop0_kernel0 32x8'");
    Shapes[Kernel] = *Parsed;
  }
  return Shapes;
}

/// Seconds of the phases and their barriers in blocks of one shape.
static double loopTime(const pacc_gpu *Gpu, ArrayRef<PhaseWork> Phases,
                       const KernelResources &Resources,
                       const BlockShape &Shape) {
  double Time = 0;
  for (const PhaseWork &P : Phases) {
    double Blocks = 1;
    if (P.Work->Dims > 0) {
      pacc_rank_options Fixed = {PACC_RANK_FIXED, {0, 0, 0}};
      fitToGrid(Shape, P.Work->Dims, Fixed.fixed);
      BlockChoice One;
      if (rank(Gpu, modelWork(*P.Work, Resources), Fixed, One) != PACC_MODEL_OK)
        return std::numeric_limits<double>::infinity();
      Time += P.Launches * One.Score.time;
      double Resident = double(One.Score.occupancy.blocks) * Gpu->sm_count;
      Blocks = std::min(Resident, std::ceil(One.Score.waves * Resident));
    }
    Time += P.Waits ? P.Launches * pacc_barrier_seconds(Blocks) : 0;
  }
  return Time;
}

BlockChoice chooseLoopBlock(ArrayRef<PhaseWork> Phases,
                            const KernelResources &Resources,
                            const KernelWork &Loop, const Options &Opts) {
  KernelWork Widest =
      *max_element(Phases, [](const PhaseWork &A, const PhaseWork &B) {
         return A.Work->Dims < B.Work->Dims;
       })->Work;
  Widest.Given = Loop.Given;
  Widest.GivenBy = Loop.GivenBy;
  BlockChoice Choice = chooseBlock(Widest, Resources, Opts);
  Choice.Smaller.clear();
  if (Loop.Given.X || Opts.BlockSize != "auto")
    return Choice;
  const pacc_gpu *Gpu = pacc_gpu_find(Opts.Arch.c_str());
  double Best = std::numeric_limits<double>::infinity();
  for (const pacc_block_score &S : Choice.Ranking) {
    double Time =
        loopTime(Gpu, Phases, Resources, {S.block[0], S.block[1], S.block[2]});
    if (Time >= Best)
      continue;
    Best = Time;
    Choice.Score = S;
    std::copy_n(S.block, 3, Choice.Block);
  }
  return Choice;
}

Expected<BlockShape> annotatedBlock(const Function &F) {
  auto *All = F.getParent()->getNamedGlobal("llvm.global.annotations");
  if (!All || !All->hasInitializer())
    return BlockShape();
  for (const Use &Entry : All->getInitializer()->operands()) {
    auto *Annotation = dyn_cast<ConstantStruct>(Entry);
    if (!Annotation || Annotation->getNumOperands() < 2 ||
        Annotation->getOperand(0)->stripPointerCasts() != &F)
      continue;
    StringRef Text;
    if (getConstantStringInfo(Annotation->getOperand(1), Text) &&
        Text.consume_front("polly-acc-block=")) {
      Expected<BlockShape> Shape = parseBlockShape(Text);
      if (Shape && !Shape->X)
        return createStringError(inconvertibleErrorCode(),
                                 "polly-acc: annotation 'polly-acc-block=" +
                                     Text + "' names no shape");
      return Shape;
    }
  }
  return BlockShape();
}

} // namespace pacc
