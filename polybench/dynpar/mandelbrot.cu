// mandelbrot: Mariani-Silver. A block per square looks at the square's border.
// If all of it escapes after the same number of steps, a child fills the
// square; if it is small, a child computes each pixel; else a child grid looks
// at 4 x 4 parts. Three children, grids of two dimensions, recursion.
// Numbers are 28-bit fixed-point, so that the results are exact.
#include "dynpar.h"

constexpr int mostSteps = 256;
constexpr int one = 1 << 28;

__host__ __device__ inline int stepsOf(int px, int py, int size) {
  long long cx = -2ll * one + 3ll * one * px / size;
  long long cy = -3ll * one / 2 + 3ll * one * py / size;
  long long x = 0, y = 0;
  for (int i = 0; i < mostSteps; ++i) {
    long long xx = x * x / one, yy = y * y / one;
    if (xx + yy > 4ll * one)
      return i;
    y = 2 * x * y / one + cy;
    x = xx - yy + cx;
  }
  return mostSteps;
}

__global__ void fill(int *image, int size, int x0, int y0, int width,
                     int steps) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < width)
    image[(y0 + y) * size + x0 + x] = steps;
}

__global__ void pixels(int *image, int size, int x0, int y0, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < width)
    image[(y0 + y) * size + x0 + x] = stepsOf(x0 + x, y0 + y, size);
}

#ifdef DYNPAR_FLAT
static void draw(int *image, int size) {
  dim3 grid((size + 15) / 16, (size + 15) / 16), block(16, 16);
  pixels<<<grid, block>>>(image, size, 0, 0, size);
}
#else
constexpr int parts = 4;
constexpr int small = 16;

__global__ void look(int *image, int size, int x0, int y0, int width) {
  __shared__ int least, most;
  x0 += blockIdx.x * width;
  y0 += blockIdx.y * width;
  if (threadIdx.x == 0) {
    least = mostSteps;
    most = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    int end = width - 1;
    int border[4] = {stepsOf(x0 + i, y0, size), stepsOf(x0 + i, y0 + end, size),
                     stepsOf(x0, y0 + i, size),
                     stepsOf(x0 + end, y0 + i, size)};
    for (int steps : border) {
      atomicMin(&least, steps);
      atomicMax(&most, steps);
    }
  }
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  dim3 block(16, 8), grid((width + 15) / 16, (width + 7) / 8);
  if (least == most)
    fill<<<grid, block>>>(image, size, x0, y0, width, least);
  else if (width / parts < small)
    pixels<<<grid, block>>>(image, size, x0, y0, width);
  else
    look<<<dim3(parts, parts), 64>>>(image, size, x0, y0, width / parts);
}

static void draw(int *image, int size) {
  int squares = size >= 512 ? 8 : 1;
  look<<<dim3(squares, squares), 64>>>(image, size, 0, 0, size / squares);
}
#endif

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 2048);
  int size = options.size;
  if (size & (size - 1) || size < 16) {
    fprintf(stderr, "mandelbrot: --size is a power of two, 16 or more\n");
    return 2;
  }
  std::vector<int> expected(size_t(size) * size);
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x)
      expected[size_t(y) * size + x] = stepsOf(x, y, size);
  DeviceArray<int> image(expected.size());
  // A square whose border has one value may, at this resolution, hide a few
  // pixels of another: the method's own error, far below one in a thousand.
  auto check = [&] {
    std::vector<int> got = image.get();
    size_t other = 0;
    for (size_t i = 0; i < got.size(); ++i)
      other += got[i] != expected[i];
    return other * 1000 <= got.size();
  };
  return measure(
      "mandelbrot", options, [&] { image.clear(); },
      [&] {
        draw(image, size);
        CUDA_CHECK(cudaGetLastError());
      },
      check);
}
