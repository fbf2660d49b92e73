// ccl: connected components of a graph; the label of each is its smallest
// vertex. Every vertex launches one child thread per neighbour, which hangs the
// larger of two labels on the smaller; then labels are followed to their ends.
#include "dynpar.h"

#include <numeric>

__device__ void hook(int a, int b, int *label, int *changed) {
  int x = label[a], y = label[b];
  if (x == y)
    return;
  atomicMin(label + max(x, y), min(x, y));
  *changed = 1;
}

__global__ void hookAll(const int *neighbour, int count, int v, int *label,
                        int *changed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    hook(v, neighbour[i], label, changed);
}

__global__ void merge(const int *row, const int *edge, int vertices, int *label,
                      int *changed) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices)
    return;
#ifdef DYNPAR_FLAT
  for (int e = row[v]; e < row[v + 1]; ++e)
    hook(v, edge[e], label, changed);
#else
  int count = row[v + 1] - row[v];
  if (count > 0)
    hookAll<<<(count + 63) / 64, 64>>>(edge + row[v], count, v, label, changed);
#endif
}

__global__ void follow(int vertices, int *label) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices)
    return;
  int end = label[v];
  while (label[end] != end)
    end = label[end];
  label[v] = end;
}

static std::vector<int> reference(const Graph &graph) {
  std::vector<int> label(graph.vertices(), -1), stack;
  for (int root = 0; root < graph.vertices(); ++root) {
    if (label[root] >= 0)
      continue;
    label[root] = root;
    stack.push_back(root);
    while (!stack.empty()) {
      int v = stack.back();
      stack.pop_back();
      for (int e = graph.row[v]; e < graph.row[v + 1]; ++e)
        if (label[graph.edge[e]] < 0) {
          label[graph.edge[e]] = root;
          stack.push_back(graph.edge[e]);
        }
    }
  }
  return label;
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 16, "rmat");
  Graph graph = makeGraph(options.graph, options.size);
  int n = graph.vertices();
  std::vector<int> expected = reference(graph), single(n);
  std::iota(single.begin(), single.end(), 0);
  DeviceArray<int> row(graph.row), edge(graph.edge), label(n), changed(1);
  return measure(
      "ccl", options, [&] { label.set(single); },
      [&] {
        do {
          changed.clear();
          merge<<<(n + 255) / 256, 256>>>(row, edge, n, label, changed);
          follow<<<(n + 255) / 256, 256>>>(n, label);
          CUDA_CHECK(cudaGetLastError());
        } while (changed.get()[0]);
      },
      [&] { return label.get() == expected; });
}
