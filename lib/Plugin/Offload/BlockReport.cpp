//===- BlockReport.cpp - Why a kernel has its block -----------------------===//
#include "Offload/BlockReport.h"

#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pacc {

//===----------------------------------------------------------------------===//
// Pieces of text
//===----------------------------------------------------------------------===//

static std::string shape(const uint32_t Block[3]) {
  char Text[40];
  return pacc_block_print(Block, Text, sizeof(Text));
}

static std::string limits(const pacc_block_score &Score) {
  char Text[80];
  return pacc_limits_print(Score.occupancy.limits, Text, sizeof(Text));
}

static std::string microseconds(double Seconds) {
  std::string Text;
  raw_string_ostream(Text) << format("%.4g us", Seconds * 1e6);
  return Text;
}

std::string printRegisters(const KernelResources &Resources) {
  std::string Text = std::to_string(Resources.Registers) + " registers (" +
                     (Resources.Exact ? "ptxas" : "estimated") + ")";
  if (Resources.Spills)
    Text += ", " + std::to_string(Resources.Spills) + " bytes spilled";
  return Text;
}

static std::string extents(const KernelWork &Work) {
  std::string Text = std::to_string(Work.Extent[0]);
  for (unsigned D = 1; D < Work.Dims; ++D)
    Text += " x " + std::to_string(Work.Extent[D]);
  return Text;
}

/// "read A: strided by 8000 bytes (complex), 32 sectors per request, ...".
static std::string printAccess(const BlockReport &Report, const pacc_work &Work,
                               const pacc_access &Access) {
  char Class[64];
  pacc_access_use Use =
      pacc_access_describe(&Work, &Access, Report.Choice.Block);
  std::string Text;
  raw_string_ostream OS(Text);
  OS << (Access.write ? "write " : "read ") << Report.Work.Arrays[Access.array]
     << ": " << pacc_access_print(&Access, Class, sizeof(Class))
     << (pacc_access_complex(&Access) ? " (complex)" : "")
     << format(", %.3g sectors per request, %.4g times per thread, "
               "%.4g bytes per block, reuse %.3g by threads, %.3g by the loop",
               Use.request.sectors, Access.count, Use.bytes, Use.reuse_threads,
               Use.reuse_loop);
  return Text;
}

/// The terms of a score in microseconds, in the order of the table's head.
static const char *const TableHead =
    "        shape       time      issue         l1         l2       dram"
    "    latency      start  warps limit            sectors   waves   tail";

static void printScore(raw_ostream &OS, const pacc_block_score &S) {
  OS << right_justify(shape(S.block), 13);
  for (double Term :
       {S.time, S.t_issue, S.t_l1, S.t_l2, S.t_dram, S.t_latency, S.t_blocks})
    OS << format(" %10.4g", Term * 1e6);
  OS << format(" %3d/%-3d", S.occupancy.warps, S.occupancy.warps_max)
     << left_justify(limits(S), 16)
     << format(" %7.3g %7.3g %6.3g\n", S.sectors, S.waves, S.tail);
}

