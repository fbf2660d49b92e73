// Lanes of different launches meet where all launches are made: here one of the
// kernel, whose order may be that of the grid's end, and those of a recursive
// function, which may not wait for it.
// RUN: %cuda_cpu -polly-acc-agg=warp %s -o %t.warp
// RUN: %t.warp
// RUN: env PACC_CPU_SEED=3 %t.warp
// RUN: %cuda_cpu -polly-acc-agg=grid %s -o %t.grid
// RUN: %t.grid
// RUN: env PACC_CPU_SEED=3 %t.grid

#include "Inputs/check.h"

const int Threads = 32;

__global__ void child(int *sum, int thread, int value) {
  atomicAdd(&sum[thread], value);
}

extern "C" __device__ __attribute__((noinline)) void descend(int *sum, int depth,
                                                             int thread) {
  if (depth <= 0)
    return;
  child<<<1, 1>>>(sum, thread, depth);
  descend(sum, depth - 1, thread);
}

__global__ void parent(int *sum) {
  int thread = static_cast<int>(threadIdx.x);
  descend(sum, thread % 4, thread);
  child<<<1, 1>>>(sum, thread, 100);
}

__global__ void either(int *sum) {
  int thread = static_cast<int>(threadIdx.x);
  if (thread & 1)
    descend(sum, 2, thread);
  else
    child<<<1, 1>>>(sum, thread, 100);
}

int main() {
  int *sum, got[Threads];
  OK(cudaMalloc(&sum, sizeof got));
  OK(cudaMemset(sum, 0, sizeof got));
  parent<<<1, Threads>>>(sum);
  either<<<1, Threads>>>(sum);
  OK(cudaMemcpy(got, sum, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < Threads; i++) {
    int depth = i % 4;
    CHECK(got[i] == depth * (depth + 1) / 2 + 100 + (i & 1 ? 3 : 100));
  }
  return 0;
}
