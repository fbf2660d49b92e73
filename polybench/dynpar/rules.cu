// rules: one small test per rule that merged launches have to keep. Every test
// prints its name and ok or wrong; the exit status is 0 if all are ok.
//
//   rules [NAME...]     only these
#include "dynpar.h"

#include <functional>

constexpr unsigned parents = 1000;

__host__ __device__ inline unsigned mix(unsigned x) {
  x = (x ^ x >> 16) * 0x45d9f3bu;
  x = (x ^ x >> 16) * 0x45d9f3bu;
  return x ^ x >> 16;
}

__host__ __device__ inline unsigned weight(dim3 grid, dim3 block, dim3 b,
                                           dim3 t) {
  unsigned h = mix(grid.x + 7 * grid.y + 49 * grid.z);
  h = mix(h ^ (block.x + 65 * block.y + 4225 * block.z));
  h = mix(h ^ (b.x + 1000 * b.y + 1000000 * b.z));
  return mix(h ^ (t.x + 1024 * t.y + 1048576 * t.z));
}

static unsigned sumOf(dim3 grid, dim3 block) {
  unsigned sum = 0;
  for (unsigned b = 0; b < grid.x * grid.y * grid.z; ++b)
    for (unsigned t = 0; t < block.x * block.y * block.z; ++t)
      sum += weight(
          grid, block,
          dim3(b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y),
          dim3(t % block.x, t / block.x % block.y, t / block.x / block.y));
  return sum;
}

static __device__ unsigned index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// Launches `kernel<<<blocks of 100, ...>>>(arguments)` and compares `parents`
// results with expected(i).
using Expected = std::function<unsigned(unsigned)>;
template <typename... Types, typename... Arguments>
static bool run(const Expected &expected, void (*kernel)(unsigned *, Types...),
                Arguments... arguments) {
  DeviceArray<unsigned> out(parents);
  out.clear();
  kernel<<<parents / 100, 100>>>(out, arguments...);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<unsigned> got = out.get();
  unsigned wrong = 0;
  for (unsigned i = 0; i < parents; ++i)
    if (got[i] != expected(i) && wrong++ < 3)
      fprintf(stderr, "  parent %u: %u instead of %u\n", i, got[i],
              expected(i));
  return wrong == 0;
}

// Grids and blocks of three dimensions, different in every thread.

__host__ __device__ inline dim3 gridOf(unsigned i) {
  return dim3(1 + i % 3, 1 + i % 2, 1 + i / 3 % 2);
}
__host__ __device__ inline dim3 blockOf(unsigned i) {
  return dim3(1 + i % 7, 1 + i / 5 % 3, 1 + i % 2);
}

__global__ void shapesChild(unsigned *out) {
  atomicAdd(out, weight(gridDim, blockDim, blockIdx, threadIdx));
}
__global__ void shapesParent(unsigned *out) {
  unsigned i = index();
  shapesChild<<<gridOf(i), blockOf(i)>>>(out + i);
}
static bool shapes() {
  return run([](unsigned i) { return sumOf(gridOf(i), blockOf(i)); },
             shapesParent);
}

// Only some threads launch, after a return of others.

__global__ void sparseParent(unsigned *out) {
  unsigned i = index();
  if (i % 3 == 0)
    return;
  if (i % 7 == 0)
    shapesChild<<<gridOf(i), blockOf(i)>>>(out + i);
  else if (i % 11 == 0)
    out[i] = 5;
}
static bool sparse() {
  return run(
      [](unsigned i) {
        if (i % 3 == 0)
          return 0u;
        return i % 7 == 0    ? sumOf(gridOf(i), blockOf(i))
               : i % 11 == 0 ? 5u
                             : 0u;
      },
      sparseParent);
}

// Structures and small types as arguments.

struct Odd {
  char c[5];
  double d;
  short s;
};
struct alignas(16) Wide {
  long long a, b;
};
__global__ void argumentsChild(bool flag, Odd odd, char c, Wide wide,
                               unsigned *out, short s, float f) {
  if (threadIdx.x == 0)
    atomicAdd(out, flag + odd.c[4] + static_cast<unsigned>(odd.d) + odd.s + c +
                       static_cast<unsigned>(wide.a + wide.b) + s +
                       static_cast<unsigned>(f));
}
__global__ void argumentsParent(unsigned *out) {
  unsigned i = index();
  Odd odd = {{0, 0, 0, 0, static_cast<char>(i % 100)}, i * 2.0, 7};
  Wide wide = {i * 3ll, 1};
  argumentsChild<<<1, 3>>>(i & 1, odd, 'a', wide, out + i,
                           static_cast<short>(i % 50), i * 0.5f);
  odd.d = 1e9; // Too late for the child.
}
static bool arguments() {
  return run(
      [](unsigned i) {
        return (i & 1) + i % 100 + i * 2 + 7 + 'a' + i * 3 + 1 + i % 50 + i / 2;
      },
      argumentsParent);
}