/// "32x4 up to 500 threads per SM, ...": the blocks of smaller launches.
static std::string smallerBlocks(const BlockChoice &Choice) {
  std::string Text;
  for (const pacc_sized_block &S : Choice.Smaller)
    Text += (Text.empty() ? "" : ", ") + shape(S.block) + " up to " +
            std::to_string(S.threads_sm) + " threads per SM";
  return Text;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

void printBlocks(raw_ostream &OS, const BlockReport &R) {
  OS << "kernel " << R.Kernel << ": ";
  if (R.Work.Dims == 0) {
    OS << "one thread\n";
    return;
  }
  OS << extents(R.Work) << " threads, " << format("%.4g", R.Work.Iterations)
     << " iterations each, " << printRegisters(R.Resources) << '\n';
  OS << "  block " << shape(R.Choice.Block) << " (" << R.Choice.Reason << ")";
  if (!R.Choice.Smaller.empty())
    OS << "; " << smallerBlocks(R.Choice);
  OS << '\n';
  OS << "  complex access: " << (R.Choice.ComplexAccess ? "yes" : "no")
     << ", synchronization: " << (R.Choice.Sync ? "yes" : "no") << '\n';
  pacc_work Work = modelWork(R.Work, R.Resources);
  for (const pacc_access &A : R.Work.Accesses)
    OS << "  " << printAccess(R, Work, A) << '\n';
  if (R.Choice.Ranking.empty())
    return;
  OS << TableHead << '\n';
  for (const pacc_block_score &S : R.Choice.Ranking)
    printScore(OS, S);
}

/// The first candidate that is not the chosen block, or null.
static const pacc_block_score *runnerUp(const BlockChoice &Choice) {
  for (const pacc_block_score &S : Choice.Ranking)
    if (!std::equal(S.block, S.block + 3, Choice.Block))
      return &S;
  return nullptr;
}

/// "64x4 3.1 0.2 ...": a candidate for pacc-report. Microseconds, then warps,
/// their limit, sectors, waves and tail.
static std::string candidateRecord(const pacc_block_score &S) {
  std::string Text = shape(S.block);
  raw_string_ostream OS(Text);
  for (double Term :
       {S.time, S.t_issue, S.t_l1, S.t_l2, S.t_dram, S.t_latency, S.t_blocks})
    OS << format(" %.6g", Term * 1e6);
  std::string Limits = limits(S);
  llvm::erase(Limits, ' ');
  OS << format(" %d/%d", S.occupancy.warps, S.occupancy.warps_max) << ' '
     << Limits << format(" %.4g %.4g %.4g", S.sectors, S.waves, S.tail);
  return Text;
}

void remarkBlocks(OptimizationRemarkEmitter &ORE, const DebugLoc &Loc,
                  BasicBlock &BB, const BlockReport &R) {
  ORE.emit([&] {
    using namespace ore;
    OptimizationRemarkAnalysis Remark("polly-acc-blocks", "Block", Loc, &BB);
    Remark << "kernel '" << NV("Kernel", R.Kernel) << "': block "
           << NV("Block", shape(R.Choice.Block)) << " ("
           << NV("Reason", R.Choice.Reason) << ")";
    const pacc_block_score &S = R.Choice.Score;
    if (S.threads == 0)
      return Remark;
    Remark << ": " << NV("Time", microseconds(S.time)) << ", bound by "
           << NV("Bound", pacc_score_bound(&S)) << ", "
           << NV("Warps", S.occupancy.warps) << " of "
           << NV("MaxWarps", S.occupancy.warps_max) << " warps ("
           << NV("Limit", limits(S)) << ")";
    if (const pacc_block_score *Next = runnerUp(R.Choice))
      Remark << "; " << (Next->time < S.time ? "better would be " : "next ")
             << NV("RunnerUp", shape(Next->block)) << ", "
             << NV("RunnerUpTime", microseconds(Next->time)) << ", bound by "
             << NV("RunnerUpBound", pacc_score_bound(Next));
    if (!R.Choice.Smaller.empty())
      Remark << "; " << NV("Smaller", smallerBlocks(R.Choice));
    Remark << "; " << NV("Registers", printRegisters(R.Resources))
           << (R.Choice.ComplexAccess ? "; complex access" : "")
           << (R.Choice.Sync ? "; synchronization" : "") << setExtraArgs();
    Remark << NV("Threads", extents(R.Work));
    pacc_work Work = modelWork(R.Work, R.Resources);
    for (const pacc_access &A : R.Work.Accesses)
      Remark << NV("Access", printAccess(R, Work, A));
    for (const pacc_block_score &Candidate : R.Choice.Ranking)
      Remark << NV("Candidate", candidateRecord(Candidate));
    return Remark;
  });
}

} // namespace pacc
