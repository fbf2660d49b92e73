// Cooperative groups within a block, and their reductions and scans. Code that
// is not optimised takes the address of clang's `threadIdx`.
//
// RUN: %cuda_cpu %s -o %t
// RUN: %t
// RUN: env PACC_CPU_SEED=4 %t
// RUN: %t whole 2>&1 | FileCheck %s
// RUN: %cuda_cpu -O0 %s -o %t.O0
// RUN: %t.O0
//
// CHECK: CPU device: PACC_CPU_ERROR_{{[A-Z]+}}: a cooperative launch of more than one block
// CHECK: operation not supported

#include "Inputs/check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

struct Answer {
  int rank, sum, first, scanned, active, odd, block;
};

__global__ void ask(Answer *answers) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto four = cg::tiled_partition<4>(warp);
  __shared__ int last;
  int t = static_cast<int>(block.thread_rank());
  Answer a = {};
  a.rank = static_cast<int>(four.meta_group_rank() * 10 + four.thread_rank());
  a.sum = cg::reduce(warp, t, cg::plus<int>());
  a.first = four.shfl(t, 0);
  a.scanned = cg::inclusive_scan(four, t);
  if (t % 3 == 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    a.active = cg::reduce(active, t, cg::greater<int>()) * 100 +
               static_cast<int>(active.thread_rank());
  }
  a.odd = warp.ballot(t & 1) == 0xaaaaaaaau && warp.any(t == 40) == (t >= 32);
  if (t == 0)
    last = 7;
  block.sync();
  a.block = last + static_cast<int>(block.size());
  answers[t] = a;
}

__global__ void whole(int *out) {
  cg::this_grid().sync();
  *out = 1;
}

int main(int argc, char **) {
  Answer *answers, got[64];
  OK(cudaMalloc(&answers, sizeof got));
  if (argc > 1) {
    void *arguments[] = {&answers};
    cudaError_t error =
        cudaLaunchCooperativeKernel(whole, dim3(2), dim3(1), arguments);
    printf("%s\n", cudaGetErrorString(error));
    return 0;
  }
  ask<<<1, 64>>>(answers);
  OK(cudaMemcpy(got, answers, sizeof got, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 64; t++) {
    int four = t / 4 * 4, sum = 0;
    for (int i = four; i <= t; i++)
      sum += i;
    CHECK(got[t].rank == t / 4 % 8 * 10 + t % 4);
    CHECK(got[t].sum == (t < 32 ? 496 : 1520));
    CHECK(got[t].first == four && got[t].scanned == sum);
    // Which lanes are together is up to the device; here all are.
    int largest = t < 32 ? 30 : 63, least = t < 32 ? 0 : 33;
    CHECK(got[t].active == (t % 3 ? 0 : largest * 100 + (t - least) / 3));
    CHECK(got[t].odd && got[t].block == 71);
  }
  return 0;
}
