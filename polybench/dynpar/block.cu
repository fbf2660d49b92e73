// block: what the device runtime of aggregation does over a block, against
// CUB's. Each thread has a launch of some blocks; it gets a place among the
// records and the number of blocks before it, and the block the sum and two
// maxima. The device runtime takes warps in the order in which they come, with
// one atomic for each; CUB's BlockScan and BlockReduce take them in the order
// of threads. So the places are compared with CUB's sums of the launches in the
// order of their places: for every size of a block. Prints lines as the other
// programs do, with the variants cub and own; `graph` is the size of the timed
// blocks.
#include "dynpar.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/functional>

// It is C for the GPU alone.
#ifdef __CUDA_ARCH__
#pragma clang force_cuda_host_device begin
#include "../../lib/DeviceRT/group_private.h"
#pragma clang force_cuda_host_device end
#endif

constexpr int rounds = 200, most = 1024;

// Of one thread.
struct Place {
  unsigned index, first;
};
// Of a block: blocks, and the largest of two more values.
struct Total {
  unsigned sum, threads, shared;
};

// Two more values of a thread that has `blocks`.
__host__ __device__ inline unsigned threadsOf(unsigned blocks) {
  return blocks * 7919 % 1024;
}
__host__ __device__ inline unsigned sharedOf(unsigned blocks) {
  return blocks * 104729 % 49152;
}

// Implementations: begin() once per block, then scan() in rounds. The first
// thread gets the block's totals.
struct Cub {
  static constexpr const char *name = "cub";
  __device__ static void begin() {}
  template <int size>
  __device__ static Place scan(unsigned blocks, Total &total, int) {
    using Scan = cub::BlockScan<unsigned, size>;
    using Reduce = cub::BlockReduce<unsigned, size>;
    __shared__ typename Scan::TempStorage scanSpace;
    __shared__ typename Reduce::TempStorage reduceSpace[2];
    Place place = {threadIdx.x, 0};
    Scan(scanSpace).ExclusiveSum(blocks, place.first, total.sum);
    cuda::maximum<unsigned> larger;
    total.threads = Reduce(reduceSpace[0]).Reduce(threadsOf(blocks), larger);
    total.shared = Reduce(reduceSpace[1]).Reduce(sharedOf(blocks), larger);
    __syncthreads(); // the spaces are used again
    return place;
  }
};

struct Own {
  static constexpr const char *name = "own";
#ifdef __CUDA_ARCH__
  // For odd and even rounds: one is read and cleared while others may be in the
  // next round.
  __device__ static pacc_slot *slots() {
    __shared__ pacc_slot both[2];
    return both;
  }
#endif
  __device__ static void begin() {
#ifdef __CUDA_ARCH__
    if (threadIdx.x == 0)
      slots()[0] = slots()[1] = {};
    __syncthreads();
#endif
  }
  template <int>
  __device__ static Place scan(unsigned blocks, Total &total, int round) {
    Place result = {};
#ifdef __CUDA_ARCH__
    pacc_slot *slot = slots() + round % 2;
    pacc_place place =
        pacc_slot_place(slot, most, PACC_OF_BLOCK, pacc_lanes(),
                        {blocks, threadsOf(blocks), sharedOf(blocks)});
    result = {static_cast<unsigned>(place.index), place.first};
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned sum =
          slot->packed & ((1u << pacc_filled_bits(PACC_OF_BLOCK)) - 1);
      total = {sum, slot->threads, slot->shared};
      *slot = {};
    }
#endif
    return result;
  }
};

// Blocks of `size` or fewer threads. CUB's have just that size: those that are
// not there have 0.
template <typename Impl, int size>
__global__ void once(const unsigned *in, int here, Place *places,
                     Total *totals) {
  unsigned t = threadIdx.x, i = blockIdx.x * most + t;
  Total total = {};
  Impl::begin();
  Place place = Impl::template scan<size>(t < here ? in[i] : 0, total, 0);
  if (t < here)
    places[i] = place;
  if (t == 0)
    totals[blockIdx.x] = total;
}

template <typename Impl, int size> __global__ void many(unsigned *out) {
  unsigned blocks = threadIdx.x % 5, sum = 0;
  Impl::begin();
  for (int i = 0; i < rounds; ++i) {
    Total total;
    Place place = Impl::template scan<size>(blocks, total, i);
    // What does not depend on the order of warps.
    sum += place.first <= size * 5;
    if (threadIdx.x == 0)
      sum += total.sum + total.threads + total.shared;
    blocks = (blocks + i) % 5;
  }
  out[blockIdx.x * size + threadIdx.x] = sum;
}

// A block of each size, with its own values.
static bool isRight() {
  std::vector<unsigned> in(most * most);
  Random random(1);
  for (unsigned &blocks : in)
    blocks = random.below(1025); // as many as are merged
  DeviceArray<unsigned> values(in), sorted(most * most);
  DeviceArray<Place> places(most * most);
  DeviceArray<Total> totals(most);
  places.clear();
  for (int size = 1; size <= most; ++size)
    once<Own, most><<<1, size>>>(values + (size - 1) * most, size,
                                 places + (size - 1) * most, totals + size - 1);
  std::vector<Place> own = places.get();
  std::vector<Total> ownTotals = totals.get();
  // The same launches in the order of their places.
  std::vector<unsigned> in_order(most * most, most + 1);
  bool right = true;
  for (int size = 1; size <= most; ++size)
    for (int t = 0; t < size; ++t) {
      int row = (size - 1) * most;
      unsigned index = own[row + t].index;
      right &= index < static_cast<unsigned>(size) &&
               in_order[row + index] == most + 1;
      if (right)
        in_order[row + index] = in[row + t];
    }
  if (!right) {
    fprintf(stderr, "two records have one place\n");
    return false;
  }
  sorted.set(in_order);
  for (int size = 1; size <= most; ++size)
    once<Cub, most><<<1, most>>>(sorted + (size - 1) * most, size,
                                 places + (size - 1) * most, totals + size - 1);
  CUDA_CHECK(cudaGetLastError());
  std::vector<Place> cub = places.get();
  std::vector<Total> cubTotals = totals.get();
  for (int size = 1; size <= most; ++size) {
    int row = (size - 1) * most;
    bool same =
        !memcmp(&ownTotals[size - 1], &cubTotals[size - 1], sizeof(Total));
    for (int t = 0; t < size; ++t)
      same &= own[row + t].first == cub[row + own[row + t].index].first;
    if (!same)
      fprintf(stderr, "wrong for %d threads\n", size);
    right &= same;
  }
  return right;
}

template <typename Impl, int size>
static int time(const Options &options, bool right,
                std::vector<unsigned> &expected) {
  int blocks = std::max(1, options.size / size);
  DeviceArray<unsigned> out(blocks * size);
  return measureAs(
      "block", Impl::name, std::to_string(size).c_str(), options,
      [&] { out.clear(); },
      [&] {
        many<Impl, size><<<blocks, size>>>(out);
        CUDA_CHECK(cudaGetLastError());
      },
      [&] {
        if (expected.empty())
          expected = out.get();
        return right && out.get() == expected;
      });
}

template <int size> static int compare(const Options &options, bool right) {
  std::vector<unsigned> expected;
  return time<Cub, size>(options, right, expected) |
         time<Own, size>(options, right, expected);
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 19);
  bool right = isRight();
  return compare<32>(options, right) | compare<100>(options, right) |
         compare<256>(options, right) | compare<500>(options, right) |
         compare<1024>(options, right);
}
