// CUB on warps and blocks, and over the device, where blocks wait for earlier
// ones: that goes in the natural order alone.
// RUN: %cuda_cpu -w %s -o %t
// RUN: %t
// RUN: env PACC_CPU_SEED=6 %t block

#include "Inputs/check.h"

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_scan.cuh>

template <typename T> __global__ void sums(const T *in, T *scanned, T *sum) {
  using Scan = cub::WarpScan<T>;
  using Reduce = cub::BlockReduce<T, 64>;
  __shared__ typename Scan::TempStorage scan[2];
  __shared__ typename Reduce::TempStorage reduce;
  int t = threadIdx.x;
  T value = in[t], result;
  Scan(scan[t / 32]).InclusiveSum(value, result);
  scanned[t] = result;
  T all = Reduce(reduce).Sum(value);
  if (t == 0)
    *sum = all;
}

template <typename T> static void block() {
  T in[64], *data, got[65], sum = 0;
  OK(cudaMalloc(&data, sizeof in + sizeof got));
  for (int i = 0; i < 64; i++)
    in[i] = static_cast<T>(i % 7 + 1);
  OK(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
  sums<<<1, 64>>>(data, data + 64, data + 128);
  OK(cudaMemcpy(got, data + 64, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) {
    sum = i % 32 ? sum + in[i] : in[i];
    CHECK(got[i] == sum);
  }
  CHECK(got[64] == static_cast<T>(253));
}

static void device() {
  constexpr int n = 3000;
  unsigned in[n], got[n], *from, *to;
  OK(cudaMalloc(&from, sizeof in));
  OK(cudaMalloc(&to, sizeof in));
  for (unsigned i = 0; i < n; i++)
    in[i] = i * 2654435761u;
  OK(cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice));
  void *temporary = nullptr;
  size_t bytes = 0;
  OK(cub::DeviceScan::InclusiveSum(temporary, bytes, from, to, n));
  OK(cudaMalloc(&temporary, bytes));
  OK(cub::DeviceScan::InclusiveSum(temporary, bytes, from, to, n));
  OK(cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost));
  unsigned sum = 0;
  for (int i = 0; i < n; i++)
    CHECK(got[i] == (sum += in[i]));
}

int main(int argc, char **) {
  block<int>();
  block<unsigned long long>();
  block<float>();
  block<double>();
  if (argc == 1)
    device();
  return 0;
}
