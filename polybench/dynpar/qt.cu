// qt: quadtree. A block sorts the points of a square into four quadrants, and
// one thread launches a grid of four blocks for those. A leaf adds its path
// and points to a checksum. Recursive, to the depth that the points need.
#include "dynpar.h"

constexpr int leafPoints = 32;
constexpr int mostDepth = 12;
constexpr int extent = 1 << 16;

struct Square {
  int x, y, size, depth;
};

__host__ __device__ inline unsigned long long
leafSum(const Square &s, unsigned long long points) {
  unsigned long long h = points + 0x9e3779b97f4a7c15ull * (s.depth + 1);
  h ^= (static_cast<unsigned long long>(s.x) << 32 | unsigned(s.y)) * 31;
  return h * 0xbf58476d1ce4e5b9ull;
}

__host__ __device__ inline int quadrant(const Square &s, int2 p) {
  return (p.x >= s.x + s.size / 2) + 2 * (p.y >= s.y + s.size / 2);
}

__host__ __device__ inline unsigned long long pointSum(int2 p) {
  return (static_cast<unsigned long long>(p.x) << 20 ^ unsigned(p.y)) *
         0x2545f4914f6cdd1dull;
}

__host__ __device__ inline Square quarter(const Square &s, int q) {
  return {s.x + (q & 1) * (s.size / 2), s.y + (q >> 1) * (s.size / 2),
          s.size / 2, s.depth + 1};
}

#ifndef DYNPAR_FLAT
// begin[0..4]: where the points of this grid's four squares stand in `from`.
struct Ranges {
  int begin[5];
};

__global__ void build(Square parent, Ranges ranges, int2 *from, int2 *to,
                      unsigned long long *sum) {
  __shared__ int count[4], place[4];
  __shared__ unsigned long long points;
  // The root's grid has one block, whose square is the parent itself.
  bool root = gridDim.x == 1;
  Square square = root ? parent : quarter(parent, blockIdx.x);
  int begin = ranges.begin[blockIdx.x], end = ranges.begin[blockIdx.x + 1];
  if (threadIdx.x < 4)
    count[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    points = 0;
  __syncthreads();
  if (end - begin <= leafPoints || square.depth == mostDepth) {
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
      atomicAdd(&points, pointSum(from[i]));
    __syncthreads();
    if (threadIdx.x == 0 && end > begin)
      atomicAdd(sum, leafSum(square, points));
    return;
  }
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
    atomicAdd(&count[quadrant(square, from[i])], 1);
  __syncthreads();
  Ranges next;
  next.begin[0] = begin;
  for (int q = 0; q < 4; ++q)
    next.begin[q + 1] = next.begin[q] + count[q];
  if (threadIdx.x < 4)
    place[threadIdx.x] = next.begin[threadIdx.x];
  __syncthreads();
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
    to[atomicAdd(&place[quadrant(square, from[i])], 1)] = from[i];
  __syncthreads();
  if (threadIdx.x == 0)
    build<<<4, 64>>>(square, next, to, from, sum);
}
#else
// Without recursion: a grid per depth, and lists of squares in between.
struct Node {
  Square square;
  int begin, end;
};

__global__ void buildLevel(const Node *nodes, int2 *from, int2 *to, Node *next,
                           int *nextCount, unsigned long long *sum) {
  __shared__ int count[4], place[4], slot;
  __shared__ unsigned long long points;
  Node node = nodes[blockIdx.x];
  if (threadIdx.x < 4)
    count[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    points = 0;
  __syncthreads();
  if (node.end - node.begin <= leafPoints || node.square.depth == mostDepth) {
    for (int i = node.begin + threadIdx.x; i < node.end; i += blockDim.x)
      atomicAdd(&points, pointSum(from[i]));
    __syncthreads();
    if (threadIdx.x == 0 && node.end > node.begin)
      atomicAdd(sum, leafSum(node.square, points));
    return;
  }
  for (int i = node.begin + threadIdx.x; i < node.end; i += blockDim.x)
    atomicAdd(&count[quadrant(node.square, from[i])], 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    slot = atomicAdd(nextCount, 4);
    int begin = node.begin;
    for (int q = 0; q < 4; ++q) {
      place[q] = begin;
      next[slot + q] = {quarter(node.square, q), begin, begin + count[q]};
      begin += count[q];
    }
  }
  __syncthreads();
  for (int i = node.begin + threadIdx.x; i < node.end; i += blockDim.x)
    to[atomicAdd(&place[quadrant(node.square, from[i])], 1)] = from[i];
}
#endif

static unsigned long long reference(const Square &s, std::vector<int2> points) {
  if (points.size() <= leafPoints || s.depth == mostDepth) {
    unsigned long long sum = 0;
    for (int2 p : points)
      sum += pointSum(p);
    return points.empty() ? 0 : leafSum(s, sum);
  }
  std::vector<int2> part[4];
  for (int2 p : points)
    part[quadrant(s, p)].push_back(p);
  unsigned long long sum = 0;
  for (int q = 0; q < 4; ++q)
    sum += reference(quarter(s, q), std::move(part[q]));
  return sum;
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 18);
  int n = options.size;
  Random random(11);
  std::vector<int2> input(n);
  for (int2 &p : input) {
    // Half of the points crowd round a few places.
    bool crowd = random.below(2);
    int at = static_cast<int>(random.below(5)) * 13000 + 3000;
    int spread = crowd ? 2000 : extent;
    p.x = (crowd ? at : 0) + static_cast<int>(random.below(spread));
    p.y = (crowd ? at / 2 : 0) + static_cast<int>(random.below(spread));
  }
  Square whole = {0, 0, extent, 0};
  unsigned long long expected = reference(whole, input);
  DeviceArray<int2> a(n), b(n);
  DeviceArray<unsigned long long> sum(1);
#ifndef DYNPAR_FLAT
  auto run = [&] {
    Ranges all = {{0, n, n, n, n}};
    build<<<1, 64>>>(whole, all, a, b, sum);
    CUDA_CHECK(cudaGetLastError());
  };
#else
  // An inner square has more than leafPoints points.
  size_t most = 4 * (size_t(n) / leafPoints + 1);
  DeviceArray<Node> now(most), then(most);
  DeviceArray<int> count(1);
  auto run = [&] {
    Node *nodes = now, *next = then;
    int2 *from = a, *to = b;
    Node root = {whole, 0, n};
    CUDA_CHECK(cudaMemcpy(nodes, &root, sizeof root, cudaMemcpyHostToDevice));
    for (int squares = 1; squares;) {
      count.clear();
      buildLevel<<<squares, 64>>>(nodes, from, to, next, count, sum);
      CUDA_CHECK(cudaGetLastError());
      squares = count.get()[0];
      std::swap(nodes, next);
      std::swap(from, to);
    }
  };
#endif
  return measure(
      "qt", options,
      [&] {
        a.set(input);
        sum.clear();
      },
      run, [&] { return sum.get()[0] == expected; });
}
