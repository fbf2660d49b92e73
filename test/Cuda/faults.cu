// A kernel that goes wrong ends with CUDA's error, and words that say where and
// why. The error stays: later calls return it.
// RUN: %cuda_cpu %s -o %t
// RUN: %t bounds 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: %t freed 2>&1 | FileCheck %s --check-prefix=FREED
// RUN: %t host 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: %t shared 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: %t variable 2>&1 | FileCheck %s --check-prefix=VARIABLE
// RUN: %t misaligned 2>&1 | FileCheck %s --check-prefix=MISALIGNED
// RUN: %t trap 2>&1 | FileCheck %s --check-prefix=TRAP
// RUN: %t assert 2>&1 | FileCheck %s --check-prefix=ASSERT
// RUN: %t barrier 2>&1 | FileCheck %s --check-prefix=BARRIER
// RUN: %t heap 2>&1 | FileCheck %s --check-prefix=HEAP
// RUN: %t child 2>&1 | FileCheck %s --check-prefix=CHILD
// RUN: %t unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
//
// BOUNDS: CPU device: PACC_CPU_ERROR_OUT_OF_BOUNDS: kernel '{{.*}}put{{.*}}', block (1,0,0), thread (2,0,0): a write of 4 bytes at {{.*}}, 0 bytes past the end of a 40-byte allocation
// BOUNDS-NEXT: illegal memory access
// BOUNDS-NEXT: later calls: 1
// FREED: a write of 4 bytes at {{.*}}, byte 0 of a 40-byte allocation, which was freed
// HOST: a write of 4 bytes at {{.*}}, a host address, no device memory
// SHARED: a write of 4 bytes at {{.*}}, 0 bytes past the end of the block's shared memory
// VARIABLE: a write of 4 bytes at {{.*}}, 4 bytes past the end of the 16-byte variable 'four'
// MISALIGNED: PACC_CPU_ERROR_MISALIGNED: {{.*}} a write of 4 bytes at
// MISALIGNED-NEXT: misaligned address
// TRAP: PACC_CPU_ERROR_TRAP:
// TRAP-NEXT: unspecified launch failure
// ASSERT: assertion 'n == 3' failed at {{.*}}faults.cu:
// ASSERT-NEXT: device-side assert triggered
// BARRIER: PACC_CPU_ERROR_DEADLOCK: {{.*}} deadlock: 2 of 32 threads wait for others
// HEAP: a write of 4 bytes at {{.*}}, 0 bytes past the end of 4 bytes from malloc in a kernel
// CHILD: kernel '{{.*}}put{{.*}}', block (0,0,0), thread (0,0,0): a write of 4 bytes at {{.*}}, a null pointer
// UNKNOWN: PACC_CPU_ERROR_{{.*}} the CPU device has no version of the function notToBeFound
// UNKNOWN-NEXT: operation not supported

#include "Inputs/check.h"

#include <cassert>
#include <cstring>

__device__ int four[4];
extern "C" __device__ int notToBeFound(int);

__global__ void put(int *to, int i) {
  if (threadIdx.x == 2 || blockDim.x == 1)
    to[blockIdx.x * i] = 1;
}
__global__ void putShared(int i) {
  __shared__ int cells[8];
  volatile int *to = cells;
  to[i] = 1;
}
__global__ void putVariable(int i) { four[i] = 1; }
__global__ void trap() { __trap(); }
__global__ void failing(int n) { assert(n == 3); }
__global__ void unequal() {
  if (threadIdx.x == 0)
    __syncwarp(3);
  else if (threadIdx.x == 1)
    __syncthreads();
}
__global__ void heap() {
  volatile int *volatile kept = static_cast<int *>(malloc(sizeof(int)));
  volatile int *p = kept;
  p[0] = 1;
  p[threadIdx.x + 1] = 2;
}
__global__ void parent() { put<<<1, 1>>>(nullptr, 0); }
__global__ void unknown(int *to) { *to = notToBeFound(1); }

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int *data, local;
  OK(cudaMalloc(&data, 10 * sizeof(int)));
  if (!strcmp(what, "bounds"))
    put<<<2, 32>>>(data, 10);
  else if (!strcmp(what, "freed") && cudaFree(data) == cudaSuccess)
    put<<<1, 1>>>(data, 0);
  else if (!strcmp(what, "host"))
    put<<<1, 1>>>(&local, 0);
  else if (!strcmp(what, "shared"))
    putShared<<<1, 1>>>(8);
  else if (!strcmp(what, "variable"))
    putVariable<<<1, 1>>>(5);
  else if (!strcmp(what, "misaligned"))
    put<<<1, 1>>>(reinterpret_cast<int *>(reinterpret_cast<char *>(data) + 2),
                  0);
  else if (!strcmp(what, "trap"))
    trap<<<1, 1>>>();
  else if (!strcmp(what, "assert"))
    failing<<<1, 1>>>(2);
  else if (!strcmp(what, "barrier"))
    unequal<<<1, 32>>>();
  else if (!strcmp(what, "heap"))
    heap<<<1, 1>>>();
  else if (!strcmp(what, "child"))
    parent<<<1, 1>>>();
  else if (!strcmp(what, "unknown"))
    unknown<<<1, 1>>>(data);
  OK(cudaGetLastError());
  cudaError_t error = cudaDeviceSynchronize();
  CHECK(error != cudaSuccess);
  fprintf(stderr, "%s\n", cudaGetErrorString(error));
  int same = cudaGetLastError() == error && cudaGetLastError() == error &&
             cudaMalloc(&data, 4) == error && cudaDeviceSynchronize() == error;
  fprintf(stderr, "later calls: %d\n", same);
  return 0;
}
