/* probe.cu: reads the figures of a GPU that no table of the programming guide
 * has and that estimate.c uses: latencies, requests per clock, bandwidth from
 * L2, the cost of starting blocks. Prints name,value,unit as CSV.
 *
 *   nvcc -O3 -arch=sm_90 probe.cu -o probe && ./probe
 */
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t error = (call);                                                \
    if (error != cudaSuccess) {                                                \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorName(error));             \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

static cudaDeviceProp device;
static double clock_hz;

static void report(const char *name, double value, const char *unit) {
  printf("%s,%.6g,%s\n", name, value, unit);
}

template <typename Launch> static double seconds(Launch launch) {
  cudaEvent_t from, to;
  CHECK(cudaEventCreate(&from));
  CHECK(cudaEventCreate(&to));
  launch();
  double best = 1e9;
  for (int i = 0; i < 5; i++) {
    CHECK(cudaEventRecord(from));
    launch();
    CHECK(cudaEventRecord(to));
    CHECK(cudaEventSynchronize(to));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, from, to));
    best = ms * 1e-3 < best ? ms * 1e-3 : best;
  }
  CHECK(cudaGetLastError());
  CHECK(cudaEventDestroy(from));
  CHECK(cudaEventDestroy(to));
  return best;
}

/*===-- Latency ----------------------------------------------------------===*/

__global__ void chase(const unsigned *next, int steps, long long *cycles,
                      unsigned *end) {
  unsigned at = 0;
  for (int i = 0; i < steps; i++)
    at = next[at];
  long long start = clock64();
  for (int i = 0; i < steps; i++)
    at = next[at];
  *cycles = clock64() - start;
  *end = at;
}

/* A random cycle through one word per `spacing` bytes. */
static double latency(size_t bytes, size_t spacing, int steps) {
  size_t n = bytes / spacing, unit = spacing / sizeof(unsigned);
  std::vector<unsigned> order(n), next(n * unit);
  for (size_t i = 0; i < n; i++)
    order[i] = (unsigned)i;
  for (size_t i = n - 1; i > 0; i--)
    std::swap(order[i], order[(size_t)rand() % (i + 1)]);
  for (size_t i = 0; i < n; i++)
    next[order[i] * unit] = (unsigned)(order[(i + 1) % n] * unit);
  unsigned *table, *end;
  long long *cycles, result;
  CHECK(cudaMalloc(&table, next.size() * sizeof(unsigned)));
  CHECK(cudaMalloc(&end, sizeof *end));
  CHECK(cudaMalloc(&cycles, sizeof *cycles));
  CHECK(cudaMemcpy(table, next.data(), next.size() * sizeof(unsigned),
                   cudaMemcpyHostToDevice));
  chase<<<1, 1>>>(table, steps, cycles, end);
  CHECK(cudaMemcpy(&result, cycles, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(table));
  CHECK(cudaFree(end));
  CHECK(cudaFree(cycles));
  return (double)result / steps;
}

template <typename T>
__global__ void chain(T a, T b, int steps, long long *cycles, T *end) {
  T x = a;
  long long start = clock64();
  for (int i = 0; i < steps; i++) {
#pragma unroll
    for (int u = 0; u < 16; u++)
      x = x * a + b;
  }
  *cycles = clock64() - start;
  *end = x;
}

template <typename T> static double chain_latency() {
  long long *cycles, result;
  T *end;
  CHECK(cudaMalloc(&end, sizeof *end));
  CHECK(cudaMalloc(&cycles, sizeof *cycles));
  for (int i = 0; i < 2; i++)
    chain<T><<<1, 1>>>((T)1.0001, (T)0.1, 100, cycles, end);
  CHECK(cudaMemcpy(&result, cycles, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(end));
  CHECK(cudaFree(cycles));
  return result / 1600.0;
}

/*===-- Requests through L1 ----------------------------------------------===*/

/* Lanes `stride` doubles apart in a table of 8,192 doubles that L1 holds. */
__global__ void requests(const double *table, int stride, int steps,
                         double *end) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned at = (lane * stride + warp * 4) % 8192;
  double sum = 0;
#pragma unroll 8
  for (int i = 0; i < steps; i++) {
    sum += table[at];
    at = (at + 4) % 8192;
  }
  if (sum == 12345)
    *end = sum;
}

__global__ void stores(double *table, int stride, int steps) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned at =
      (lane * stride + warp * 4) % 8192 + blockIdx.x * 8192;
  for (int i = 0; i < steps; i++)
    table[at ^ (i * 4 & 1023)] = i;
}

/*===-- Bandwidth --------------------------------------------------------===*/

