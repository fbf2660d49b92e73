// mst: weight of a minimum spanning forest, by Boruvka's rounds. Every vertex
// launches one child thread per neighbour to find the lightest edge that leaves
// its tree; then trees are joined along these edges.
#include "dynpar.h"

#include <numeric>

using Key = unsigned long long;

constexpr Key none = ~Key(0);
constexpr int endBits = 25;

// Edges are ordered by weight, and those of one weight by their ends: so no two
// are equal, and the trees' choices make no cycle.
__host__ __device__ inline Key keyOf(int a, int b, int weight) {
  Key low = a < b ? a : b, high = a < b ? b : a;
  return (Key(weight) << endBits | low) << endBits | high;
}

__device__ void offer(int from, int to, int weight, const int *tree,
                      Key *lightest) {
  if (tree[from] == tree[to])
    return;
  Key key = keyOf(from, to, weight);
  if (key < lightest[tree[from]])
    atomicMin(lightest + tree[from], key);
}

__global__ void offerAll(const int *neighbour, const int *weight, int count,
                         int from, const int *tree, Key *lightest) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    offer(from, neighbour[i], weight[i], tree, lightest);
}

__global__ void choose(const int *row, const int *edge, const int *weight,
                       int vertices, const int *tree, Key *lightest) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices)
    return;
#ifdef DYNPAR_FLAT
  for (int e = row[v]; e < row[v + 1]; ++e)
    offer(v, edge[e], weight[e], tree, lightest);
#else
  int from = row[v], count = row[v + 1] - from;
  if (count > 0)
    offerAll<<<(count + 63) / 64, 64>>>(edge + from, weight + from, count, v,
                                        tree, lightest);
#endif
}

// Hangs each tree on the one that its lightest edge leads to. Of two that chose
// the same edge, the one with the smaller number stays.
__global__ void join(int vertices, const int *tree, const Key *lightest,
                     int *parent, unsigned long long *total, int *joined) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= vertices || lightest[t] == none)
    return;
  Key key = lightest[t], mask = (Key(1) << endBits) - 1;
  int a = tree[key & mask], b = tree[key >> endBits & mask];
  int other = a == t ? b : a;
  if (lightest[other] == key && t < other)
    return;
  parent[t] = other;
  atomicAdd(total, key >> (2 * endBits));
  *joined = 1;
}

__global__ void flatten(int vertices, const int *parent, int *tree) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices)
    return;
  int t = tree[v];
  while (parent[t] != t)
    t = parent[t];
  tree[v] = t;
}

// Kruskal's algorithm.
static unsigned long long reference(const Graph &graph) {
  std::vector<int> root(graph.vertices());
  std::iota(root.begin(), root.end(), 0);
  auto find = [&](int v) {
    while (root[v] != v)
      v = root[v] = root[root[v]];
    return v;
  };
  std::vector<Key> keys;
  for (int v = 0; v < graph.vertices(); ++v)
    for (int e = graph.row[v]; e < graph.row[v + 1]; ++e)
      if (v < graph.edge[e])
        keys.push_back(keyOf(v, graph.edge[e], graph.weight[e]));
  std::sort(keys.begin(), keys.end());
  unsigned long long total = 0;
  for (Key key : keys) {
    Key mask = (Key(1) << endBits) - 1;
    int a = find(key & mask), b = find(key >> endBits & mask);
    if (a != b)
      total += key >> (2 * endBits);
    root[a] = b;
  }
  return total;
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 16, "rmat");
  Graph graph = makeGraph(options.graph, options.size);
  int n = graph.vertices(), blocks = (n + 255) / 256;
  unsigned long long expected = reference(graph);
  std::vector<int> single(n);
  std::iota(single.begin(), single.end(), 0);
  DeviceArray<int> row(graph.row), edge(graph.edge), weight(graph.weight);
  DeviceArray<int> tree(n), parent(n), joined(1);
  DeviceArray<Key> lightest(n);
  DeviceArray<unsigned long long> total(1);
  return measure(
      "mst", options,
      [&] {
        tree.set(single);
        parent.set(single);
        total.clear();
      },
      [&] {
        do {
          joined.clear();
          CUDA_CHECK(cudaMemset(lightest, 0xff, n * sizeof(Key)));
          choose<<<blocks, 256>>>(row, edge, weight, n, tree, lightest);
          join<<<blocks, 256>>>(n, tree, lightest, parent, total, joined);
          flatten<<<blocks, 256>>>(n, parent, tree);
          CUDA_CHECK(cudaGetLastError());
        } while (joined.get()[0]);
      },
      [&] { return total.get()[0] == expected; });
}
