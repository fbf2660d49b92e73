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
#include <initializer_list>

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

// A block copies `each` elements per thread; all loads come before the stores.
template <int each>
__global__ void copy(const double2 *from, double2 *to, size_t count) {
  size_t first = size_t(blockIdx.x) * blockDim.x * each + threadIdx.x;
  double2 element[each];
#pragma unroll
  for (int e = 0; e < each; e++)
    if (first + size_t(e) * blockDim.x < count)
      element[e] = from[first + size_t(e) * blockDim.x];
#pragma unroll
  for (int e = 0; e < each; e++)
    if (first + size_t(e) * blockDim.x < count)
      to[first + size_t(e) * blockDim.x] = element[e];
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

struct timing {
  float ms[runs];

  float sum() const {
    float total = 0;
    for (float one : ms)
      total += one;
    return total;
  }
};

template <class Launch> timing measure(const char *name, Launch launch) {
  timing result;
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "events");
  check(cudaEventCreate(&end), "events");
  for (int run = -1; run < runs; run++) {
    check(cudaEventRecord(begin), "events");
    launch();
    check(cudaGetLastError(), name);
    check(cudaEventRecord(end), "events");
    check(cudaEventSynchronize(end), name);
    float ms;
    check(cudaEventElapsedTime(&ms, begin, end), "events");
    if (run >= 0)
      result.ms[run] = ms;
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return result;
}

void print(const char *name, const char *type, double operations, double bytes,
           const timing &times) {
  printf("%s %s %.0f %.0f", name, type, operations, bytes);
  for (float ms : times.ms)
    printf(" %.9f", ms * 1e-3);
  printf("\n");
}

template <int each> timing measure_copy(const void *from, void *to) {
  constexpr int threads = 256;
  constexpr size_t count = copy_bytes / sizeof(double2);
  return measure("copy", [&] {
    copy<each><<<unsigned((count + threads * each - 1) / (threads * each)),
                 threads>>>(static_cast<const double2 *>(from),
                            static_cast<double2 *>(to), count);
  });
}

template <class T>
void measure_fma(const char *type, int blocks, void *memory) {
  constexpr int threads = 256;
  print("fma", type, 2.0 * blocks * threads * chains * rounds, 0,
        measure("fma", [&] {
          fma_chains<T><<<blocks, threads>>>(T(0.5), static_cast<T *>(memory));
        }));
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

  // Which copy is the fastest depends on the device.
  timing best = measure_copy<1>(from, to);
  for (const timing &other : {measure_copy<2>(from, to),
                              measure_copy<4>(from, to), measure("copy", [&] {
                                cudaMemcpyAsync(to, from, copy_bytes,
                                                cudaMemcpyDeviceToDevice);
                              })})
    if (other.sum() < best.sum())
      best = other;
  print("copy", "double", 0, 2.0 * copy_bytes, best);

  int blocks = processors * 32;
  measure_fma<double>("double", blocks, to);
  measure_fma<float>("float", blocks, to);
  cudaFree(from);
  cudaFree(to);
  return 0;
}
