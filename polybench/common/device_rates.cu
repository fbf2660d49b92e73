/* device_rates.cu: what a GPU can do at best, for rooflines: the bandwidth of
 * a copy in device memory, and the rates of fused multiplications and
 * additions in double and in float.
 *
 * Prints a line for each: name, type, operations, bytes, and the seconds of
 * each of 10 runs after a first one that does not count. Exit status 1 and a
 * message if there is no device.
 */
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

namespace {

constexpr int runs = 10;
constexpr int chains = 8;
constexpr int rounds = 4096;
constexpr size_t copy_bytes = size_t(1) << 30;

void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess)
    return;
  fprintf(stderr, "device_rates: %s: %s\n", what, cudaGetErrorString(status));
  exit(1);
}

__global__ void copy(const double2 *from, double2 *to, size_t count) {
  size_t stride = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    to[i] = from[i];
}

// Independent chains hide the latency of each. The result is stored only if it
// has a value that it never has, which the compiler cannot know.
template <class T> __global__ void fma_chains(T factor, T *out) {
  T value[chains];
  for (int c = 0; c < chains; c++)
    value[c] = T(threadIdx.x + c);
  for (int r = 0; r < rounds; r++)
#pragma unroll
    for (int c = 0; c < chains; c++)
      value[c] = value[c] * factor + T(1);
  T sum = 0;
  for (int c = 0; c < chains; c++)
    sum += value[c];
  if (sum == T(-1))
    *out = sum;
}

template <class Launch>
void measure(const char *name, const char *type, double operations,
             double bytes, Launch launch) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "events");
  check(cudaEventCreate(&end), "events");
  printf("%s %s %.0f %.0f", name, type, operations, bytes);
  for (int run = 0; run <= runs; run++) {
    float milliseconds;
    check(cudaEventRecord(begin), "events");
    launch();
    check(cudaGetLastError(), name);
    check(cudaEventRecord(end), "events");
    check(cudaEventSynchronize(end), name);
    check(cudaEventElapsedTime(&milliseconds, begin, end), "events");
    if (run > 0)
      printf(" %.9f", milliseconds * 1e-3);
  }
  printf("\n");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

template <class T>
void measure_fma(const char *type, int blocks, void *memory) {
  constexpr int threads = 256;
  measure("fma", type, 2.0 * blocks * threads * chains * rounds, 0, [&] {
    fma_chains<T><<<blocks, threads>>>(T(0.5), static_cast<T *>(memory));
  });
}

} // namespace

int main() {
  int device = 0, processors = 0;
  check(cudaGetDevice(&device), "no device");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                               device),
        "no device");
  void *from = nullptr, *to = nullptr;
  check(cudaMalloc(&from, copy_bytes), "memory");
  check(cudaMalloc(&to, copy_bytes), "memory");
  check(cudaMemset(from, 0, copy_bytes), "memory");

  int blocks = processors * 32;
  measure("copy", "double", 0, 2.0 * copy_bytes, [&] {
    copy<<<blocks, 512>>>(static_cast<double2 *>(from),
                          static_cast<double2 *>(to),
                          copy_bytes / sizeof(double2));
  });
  measure_fma<double>("double", blocks, to);
  measure_fma<float>("float", blocks, to);
  cudaFree(from);
  cudaFree(to);
  return 0;
}
