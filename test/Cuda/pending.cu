// Launches beyond the limit of those that wait are lost: the host sees no
// error, the thread that launches does. A larger limit gives them room. The
// host's launches do not count, and neither do those that have begun.
// RUN: %cuda_cpu %s -o %t
// RUN: %t

#include "Inputs/check.h"

__global__ void child(unsigned *n) { atomicAdd(n, 1); }

__global__ void parent(unsigned *n) {
  child<<<1, 1>>>(n);
  if (cudaPeekAtLastError() == cudaErrorLaunchPendingCountExceeded)
    atomicAdd(n + 1, 1);
  if (cudaGetLastError() != cudaSuccess && cudaGetLastError() == cudaSuccess)
    atomicAdd(n + 2, 1);
}

static void launch(unsigned *n, int blocks, unsigned got[3]) {
  OK(cudaMemset(n, 0, 3 * sizeof(unsigned)));
  parent<<<blocks, 256>>>(n);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(got, n, 3 * sizeof(unsigned), cudaMemcpyDeviceToHost));
}

int main() {
  unsigned *n, got[3];
  size_t limit;
  OK(cudaMalloc(&n, 3 * sizeof(unsigned)));
  OK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
  CHECK(limit == 2048);
  launch(n, 8, got);
  CHECK(got[0] == 2048 && got[1] == 0);
  launch(n, 100, got);
  CHECK(got[0] == 2048 && got[1] == 25600 - 2048 && got[2] == got[1]);
  OK(cudaGetLastError());
  OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 1 << 15));
  launch(n, 100, got);
  CHECK(got[0] == 25600 && got[1] == 0);

  OK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 10));
  OK(cudaMemset(n, 0, sizeof(unsigned)));
  for (int i = 0; i < 1000; i++)
    child<<<1, 1>>>(n);
  OK(cudaMemcpy(got, n, sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(got[0] == 1000);
  return 0;
}