// Barriers, static and dynamic shared memory, in blocks of different sizes.

__global__ void barriersChild(unsigned *out) {
  __shared__ unsigned sum;
  extern __shared__ unsigned values[];
  unsigned t = threadIdx.x, n = blockDim.x;
  if (t == 0)
    sum = 0;
  values[t] = t + 1;
  __syncthreads();
  for (unsigned step = 1; step < n; step *= 2) {
    unsigned other = t >= step ? values[t - step] : 0;
    __syncthreads();
    values[t] += other;
    __syncthreads();
  }
  atomicAdd(&sum, values[t]);
  __syncthreads();
  if (t == n - 1)
    atomicAdd(out, sum + values[t]);
}
__global__ void barriersParent(unsigned *out) {
  unsigned i = index(), n = 1 + i % 150;
  barriersChild<<<2, n, n * sizeof(unsigned)>>>(out + i);
}
static bool barriers() {
  return run(
      [](unsigned i) {
        unsigned n = 1 + i % 150, sum = 0;
        for (unsigned k = 1; k <= n; ++k)
          sum += k * (k + 1) / 2;
        return 2 * (sum + n * (n + 1) / 2);
      },
      barriersParent);
}

// Warp operations of a child whose blocks are no multiple of a warp.

__global__ void warpsChild(unsigned *out) {
  unsigned lanes = blockDim.x - threadIdx.x / 32 * 32;
  unsigned alive = lanes < 32 ? (1u << lanes) - 1 : 0xffffffff;
  unsigned odd = __ballot_sync(alive, threadIdx.x & 1);
  unsigned sum = threadIdx.x;
  for (int step = 16; step; step /= 2) {
    unsigned other = __shfl_down_sync(alive, sum, step);
    if (threadIdx.x % 32 + step < 32 && threadIdx.x + step < blockDim.x)
      sum += other;
  }
  if (threadIdx.x % 32 == 0)
    atomicAdd(out, sum + 1000 * __popc(odd) + 100000 * __popc(alive));
}
__global__ void warpsParent(unsigned *out) {
  unsigned i = index();
  warpsChild<<<1, 1 + i % 77>>>(out + i);
}
static bool warps() {
  return run(
      [](unsigned i) {
        unsigned n = 1 + i % 77;
        return n * (n - 1) / 2 + 1000 * (n / 2) + 100000 * n;
      },
      warpsParent);
}

// One thread's launches in order, straight and in a loop.

__global__ void orderChild(unsigned *out, unsigned factor, unsigned add) {
  long long until = clock64() + 2000;
  while (clock64() < until)
    ;
  *out = *out * factor + add;
}
__global__ void orderParent(unsigned *out) {
  unsigned i = index();
  if (i % 4 == 0)
    return;
  orderChild<<<1, 1>>>(out + i, 1, 3);
  if (i % 5 == 0)
    orderChild<<<1, 1>>>(out + i, 5, 1);
  orderChild<<<1, 1>>>(out + i, 2, i);
}
static bool order() {
  return run(
      [](unsigned i) {
        unsigned x = 3;
        if (i % 5 == 0)
          x = x * 5 + 1;
        return i % 4 == 0 ? 0 : x * 2 + i;
      },
      orderParent);
}

__global__ void loopParent(unsigned *out) {
  unsigned i = index();
  for (unsigned k = 0; k < i % 6; ++k) {
    if (k == 2)
      continue;
    if (i % 37 == 0 && k == 3)
      break;
    orderChild<<<1, 1>>>(out + i, 3, k + 1);
  }
}
static bool loop() {
  return run(
      [](unsigned i) {
        unsigned x = 0;
        for (unsigned k = 0; k < i % 6; ++k) {
          if (k == 2)
            continue;
          if (i % 37 == 0 && k == 3)
            break;
          x = x * 3 + k + 1;
        }
        return x;
      },
      loopParent);
}

// Two kernels in turns, in loops of different lengths.

__global__ void doubleChild(unsigned *out) { *out = *out * 2 + 1; }
__global__ void roundsParent(unsigned *out) {
  unsigned i = index();
  for (unsigned k = 0; k < i % 19; ++k) {
    orderChild<<<1, 1>>>(out + i, 3, k);
    if ((i + k) % 4 == 0)
      doubleChild<<<1, 1>>>(out + i);
  }
  if (i % 2)
    orderChild<<<1, 1>>>(out + i, 7, i);
}
static bool rounds() {
  return run(
      [](unsigned i) {
        unsigned x = 0;
        for (unsigned k = 0; k < i % 19; ++k) {
          x = x * 3 + k;
          if ((i + k) % 4 == 0)
            x = x * 2 + 1;
        }
        return i % 2 ? x * 7 + i : x;
      },
      roundsParent);
}

