// What kernels ask of CUDA and of C's library: malloc, errors, attributes,
// clocks; what the host asks of kernels and of the device.
// RUN: %cuda_cpu %s -o %t
// RUN: %t
// RUN: env PACC_CPU_SEED=9 PACC_CPU_THREADS=2 %t

#include "Inputs/check.h"

#include <cstring>

struct Node {
  Node *next;
  int value;
};

__global__ void lists(Node **heads) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  Node *head = nullptr;
  for (int i = 0; i <= t % 5; i++) {
    Node *node = static_cast<Node *>(malloc(sizeof(Node)));
    node->next = head;
    node->value = t + i;
    head = node;
  }
  heads[t] = head;
}
__global__ void sums(Node **heads, int *sum) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  sum[t] = 0;
  for (Node *node = heads[t]; node;) {
    Node *next = node->next;
    sum[t] += node->value;
    free(node);
    node = next;
  }
}

// More allocations at a time than a process may have mappings.
constexpr int pieces = 40000;
__global__ void take(int **kept) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < pieces && (kept[t] = static_cast<int *>(malloc(sizeof(int)))))
    *kept[t] = t;
}
__global__ void give(int **kept, int *n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < pieces && kept[t] && *kept[t] == t)
    atomicAdd(n, 1);
  if (t < pieces)
    free(kept[t]);
}

__global__ void exhaust(int *results) {
  void *volatile p = malloc(100 << 20);
  results[0] = p == nullptr;
  int *q;
  results[1] = cudaMalloc(reinterpret_cast<void **>(&q), 64);
  q[15] = 5;
  results[2] = q[15];
  results[3] = cudaFree(q);
  results[4] = cudaFree(results);
  results[5] = cudaGetLastError();
  results[6] = cudaGetLastError();
}

__global__ void empty() {}
__global__ void __launch_bounds__(64) small(float *out) {
  __shared__ float cells[100];
  cells[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = cells[threadIdx.x ^ 1];
}
__global__ void dynamic(float *out) {
  extern __shared__ float cells[];
  cells[threadIdx.x] = 1;
  out[threadIdx.x] = cells[threadIdx.x];
}

__global__ void ask(int *results) {
  cudaFuncAttributes attributes;
  int n;
  results[0] = cudaGetDevice(&n) == cudaSuccess && n == 0;
  results[1] =
      cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0) == cudaSuccess &&
      n == 32;
  results[2] =
      cudaFuncGetAttributes(
          &attributes, reinterpret_cast<const void *>(small)) == cudaSuccess &&
      attributes.maxThreadsPerBlock == 64 && attributes.sharedSizeBytes == 400;
  results[3] = cudaGetErrorString(cudaErrorInvalidValue)[0] == 'i' &&
               cudaGetErrorName(cudaErrorInvalidValue)[4] == 'E';
  long long before = clock64();
  __nanosleep(100);
  results[4] = clock64() >= before;
  // What the device refuses.
  empty<<<1, 2000>>>();
  results[5] = cudaGetLastError() == cudaErrorInvalidConfiguration;
  empty<<<1, 32, 100000>>>();
  results[6] = cudaGetLastError() == cudaErrorInvalidValue;
  results[7] = cudaGetLastError() == cudaSuccess;
}

__global__ void down(int *depth) {
  atomicAdd(depth, 1);
  down<<<1, 1>>>(depth);
  if (cudaGetLastError() == cudaErrorLaunchMaxDepthExceeded)
    atomicAdd(depth + 1, 1);
}
__global__ void again(int *n) {
  if (atomicAdd(n, 1) < 999)
    again<<<1, 1, 0, cudaStreamTailLaunch>>>(n);
}

int main() {
  Node **heads;
  int *data, got[256];
  OK(cudaMalloc(&heads, 256 * sizeof(Node *)));
  OK(cudaMalloc(&data, sizeof got));
  lists<<<4, 64>>>(heads);
  sums<<<8, 32>>>(heads, data);
  OK(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 256; t++) {
    int n = t % 5;
    CHECK(got[t] == t * (n + 1) + n * (n + 1) / 2);
  }
  int **kept;
  OK(cudaMalloc(&kept, pieces * sizeof(int *)));
  OK(cudaMemset(data, 0, sizeof(int)));
  take<<<pieces / 64, 64>>>(kept);
  give<<<pieces / 64, 64>>>(kept, data);
  OK(cudaMemcpy(got, data, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(got[0] == pieces);

  exhaust<<<1, 1>>>(data);
  OK(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got[0] == 1 && got[1] == cudaSuccess && got[2] == 5);
  CHECK(got[3] == cudaSuccess && got[4] == cudaErrorInvalidValue);
  CHECK(got[5] == cudaErrorInvalidValue && got[6] == cudaSuccess);

  OK(cudaMemset(data, 0, sizeof got));
  ask<<<1, 1>>>(data);
  OK(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; i++) {
    if (!got[i])
      fprintf(stderr, "answer %d is wrong\n", i);
    CHECK(got[i]);
  }

  OK(cudaMemset(data, 0, sizeof got));
  down<<<1, 1>>>(data);
  OK(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got[0] == 25 && got[1] == 1);
  OK(cudaMemset(data, 0, sizeof got));
  again<<<1, 1>>>(data);
  OK(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got[0] == 1000);

  // Launches that no GPU takes are refused at once, and nothing is broken.
  empty<<<0, 1>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  empty<<<1, 1025>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  small<<<1, 65>>>(reinterpret_cast<float *>(data));
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  dynamic<<<1, 1, 64 * 1024>>>(reinterpret_cast<float *>(data));
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize,
                          64 * 1024));
  dynamic<<<1, 1, 64 * 1024>>>(reinterpret_cast<float *>(data));
  OK(cudaDeviceSynchronize());

  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, small));
  CHECK(attributes.sharedSizeBytes == 400 &&
        attributes.maxThreadsPerBlock == 64);
  int blocks, size, least;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1024, 0));
  CHECK(blocks == 2);
  OK(cudaOccupancyMaxPotentialBlockSize(&least, &size, small));
  CHECK(size == 64);

  cudaDeviceProp properties;
  int count, device, value;
  OK(cudaGetDeviceCount(&count));
  OK(cudaSetDevice(0));
  OK(cudaGetDevice(&device));
  CHECK(count == 1 && device == 0 &&
        cudaSetDevice(1) == cudaErrorInvalidDevice);
  OK(cudaGetDeviceProperties(&properties, 0));
  CHECK(properties.major == 9 && properties.warpSize == 32 &&
        properties.maxThreadsPerBlock == 1024 &&
        !strcmp(properties.name, "CPU device"));
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  CHECK(value == properties.multiProcessorCount && value > 1);
  CHECK(!strcmp(cudaGetErrorName(cudaErrorInvalidValue),
                "cudaErrorInvalidValue"));
  CHECK(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));
  return 0;
}