__global__ void sum_all(const double2 *data, size_t n, int repeats,
                        double *end) {
  double sum = 0;
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (int r = 0; r < repeats; r++)
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += step) {
      double2 v = __ldcg(&data[i]);
      sum += v.x + v.y;
    }
  if (sum == 12345)
    *end = sum;
}

__global__ void copy_all(const double2 *from, double2 *to, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = from[i];
}

__global__ void nothing(int n, int *end) {
  if (n < 0)
    *end = n;
}

/*===-- Row walk ---------------------------------------------------------===*/

__global__ void rows(const double *a, const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double sum = 0;
  for (int j = 0; j < n; j++)
    sum += a[(size_t)i * n + j] * x[j];
  y[i] = sum;
}

int main(void) {
  CHECK(cudaGetDeviceProperties(&device, 0));
  int khz;
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  clock_hz = khz * 1e3;
  printf("name,value,unit\n");
  report("sm_count", device.multiProcessorCount, "SMs");
  report("clock", clock_hz, "Hz");
  report("l2", device.l2CacheSize, "bytes");

  report("latency_l1", latency(64 << 10, 128, 4096), "cycles");
  report("latency_l2", latency(8 << 20, 128, 65536), "cycles");
  report("latency_dram", latency((size_t)2 << 30, 4096, 65536), "cycles");
  report("latency_fp64", chain_latency<double>(), "cycles");
  report("latency_fp32", chain_latency<float>(), "cycles");

  int sms = device.multiProcessorCount;
  double *data, *end;
  size_t big = (size_t)2 << 30;
  CHECK(cudaMalloc(&data, 2 * big));
  CHECK(cudaMalloc(&end, sizeof *end));
  CHECK(cudaMemset(data, 0, 2 * big));
  /* Clocks rise under load. */
  for (int i = 0; i < 200; i++)
    copy_all<<<(unsigned)(big / 16 / 256), 256>>>(
        (double2 *)data, (double2 *)(data + big / 8), big / 16);
  CHECK(cudaDeviceSynchronize());

  static const int strides[] = {0, 1, 2, 4, 8, 16, 17, 32, 33, 256, 260};
  for (int stride : strides) {
    int steps = 4096;
    double t = seconds([&] {
      requests<<<sms, 1024>>>(data, stride, steps, end);
    });
    char name[64];
    snprintf(name, sizeof name, "l1_load_stride_%d", stride * 8);
    report(name, t * clock_hz / (32.0 * steps), "cycles/request");
  }
  for (int stride : strides) {
    int steps = 1024;
    double t = seconds([&] { stores<<<sms, 1024>>>(data, stride, steps); });
    char name[64];
    snprintf(name, sizeof name, "store_stride_%d", stride * 8);
    report(name, t * clock_hz / (32.0 * steps), "cycles/request");
  }

  size_t small = 16 << 20;
  double t = seconds([&] {
    sum_all<<<sms * 2, 1024>>>((double2 *)data, small / 16, 20, end);
  });
  report("l2_bandwidth", 20.0 * small / t, "bytes/s");
  t = seconds([&] {
    sum_all<<<1, 1024>>>((double2 *)data, small / 16, 1, end);
  });
  report("l2_bandwidth_one_sm", small / t / clock_hz, "bytes/cycle");
  t = seconds([&] {
    copy_all<<<(unsigned)(big / 16 / 256), 256>>>(
        (double2 *)data, (double2 *)(data + big / 8), big / 16);
  });
  report("dram_bandwidth", 2 * big / t, "bytes/s");

  for (int threads = 32; threads <= 1024; threads *= 2) {
    unsigned blocks = 1 << 20;
    t = seconds([&] { nothing<<<blocks, threads>>>(1, (int *)end); });
    char name[64];
    snprintf(name, sizeof name, "block_start_%d", threads);
    report(name, t * clock_hz * sms / blocks, "cycles/block/SM");
  }
  t = seconds([&] {
    for (int i = 0; i < 100; i++)
      nothing<<<1, 32>>>(1, (int *)end);
  });
  report("launch", t / 100, "s");

  for (int n = 1000; n <= 4000; n *= 2)
    for (int threads = 32; threads <= 1024; threads *= 2) {
      t = seconds([&] {
        rows<<<(n + threads - 1) / threads, threads>>>(
            data, data + big / 8, data + big / 4 - 8192, n);
      });
      char name[64];
      snprintf(name, sizeof name, "rows_%d_block_%d", n, threads);
      report(name, t * clock_hz / n, "cycles/iteration");
    }
  return 0;
}
