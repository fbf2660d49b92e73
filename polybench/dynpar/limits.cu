// limits: what CUDA's device runtime does at its limits, and what a merged
// program makes of it. Every line is `limits,variant,what,value`.
#include "dynpar.h"

__global__ void count(unsigned *counter) { atomicAdd(counter, 1); }

// Each thread launches once and notes how many calls were refused.
__global__ void launchEach(unsigned *counter, unsigned *refused,
                           unsigned *error) {
  void *buffer = cudaGetParameterBuffer(64, sizeof counter);
  if (!buffer) {
    atomicAdd(refused, 1);
    return;
  }
  *static_cast<unsigned **>(buffer) = counter;
  cudaError_t e = cudaLaunchDevice(reinterpret_cast<void *>(count), buffer,
                                   dim3(1), dim3(1), 0, 0);
  if (e != cudaSuccess) {
    atomicAdd(refused + 1, 1);
    *error = e;
  }
}

__global__ void launchPlainly(unsigned *counter) { count<<<1, 1>>>(counter); }

// A block that is too large for the card.
__global__ void launchTooLarge(unsigned *counter, unsigned *error) {
  void *buffer = cudaGetParameterBuffer(64, sizeof counter);
  if (!buffer)
    return;
  *static_cast<unsigned **>(buffer) = counter;
  *error = cudaLaunchDevice(reinterpret_cast<void *>(count), buffer, dim3(1),
                            dim3(1025), 0, 0);
}

// Needs more registers in 1,024 threads than there are.
__global__ void __launch_bounds__(256) registers(unsigned *counter) {
  unsigned a[64];
  for (unsigned i = 0; i < 64; ++i)
    a[i] = counter[0] * (i + threadIdx.x);
  for (unsigned k = 0; k < 100; ++k)
    for (unsigned i = 0; i < 64; ++i)
      a[i] = a[i] * 5 + a[(i + 1) % 64];
  unsigned sum = 0;
  for (unsigned i = 0; i < 64; ++i)
    sum += a[i];
  if (sum == 1)
    *counter = 7;
  atomicAdd(counter + 1, 1);
}
__global__ void launchRegisters(unsigned *counter, unsigned *error) {
  void *buffer = cudaGetParameterBuffer(64, sizeof counter);
  if (!buffer)
    return;
  *static_cast<unsigned **>(buffer) = counter;
  *error = cudaLaunchDevice(reinterpret_cast<void *>(registers), buffer,
                            dim3(1), dim3(1024), 0, 0);
}

// Whether %gridid tells grids apart: every block notes it.
__device__ unsigned long long gridNumber() {
  unsigned long long id;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(id));
  return id;
}
__global__ void noteGrid(unsigned long long *ids, unsigned depth) {
  unsigned long long id = gridNumber();
  if (blockIdx.x == 0 && threadIdx.x == 0)
    ids[0] = id;
  else if (id != ids[0] && ids[0] != 0)
    ids[1] = 1;
  if (depth && threadIdx.x < 2 && blockIdx.x == 0)
    noteGrid<<<4, 32>>>(ids + 2 * (threadIdx.x + 1) * (1 << (2 * depth)),
                        depth - 1);
}

static void print(const char *what, unsigned long long value) {
  printf("limits,%s,%s,%llu\n", DYNPAR_VARIANT, what, value);
  fflush(stdout);
}

int main(int argc, char **argv) {
  (void)parseOptions(argc, argv, 1);
  size_t pending;
  CUDA_CHECK(
      cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount));
  print("pending launch limit", pending);

  DeviceArray<unsigned> c(4);
  for (unsigned blocks : {1u, 4u, 100u, 1000u}) {
    c.clear();
    launchEach<<<blocks, 256>>>(c, c + 1, c + 3);
    cudaError_t e = cudaDeviceSynchronize();
    std::vector<unsigned> got = c.get();
    print("launched one by one", blocks * 256);
    print("  of these ran", got[0]);
    print("  no parameter buffer", got[1]);
    print("  refused", got[2]);
    print("  last refusal", got[3]);
    print("  host error", e);
    (void)cudaGetLastError();

    c.clear();
    launchPlainly<<<blocks, 256>>>(c);
    e = cudaDeviceSynchronize();
    got = c.get();
    print("launched by kernel<<<...>>>", blocks * 256);
    print("  of these ran", got[0]);
    print("  host error", e);
    (void)cudaGetLastError();
  }

  c.clear();
  launchTooLarge<<<1, 1>>>(c, c + 2);
  print("block too large: host error", cudaDeviceSynchronize());
  print("  returned", c.get()[2]);
  print("  ran", c.get()[0]);
  c.clear();
  launchRegisters<<<1, 1>>>(c, c + 2);
  print("too many registers: host error", cudaDeviceSynchronize());
  print("  returned", c.get()[2]);
  print("  ran", c.get()[1]);

  DeviceArray<unsigned long long> ids(4096);
  ids.clear();
  CUDA_CHECK(cudaDeviceSynchronize()); // these streams do not wait for that
  cudaStream_t s[4];
  for (unsigned i = 0; i < 4; ++i) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
    noteGrid<<<4, 32, 0, s[i]>>>(ids + 1024 * i, 3);
  }
  print("grid numbers: host error", cudaDeviceSynchronize());
  std::vector<unsigned long long> seen;
  std::vector<unsigned long long> all = ids.get();
  unsigned long long mixed = 0;
  for (size_t i = 0; i < all.size(); i += 2) {
    if (all[i])
      seen.push_back(all[i]);
    mixed += all[i + 1];
  }
  print("  grids", seen.size());
  std::sort(seen.begin(), seen.end());
  size_t distinct = std::unique(seen.begin(), seen.end()) - seen.begin();
  print("  distinct numbers", distinct);
  print("  grids with two numbers", mixed);
  print("  smallest", seen.empty() ? 0 : seen.front());
  print("  largest", seen.empty() ? 0 : seen[distinct - 1]);
  return 0;
}
