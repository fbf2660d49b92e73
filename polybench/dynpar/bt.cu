// bt: tessellation of quadratic Bezier curves. A thread per curve finds how
// many points its bend needs and launches one child thread per point.
// Coordinates are fixed-point numbers, so that the results are exact.
#include "dynpar.h"

struct Curve {
  int2 p[3];
};

constexpr int mostPoints = 64;

__host__ __device__ inline int pointsOf(const Curve &c) {
  // The middle control point's distance from the chord's middle.
  long long dx = 2ll * c.p[1].x - c.p[0].x - c.p[2].x;
  long long dy = 2ll * c.p[1].y - c.p[0].y - c.p[2].y;
  long long bend = (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
  long long points = 2 + bend / 4096;
  return points < mostPoints ? static_cast<int>(points) : mostPoints;
}

__host__ __device__ inline int2 pointOf(const Curve &c, int i, int points) {
  long long t = 65536ll * i / (points - 1), s = 65536 - t;
  int2 result;
  result.x = (s * s / 65536 * c.p[0].x + 2 * s * t / 65536 * c.p[1].x +
              t * t / 65536 * c.p[2].x) / 65536;
  result.y = (s * s / 65536 * c.p[0].y + 2 * s * t / 65536 * c.p[1].y +
              t * t / 65536 * c.p[2].y) / 65536;
  return result;
}

__global__ void points(Curve curve, int count, int2 *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = pointOf(curve, i, count);
}

__global__ void tessellate(const Curve *curves, int count, int2 *out,
                           int *counts) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= count)
    return;
  Curve curve = curves[c];
  int n = pointsOf(curve);
  counts[c] = n;
#ifdef DYNPAR_FLAT
  for (int i = 0; i < n; ++i)
    out[c * mostPoints + i] = pointOf(curve, i, n);
#else
  points<<<(n + 31) / 32, 32>>>(curve, n, out + c * mostPoints);
#endif
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 15);
  int n = options.size;
  Random random(3);
  std::vector<Curve> input(n);
  for (Curve &c : input) {
    // Many flat curves, few that bend much.
    uint32_t size = random.below(16) ? 4000 : 200000;
    for (int2 &p : c.p)
      p = {static_cast<int>(random.below(size)),
           static_cast<int>(random.below(size))};
  }
  DeviceArray<Curve> curves(input);
  DeviceArray<int2> out(size_t(n) * mostPoints);
  DeviceArray<int> counts(n);
  auto check = [&] {
    std::vector<int2> got = out.get();
    std::vector<int> gotCounts = counts.get();
    for (int c = 0; c < n; ++c) {
      int count = pointsOf(input[c]);
      if (gotCounts[c] != count)
        return false;
      for (int i = 0; i < mostPoints; ++i) {
        int2 p = {0, 0};
        if (i < count)
          p = pointOf(input[c], i, count);
        int2 q = got[size_t(c) * mostPoints + i];
        if (p.x != q.x || p.y != q.y)
          return false;
      }
    }
    return true;
  };
  return measure(
      "bt", options,
      [&] {
        out.clear();
        counts.clear();
      },
      [&] {
        tessellate<<<(n + 63) / 64, 64>>>(curves, n, out, counts);
        CUDA_CHECK(cudaGetLastError());
      },
      check);
}
