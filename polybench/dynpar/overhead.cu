// overhead: what merging costs programs that gain nothing from it. The kernels
// read some values per thread, and then:
//
//   none      no thread launches, though each of them could
//   barrier   the same in a kernel with a barrier
//   one       one thread of the grid launches
//   errors    a warp launches and asks for errors: these launches are left
//   alone streams   a warp launches twice into streams of its own: left alone,
//   too
//
// `graph` names the case. To be compared with plain-null, which has the same
// streams; that the launches have run is checked.
#include "dynpar.h"

constexpr int rounds = 20, values = 64, block = 256, children = 32;

__global__ void child(int *ran) { atomicAdd(ran, 1); }

__device__ static int sumOf(const int *in, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int k = 0; k < values; ++k)
    sum += in[(i + k * 4096) % size];
  return sum;
}

__global__ void mayLaunch(const int *in, const int *launches, int size,
                          int *out, int *ran) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = sumOf(in, size);
  if (launches[i])
    child<<<1, children>>>(ran);
}

__global__ void mayLaunchInStep(const int *in, const int *launches, int size,
                                int *out, int *ran) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = sumOf(in, size);
  __syncthreads();
  if (launches[i])
    child<<<1, children>>>(ran);
}

__global__ void asksForErrors(const int *in, const int *launches, int size,
                              int *out, int *ran) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = sumOf(in, size);
  if (launches[i]) {
    child<<<1, children>>>(ran);
    if (cudaGetLastError() != cudaSuccess)
      out[i] = 0;
  }
}

__global__ void hasStreams(const int *in, const int *launches, int size,
                           int *out, int *ran) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = sumOf(in, size);
  if (launches[i]) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    child<<<1, children, 0, stream>>>(ran);
    child<<<1, children, 0, stream>>>(ran);
    cudaStreamDestroy(stream);
  }
}

using Kernel = void (*)(const int *, const int *, int, int *, int *);

// The first `launching` threads launch `each` times.
static int measureCase(const Options &options, const char *name, Kernel kernel,
                       int launching, int each = 1) {
  int size = options.size;
  std::vector<int> values_in(size), flags(size, 0), expected(size, 0);
  for (int i = 0; i < size; ++i)
    values_in[i] = i % 1000;
  for (int i = 0; i < size; ++i)
    for (int k = 0; k < values; ++k)
      expected[i] += values_in[(i + k * 4096) % size];
  std::fill_n(flags.begin(), launching, 1);
  DeviceArray<int> in(values_in), launches(flags), out(size), ran(1);
  return measureAs(
      "overhead", DYNPAR_VARIANT, name, options, [&] { ran.clear(); },
      [&] {
        for (int round = 0; round < rounds; ++round)
          kernel<<<size / block, block>>>(in, launches, size, out, ran);
        CUDA_CHECK(cudaGetLastError());
      },
      [&] {
        return ran.get()[0] == rounds * launching * each * children &&
               out.get() == expected;
      });
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 20);
  options.size = (options.size + block - 1) / block * block;
  int wrong = measureCase(options, "none", mayLaunch, 0);
  wrong |= measureCase(options, "barrier", mayLaunchInStep, 0);
  wrong |= measureCase(options, "one", mayLaunch, 1);
  wrong |= measureCase(options, "errors", asksForErrors, 32);
  wrong |= measureCase(options, "streams", hasStreams, 32, 2);
  return wrong;
}