// A launch, a copy that reads what it wrote, and a launch that reads the copy.

__global__ void copyChild(unsigned *to, const unsigned *from, unsigned add) {
  *to = *from + add;
}
__global__ void copyParent(unsigned *out, unsigned *middle) {
  unsigned i = index();
  copyChild<<<1, 1>>>(middle + 2 * i, middle + 2 * i, i + 1);
  cudaMemcpyAsync(middle + 2 * i + 1, middle + 2 * i, sizeof *middle,
                  cudaMemcpyDeviceToDevice, 0);
  copyChild<<<1, 1>>>(out + i, middle + 2 * i + 1, 10);
}
static bool copies() {
  DeviceArray<unsigned> middle(2 * parents);
  middle.clear();
  return run([](unsigned i) { return i + 11; }, copyParent,
             static_cast<unsigned *>(middle));
}

// Divergence: different children under a switch.

__global__ void addChild(unsigned *out, unsigned value) {
  atomicAdd(out, value);
}
__global__ void switchParent(unsigned *out) {
  unsigned i = index();
  switch (i % 5) {
  case 0:
    addChild<<<1, 1>>>(out + i, i);
    break;
  case 1:
    shapesChild<<<gridOf(i), blockOf(i)>>>(out + i);
    addChild<<<2, 3>>>(out + i, 1);
    break;
  case 2:
    return;
  case 3:
    out[i] = 1;
    [[fallthrough]];
  default:
    addChild<<<dim3(1, 2), 2>>>(out + i, 10);
  }
}
static bool divergence() {
  return run(
      [](unsigned i) -> unsigned {
        switch (i % 5) {
        case 0:
          return i;
        case 1:
          return sumOf(gridOf(i), blockOf(i)) + 6;
        case 2:
          return 0;
        case 3:
          return 41;
        default:
          return 40;
        }
      },
      switchParent);
}

// Barriers in a parent some of whose threads are gone.

__global__ void earlyParent(unsigned *out) {
  __shared__ unsigned value;
  unsigned i = index();
  if (threadIdx.x >= 64)
    return;
  for (unsigned k = 0; k < 3; ++k) {
    if (threadIdx.x == k)
      value = i;
    __syncthreads();
    if (threadIdx.x % 3 == k)
      addChild<<<1, 2>>>(out + i, value);
    __syncthreads();
  }
}
static bool earlyReturns() {
  return run(
      [](unsigned i) {
        unsigned t = i % 100;
        return t >= 64 ? 0 : 2 * (i - t + t % 3);
      },
      earlyParent);
}

// Launches in a function that calls itself.

__device__ __noinline__ void descend(unsigned *out, unsigned depth) {
  if (depth == 0)
    return;
  addChild<<<1, 1>>>(out, depth);
  descend(out, depth / 2);
}
__global__ void functionParent(unsigned *out) {
  unsigned i = index();
  descend(out + i, i % 9);
}
static bool functions() {
  return run(
      [](unsigned i) {
        unsigned sum = 0;
        for (unsigned d = i % 9; d; d /= 2)
          sum += d;
        return sum;
      },
      functionParent);
}

// Kernels that launch themselves, and each other.

__global__ void treeRight(unsigned *out, unsigned depth);
__global__ void treeLeft(unsigned *out, unsigned depth) {
  atomicAdd(out, 1);
  if (depth && threadIdx.x < 2) {
    treeLeft<<<1, 3>>>(out, depth - 1);
    if (threadIdx.x == 1)
      treeRight<<<2, 2>>>(out, depth - 1);
  }
}
__global__ void treeRight(unsigned *out, unsigned depth) {
  atomicAdd(out, 1000);
  if (depth && threadIdx.x + blockIdx.x == 1)
    treeLeft<<<1, 1>>>(out, depth - 1);
}
__global__ void treeParent(unsigned *out) {
  unsigned i = index();
  if (i % 10 == 0)
    treeLeft<<<1, 2>>>(out + i, i % 4);
}
static unsigned treeSum(bool left, unsigned blocks, unsigned threads,
                        unsigned depth) {
  unsigned sum = 0;
  for (unsigned b = 0; b < blocks; ++b)
    for (unsigned t = 0; t < threads; ++t) {
      sum += left ? 1 : 1000;
      if (!depth)
        continue;
      if (left && t < 2) {
        sum += treeSum(true, 1, 3, depth - 1);
        if (t == 1)
          sum += treeSum(false, 2, 2, depth - 1);
      }
      if (!left && t + b == 1)
        sum += treeSum(true, 1, 1, depth - 1);
    }
  return sum;
}
static bool recursion() {
  return run([](unsigned i) { return i % 10 ? 0 : treeSum(true, 1, 2, i % 4); },
             treeParent);
}

