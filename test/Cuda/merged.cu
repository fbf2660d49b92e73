// Merged launches fit where those of a plain program are lost: 2,048 threads
// launch once each, and 100 launches may wait. A copy keeps the kernel from
// launching later, so that what does not go out merged is lost here too.
// RUN: %cuda_cpu -polly-acc-agg=off %s -o %t.plain
// RUN: not %t.plain
// RUN: %cuda_cpu -polly-acc-agg=warp %s -o %t.merged
// RUN: %t.merged

#include "Inputs/check.h"

__global__ void child(unsigned *n) { atomicAdd(n, 1); }

__global__ void parent(unsigned *n, unsigned *copy) {
  child<<<1, 1>>>(n);
  if (copy)
    cudaMemcpyAsync(copy, n, sizeof *n, cudaMemcpyDeviceToDevice, 0);
}

int main() {
  unsigned *n, got;
  OK(cudaMalloc(&n, sizeof *n));
  OK(cudaMemset(n, 0, sizeof *n));
  OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
  parent<<<8, 256>>>(n, nullptr);
  OK(cudaMemcpy(&got, n, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got == 2048);
  return 0;
}
