// quicksort: a block splits a range of numbers by a pivot, and one thread
// launches a grid for each part, in a stream of its own: parts need not wait
// for each other.
#include "dynpar.h"

constexpr int leafSize = 128;
constexpr int mostDepth = 20;
constexpr int threads = 128;
constexpr int samples = 31;

struct Part {
  int begin, end;
};

// Writes the range in order, by counting for each number those before it.
__device__ void sortRange(Part part, const int *from, int *out) {
  for (int i = part.begin + threadIdx.x; i < part.end; i += blockDim.x) {
    int place = part.begin;
    for (int j = part.begin; j < part.end; ++j)
      place += from[j] < from[i] || (from[j] == from[i] && j < i);
    out[place] = from[i];
  }
}

// The median of some numbers of the range.
__device__ int choosePivot(Part part, const int *from) {
  __shared__ int sample[samples], pivot;
  long long size = part.end - part.begin;
  int t = threadIdx.x;
  if (t < samples)
    sample[t] = from[part.begin + static_cast<int>(size * t / samples)];
  __syncthreads();
  int before = 0;
  for (int i = 0; t < samples && i < samples; ++i)
    before += sample[i] < sample[t] || (sample[i] == sample[t] && i < t);
  if (t < samples && before == samples / 2)
    pivot = sample[t];
  __syncthreads();
  return pivot;
}

// Moves the numbers below the pivot to the front of `to` and those above to its
// end, and writes those equal to it where they stay. Returns the range of the
// last.
__device__ Part split(Part part, const int *from, int *to, int *out) {
  __shared__ int low, high;
  int pivot = choosePivot(part, from);
  if (threadIdx.x == 0) {
    low = part.begin;
    high = part.end;
  }
  __syncthreads();
  for (int i = part.begin + threadIdx.x; i < part.end; i += blockDim.x) {
    if (from[i] < pivot)
      to[atomicAdd(&low, 1)] = from[i];
    else if (from[i] > pivot)
      to[atomicSub(&high, 1) - 1] = from[i];
  }
  __syncthreads();
  for (int i = low + threadIdx.x; i < high; i += blockDim.x)
    out[i] = pivot;
  return {low, high};
}

__device__ bool isLeaf(Part part, int depth) {
  return part.end - part.begin <= leafSize || depth == mostDepth;
}

#ifndef DYNPAR_FLAT
__global__ void sortPart(Part part, int depth, int *from, int *to, int *out) {
  if (isLeaf(part, depth)) {
    sortRange(part, from, out);
    return;
  }
  Part middle = split(part, from, to, out);
  if (threadIdx.x != 0)
    return;
  if (middle.begin > part.begin) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sortPart<<<1, threads, 0, stream>>>({part.begin, middle.begin}, depth + 1,
                                        to, from, out);
    cudaStreamDestroy(stream);
  }
  if (part.end > middle.end) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sortPart<<<1, threads, 0, stream>>>({middle.end, part.end}, depth + 1, to,
                                        from, out);
    cudaStreamDestroy(stream);
  }
}
#else
// Without recursion: a grid per depth, and lists of parts in between.
__global__ void sortParts(const Part *parts, int depth, int *from, int *to,
                          int *out, Part *next, int *nextCount) {
  Part part = parts[blockIdx.x];
  if (isLeaf(part, depth)) {
    sortRange(part, from, out);
    return;
  }
  Part middle = split(part, from, to, out);
  if (threadIdx.x != 0)
    return;
  if (middle.begin > part.begin)
    next[atomicAdd(nextCount, 1)] = {part.begin, middle.begin};
  if (part.end > middle.end)
    next[atomicAdd(nextCount, 1)] = {middle.end, part.end};
}
#endif

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 18);
  options.graph = "uniform";
  int n = options.size;
  Random random(3);
  std::vector<int> input(n);
  for (int &x : input)
    x = static_cast<int>(random.below(2 * n));
  std::vector<int> expected(input);
  std::sort(expected.begin(), expected.end());
  DeviceArray<int> a(n), b(n), out(n);
#ifndef DYNPAR_FLAT
  auto run = [&] {
    sortPart<<<1, threads>>>({0, n}, 0, a, b, out);
    CUDA_CHECK(cudaGetLastError());
  };
#else
  DeviceArray<Part> now(n), then(n);
  DeviceArray<int> count(1);
  auto run = [&] {
    Part *parts = now, *next = then;
    int *from = a, *to = b;
    Part all = {0, n};
    CUDA_CHECK(cudaMemcpy(parts, &all, sizeof all, cudaMemcpyHostToDevice));
    int depth = 0;
    for (int blocks = 1; blocks; ++depth) {
      count.clear();
      sortParts<<<blocks, threads>>>(parts, depth, from, to, out, next, count);
      CUDA_CHECK(cudaGetLastError());
      blocks = count.get()[0];
      std::swap(parts, next);
      std::swap(from, to);
    }
  };
#endif
  return measure(
      "quicksort", options,
      [&] {
        a.set(input);
        out.clear();
      },
      run, [&] { return out.get() == expected; });
}
