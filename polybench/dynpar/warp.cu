// warp: what the device runtime of aggregation does over a warp, a sum up to
// each lane and a maximum, against CUB's: the same results for every number of
// lanes, and times. The lanes that take part are known to CUB when it is
// compiled; the device runtime asks for them once before it uses them, here as
// in its own code. Prints lines as the other programs do, with the variants cub
// and own; `graph` is the operation. CUB is that of the user's toolkit, and the
// device runtime is the project's own source.
#include "dynpar.h"

#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/functional>

// It is C for the GPU alone.
#ifdef __CUDA_ARCH__
#pragma clang force_cuda_host_device begin
#include "../../lib/DeviceRT/private.h"
#pragma clang force_cuda_host_device end
#endif

constexpr int rounds = 2000;

// The lanes that are here.
__device__ static unsigned lanesHere() {
#ifdef __CUDA_ARCH__
  return pacc_lanes();
#else
  return 0;
#endif
}

struct Cub {
  static constexpr const char *name = "cub";
  template <int lanes>
  __device__ static unsigned scan(unsigned, unsigned value) {
    using Scan = cub::WarpScan<unsigned, lanes>;
    __shared__ typename Scan::TempStorage space[32];
    unsigned result;
    Scan(space[threadIdx.x / 32]).InclusiveSum(value, result);
    return result;
  }
  template <int lanes>
  __device__ static unsigned max(unsigned, unsigned value) {
    using Reduce = cub::WarpReduce<unsigned, lanes>;
    __shared__ typename Reduce::TempStorage space[32];
    unsigned result = Reduce(space[threadIdx.x / 32])
                          .Reduce(value, cuda::maximum<unsigned>{});
    return __shfl_sync(0xffffffffu >> (32 - lanes), result, 0);
  }
};

struct Own {
  static constexpr const char *name = "own";
  template <int lanes>
  __device__ static unsigned scan(unsigned mask, unsigned value) {
#ifdef __CUDA_ARCH__
    value = pacc_lanes_are_dense(mask)
                ? pacc_dense_sum(mask, value)
                : pacc_lanes_prefix(mask, value, pacc_join_sum);
#endif
    return value;
  }
  template <int lanes>
  __device__ static unsigned max(unsigned mask, unsigned value) {
#ifdef __CUDA_ARCH__
    value = pacc_lanes_are_dense(mask)
                ? pacc_dense_max(mask, value)
                : pacc_lanes_prefix(mask, value, pacc_join_max);
    value = pacc_lane_u32(mask, value, pacc_lane_last(mask));
#endif
    return value;
  }
};

// One warp with as many lanes; results of a sum, then of a maximum.
template <typename Impl, int lanes>
__global__ void once(const unsigned *in, unsigned *out) {
  unsigned value = in[threadIdx.x], mask = lanesHere();
  out[threadIdx.x] = Impl::template scan<lanes>(mask, value);
  out[32 + threadIdx.x] = Impl::template max<lanes>(mask, value);
}

template <typename Impl> __global__ void manyScans(unsigned *out) {
  unsigned value = threadIdx.x, mask = lanesHere();
  for (int i = 0; i < rounds; ++i)
    value = Impl::template scan<32>(mask, value) ^ i;
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
template <typename Impl> __global__ void manyMaxima(unsigned *out) {
  unsigned value = threadIdx.x, mask = lanesHere();
  for (int i = 0; i < rounds; ++i)
    value = (Impl::template max<32>(mask, value) ^ i) + threadIdx.x;
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

template <typename Impl, int lanes> static bool isRight() {
  std::vector<unsigned> in(32), expected(64);
  Random random(lanes);
  unsigned sum = 0, most = 0;
  for (int i = 0; i < lanes; ++i) {
    in[i] = random.below(1u << 31);
    expected[i] = sum += in[i];
    most = std::max(most, in[i]);
  }
  std::fill_n(expected.begin() + 32, lanes, most);
  DeviceArray<unsigned> from(in), to(64);
  to.clear();
  once<Impl, lanes><<<1, lanes>>>(from, to);
  CUDA_CHECK(cudaGetLastError());
  bool right = to.get() == expected;
  if (!right)
    fprintf(stderr, "%s is wrong for %d lanes\n", Impl::name, lanes);
  if constexpr (lanes < 32)
    return isRight<Impl, lanes + 1>() && right;
  return right;
}

template <typename Impl>
static int compare(const Options &options, const char *what,
                   void (*many)(unsigned *), std::vector<unsigned> &expected) {
  int threads = 256, blocks = options.size / threads;
  DeviceArray<unsigned> out(options.size);
  bool right = isRight<Impl, 1>();
  return measureAs(
      "warp", Impl::name, what, options, [&] { out.clear(); },
      [&] {
        many<<<blocks, threads>>>(out);
        CUDA_CHECK(cudaGetLastError());
      },
      [&] {
        if (expected.empty())
          expected = out.get();
        return right && out.get() == expected;
      });
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 19);
  options.size = (options.size + 255) / 256 * 256;
  std::vector<unsigned> sums, maxima;
  int wrong = compare<Cub>(options, "sum", manyScans<Cub>, sums);
  wrong |= compare<Own>(options, "sum", manyScans<Own>, sums);
  wrong |= compare<Cub>(options, "maximum", manyMaxima<Cub>, maxima);
  wrong |= compare<Own>(options, "maximum", manyMaxima<Own>, maxima);
  return wrong;
}
