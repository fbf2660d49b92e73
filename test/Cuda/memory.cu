// Allocations, copies of every kind and direction, symbols, managed and
// page-locked memory.
// RUN: %cuda_cpu %s -o %t
// RUN: %t
// RUN: env PACC_CPU_SEED=5 %t

#include "Inputs/check.h"

#include <cstring>

__device__ int table[8] = {1, 2, 3};
__constant__ float factor = 1.5f;
__device__ int *inner = &table[2];
static __device__ int hidden = 7;

__global__ void addTable(int *out) {
  out[threadIdx.x] = table[threadIdx.x] + static_cast<int>(factor * 2) + hidden;
  if (threadIdx.x == 0)
    out[8] = *inner;
}

__global__ void twice(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] *= 2;
}

static void copies() {
  int host[100], back[100], *a, *b;
  for (int i = 0; i < 100; i++)
    host[i] = i;
  OK(cudaMalloc(&a, sizeof host));
  OK(cudaMalloc(&b, sizeof host));
  CHECK(reinterpret_cast<uintptr_t>(a) % 256 == 0);
  OK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
  twice<<<4, 32>>>(a, 100);
  OK(cudaGetLastError());
  OK(cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(back, b, sizeof host, cudaMemcpyDefault));
  for (int i = 0; i < 100; i++)
    CHECK(back[i] == 2 * i);
  OK(cudaMemset(b + 10, 0xff, 4 * sizeof(int)));
  OK(cudaMemcpy(back, b, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(back[9] == 18 && back[10] == -1 && back[13] == -1 && back[14] == 28);
  OK(cudaMemcpy(back, host, sizeof host, cudaMemcpyHostToHost));
  CHECK(!memcmp(back, host, sizeof host));

  // One int too many, and a host address where the device's has to be.
  CHECK(cudaMemcpy(a, host, sizeof host + 4, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy(back, host, 4, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemset(back, 0, 4) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaGetLastError());
  OK(cudaFree(a));
  OK(cudaFree(b));
  OK(cudaFree(nullptr));
  CHECK(cudaFree(a) == cudaErrorInvalidValue);
  CHECK(cudaFree(host) == cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

static void rows() {
  int *data, small[3][5], back[3][5];
  size_t pitch;
  OK(cudaMallocPitch(&data, &pitch, 5 * sizeof(int), 3));
  CHECK(pitch >= 5 * sizeof(int) && pitch % 512 == 0);
  for (int i = 0; i < 15; i++)
    small[i / 5][i % 5] = i;
  OK(cudaMemset2D(data, pitch, 0, 5 * sizeof(int), 3));
  OK(cudaMemcpy2D(data, pitch, small, sizeof small[0], 4 * sizeof(int), 3,
                  cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(back, sizeof back[0], data, pitch, 5 * sizeof(int), 3,
                  cudaMemcpyDeviceToHost));
  for (int i = 0; i < 15; i++)
    CHECK(back[i / 5][i % 5] == (i % 5 == 4 ? 0 : i));
  OK(cudaFree(data));
}

static void symbols() {
  int *out, back[9], other[2] = {50, 60};
  OK(cudaMalloc(&out, sizeof back));
  addTable<<<1, 8>>>(out);
  OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(back[0] == 11 && back[1] == 12 && back[2] == 13 && back[3] == 10);
  CHECK(back[8] == 3);
  float three = 3;
  OK(cudaMemcpyToSymbol(factor, &three, sizeof three));
  OK(cudaMemcpyToSymbol(table, other, sizeof other, 2 * sizeof(int)));
  addTable<<<1, 8>>>(out);
  OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(back[0] == 14 && back[2] == 63 && back[3] == 73 && back[8] == 50);
  OK(cudaMemcpyFromSymbol(back, table, sizeof other, sizeof(int)));
  CHECK(back[0] == 2 && back[1] == 50);
  CHECK(cudaMemcpyToSymbol(table, back, 9 * sizeof(int)) ==
        cudaErrorInvalidValue);
  void *address;
  size_t size;
  OK(cudaGetSymbolAddress(&address, table));
  OK(cudaGetSymbolSize(&size, table));
  CHECK(size == sizeof(int) * 8);
  OK(cudaMemset(address, 0, size));
  OK(cudaMemcpyFromSymbol(back, table, size));
  CHECK(back[0] == 0 && back[7] == 0);
  CHECK(cudaGetSymbolSize(&size, &three) == cudaErrorInvalidSymbol);
  (void)cudaGetLastError();
  OK(cudaFree(out));
}

static void hostMemory() {
  int *managed, *locked;
  OK(cudaMallocManaged(&managed, 64 * sizeof(int)));
  OK(cudaHostAlloc(&locked, 64 * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < 64; i++)
    managed[i] = locked[i] = i;
  int *seen;
  OK(cudaHostGetDevicePointer(&seen, locked, 0));
  twice<<<1, 64>>>(managed, 64);
  twice<<<1, 64>>>(seen, 64);
  // Nothing has run yet, since nobody has waited.
  CHECK(managed[5] == 5 && locked[5] == 5);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++)
    CHECK(managed[i] == 2 * i && locked[i] == 2 * i);
  OK(cudaFree(managed));
  OK(cudaFreeHost(locked));
}

// A copy of page-locked memory takes what is there when its turn comes, one of
// other memory what is there now.
static void asynchronous() {
  cudaStream_t stream;
  int *locked, *device, plain = 3, back;
  OK(cudaStreamCreate(&stream));
  OK(cudaMallocHost(&locked, sizeof(int)));
  OK(cudaMallocAsync(&device, sizeof(int), stream));
  OK(cudaMemcpyAsync(device, &plain, sizeof(int), cudaMemcpyHostToDevice,
                     stream));
  plain = 4;
  twice<<<1, 1, 0, stream>>>(device, 1);
  OK(cudaMemcpyAsync(&back, device, sizeof(int), cudaMemcpyDeviceToHost,
                     stream));
  CHECK(back == 6);
  *locked = 10;
  OK(cudaMemcpyAsync(device, locked, sizeof(int), cudaMemcpyHostToDevice,
                     stream));
  OK(cudaStreamSynchronize(stream));
  *locked = 11;
  OK(cudaMemcpy(&back, device, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(back == 10);
  OK(cudaFreeAsync(device, stream));
  OK(cudaStreamDestroy(stream));
  OK(cudaDeviceSynchronize());
  size_t before, after, total;
  OK(cudaFreeHost(locked));
  OK(cudaMemGetInfo(&before, &total));
  OK(cudaMalloc(&device, 1 << 20));
  OK(cudaMemGetInfo(&after, &total));
  CHECK(before - after == 1 << 20 && before <= total);
  CHECK(cudaMalloc(&device, total) == cudaErrorMemoryAllocation);
}

int main() {
  copies();
  rows();
  symbols();
  hostMemory();
  asynchronous();
  return 0;
}
