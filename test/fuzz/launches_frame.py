"""What the programs of launches.py have in common: the text around their cases.

A program is one file, or two of the same text: with PART=1 it is the host's code
and the kernels that the host launches, with PART=2 all other kernels and the
functions that kernels call.
"""

from __future__ import annotations

PRELUDE = """\
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifndef PART
#define PART 0
#endif

typedef unsigned long long Word;

#define CHECK(call)                                                            \\
  if (cudaError_t e = (call)) {                                                \\
    printf("%s: %s\\n", #call, cudaGetErrorString(e));                          \\
    exit(2);                                                                   \\
  }

__device__ inline unsigned mix(unsigned x) {
  x = (x ^ x >> 16) * 0x45d9f3bu;
  x = (x ^ x >> 16) * 0x45d9f3bu;
  return x ^ x >> 16;
}

// All registers of the thread.
__device__ inline unsigned place() {
  unsigned h = mix(gridDim.x + 7 * gridDim.y + 49 * gridDim.z);
  h = mix(h ^ (blockDim.x + 65 * blockDim.y + 4225 * blockDim.z));
  h = mix(h ^ (blockIdx.x + 1000 * blockIdx.y + 1000000 * blockIdx.z));
  return mix(h ^ (threadIdx.x + 1024 * threadIdx.y + 1048576 * threadIdx.z));
}

__device__ inline unsigned rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ inline unsigned blockRank() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

// Whether this is the grid's first block.
__device__ inline bool first() { return blockRank() == 0; }

__device__ inline unsigned size() {
  return blockDim.x * blockDim.y * blockDim.z;
}

// A block that CUDA refuses, where `bad` is true.
__device__ inline unsigned threadsUnless(bool bad, unsigned x) {
  return bad ? x % 2 * 2000 : 1;
}

#if PART != 1
__global__ void link(unsigned *chain, unsigned factor, unsigned add) {
  *chain = *chain * factor + add;
}

__global__ void join(unsigned *chain, const unsigned *other) {
  *chain = *chain * 3 + *other;
}

// Reads what a thread of the grid that launches has written.
__global__ void peek(unsigned *sum, const unsigned *written, unsigned x) {
  atomicAdd(sum + (x + threadIdx.x) % 1024, mix(*written + threadIdx.x));
}
#else
__global__ void link(unsigned *chain, unsigned factor, unsigned add);
__global__ void join(unsigned *chain, const unsigned *other);
__global__ void peek(unsigned *sum, const unsigned *written, unsigned x);
#endif
"""

MAIN = """\

#if PART != 2
typedef void (*Case)(unsigned *sum, unsigned *chain, unsigned *copy);

static void run(int seed, Case start) {
  constexpr int count = 1024;
  unsigned *data;
  CHECK(cudaMalloc(&data, 3 * count * sizeof *data));
  CHECK(cudaMemset(data, 0, 3 * count * sizeof *data));
  start(data, data + count, data + 2 * count);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<unsigned> got(3 * count);
  CHECK(cudaMemcpy(got.data(), data, 3 * count * sizeof *data,
                   cudaMemcpyDeviceToHost));
  CHECK(cudaFree(data));
  Word hash[2] = {};
  for (int i = 0; i < 2 * count; ++i)
    hash[i / count] = (hash[i / count] ^ got[i]) * 0x100000001b3ull;
  printf("%d %016llx %016llx\\n", seed, hash[0], hash[1]);
  fflush(stdout);
}

// The argument is how many launches may wait, with which only cases run that
// lose none then. Without merging there are more than the default lets wait.
int main(int argc, char **argv) {
  const bool limited = argc > 1;
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount,
                           limited ? atoi(argv[1]) : 1 << 18));
"""

END = """\
}
#endif
"""

# C++ type, a value of it from the unsigned x, an unsigned from the parameter.
TYPES = [
    ("unsigned", "{x}", "{p}"),
    ("char", "static_cast<char>({x} % 100)", "static_cast<unsigned>({p})"),
    ("short", "static_cast<short>({x} % 10000)", "static_cast<unsigned>({p})"),
    ("bool", "({x} & 1) != 0", "({p} ? 17u : 5u)"),
    ("double", "({x} % 1000) * 0.5", "static_cast<unsigned>({p} * 2)"),
    ("float", "({x} % 1000) * 0.25f", "static_cast<unsigned>({p} * 4)"),
    ("Word", "{x} * 0x100000001ull", "static_cast<unsigned>({p} >> 32 ^ {p})"),
    ("dim3", "dim3({x} % 9, 2, {x} % 5)", "({p}.x + 10 * {p}.y + 100 * {p}.z)"),
    ("Pack", "Pack{{{{1, 2, static_cast<char>({x} % 50)}}, {x} * 0.5, 7}}",
     "({p}.c[2] + static_cast<unsigned>({p}.d) + {p}.s)"),
    ("const __grid_constant__ Pack",
     "Pack{{{{3, 4, static_cast<char>({x} % 60)}}, {x} * 0.25, 9}}",
     "({p}.c[{p}.c[0] - 1] + static_cast<unsigned>({p}.d) + {p}.s)"),
    ("float4", "make_float4({x} % 7, 1, {x} % 3, 2)",
     "static_cast<unsigned>({p}.x + 8 * {p}.z + {p}.w)"),
]  # fmt: skip