// The other streams. A tail launch sees what the grid's children wrote.

__global__ void streamsParent(unsigned *out) {
  unsigned i = index();
  addChild<<<1, 1, 0, cudaStreamFireAndForget>>>(out + i, 1);
  addChild<<<1, 2, 0, cudaStreamPerThread>>>(out + i, 10);
  addChild<<<1, 3>>>(out + i, 100);
}
static bool streams() {
  return run([](unsigned) { return 321; }, streamsParent);
}

__global__ void doubleAll(unsigned *out, unsigned n) {
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < n; ++i)
      out[i] *= 2;
}
__global__ void tailParent(unsigned *out) {
  unsigned i = index();
  addChild<<<1, 2>>>(out + i, i);
  if (i == 0)
    doubleAll<<<1, 32, 0, cudaStreamTailLaunch>>>(out, parents);
}
static bool tail() {
  return run([](unsigned i) { return 4 * i; }, tailParent);
}

// A child that is too large to be merged, among small ones.

__global__ void hugeParent(unsigned *out) {
  unsigned i = index();
  addChild<<<i == 500 ? 100000 : 2, 1>>>(out + i, 1);
}
static bool huge() {
  return run([](unsigned i) { return i == 500 ? 100000u : 2u; }, hugeParent);
}

// A grid that CUDA refuses does not take others with it.

__global__ void badParent(unsigned *out) {
  unsigned i = index();
  addChild<<<i % 100 == 7 ? 0 : 1, i % 100 == 9 ? 2000 : 2>>>(out + i, 1);
}
static bool badLaunches() {
  return run([](unsigned i) { return i % 100 == 7 || i % 100 == 9 ? 0u : 2u; },
             badParent);
}

// The same kernel in several host streams at once.

static bool hostStreams() {
  constexpr unsigned count = 8, rounds = 20;
  cudaStream_t stream[count];
  DeviceArray<unsigned> out(parents * count);
  out.clear();
  CUDA_CHECK(cudaDeviceSynchronize()); // these streams do not wait for that
  for (cudaStream_t &s : stream)
    CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (unsigned r = 0; r < rounds; ++r)
    for (unsigned s = 0; s < count; ++s)
      streamsParent<<<parents / 100, 100, 0, stream[s]>>>(out + s * parents);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (cudaStream_t s : stream)
    CUDA_CHECK(cudaStreamDestroy(s));
  for (unsigned value : out.get())
    if (value != 321 * rounds)
      return false;
  return true;
}

// Many launches in a row, so that memory for them has to be used again.

static bool reuse() {
  DeviceArray<unsigned> out(parents);
  out.clear();
  constexpr unsigned rounds = 2000;
  for (unsigned r = 0; r < rounds; ++r)
    sparseParent<<<parents / 100, 100>>>(out);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<unsigned> got = out.get();
  for (unsigned i = 0; i < parents; ++i)
    if (i % 3 && i % 7 == 0 && got[i] != rounds * sumOf(gridOf(i), blockOf(i)))
      return false;
  return true;
}

static const struct {
  const char *name;
  bool (*test)();
} tests[] = {
    {"shapes", shapes},
    {"sparse", sparse},
    {"arguments", arguments},
    {"barriers", barriers},
    {"warps", warps},
    {"order", order},
    {"loop", loop},
    {"rounds", rounds},
    {"copies", copies},
    {"divergence", divergence},
    {"early-returns", earlyReturns},
    {"functions", functions},
    {"recursion", recursion},
    {"streams", streams},
    {"tail", tail},
    {"huge", huge},
    {"bad-launches", badLaunches},
    {"host-streams", hostStreams},
    {"reuse", reuse},
};

int main(int argc, char **argv) {
  // Not merged, these tests launch more than the default lets wait.
  CUDA_CHECK(
      cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 1 << 16));
  int wrong = 0;
  for (const auto &test : tests) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i)
      wanted |= !strcmp(argv[i], test.name);
    if (!wanted)
      continue;
    bool ok = test.test();
    printf("rules,%s,%s,%s\n", DYNPAR_VARIANT, test.name, ok ? "ok" : "wrong");
    fflush(stdout);
    wrong += !ok;
  }
  return wrong != 0;
}
