// bfs: breadth-first search. One parent thread per vertex; the vertices of the
// current level launch one child thread per neighbour.
#include "dynpar.h"

#include <queue>

__device__ void visit(int vertex, int depth, int *level, int *changed) {
  if (level[vertex] < 0) {
    level[vertex] = depth + 1;
    *changed = 1;
  }
}

__global__ void expand(const int *neighbour, int count, int depth, int *level,
                       int *changed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    visit(neighbour[i], depth, level, changed);
}

__global__ void step(const int *row, const int *edge, int vertices, int depth,
                     int *level, int *changed) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || level[v] != depth)
    return;
  int count = row[v + 1] - row[v];
#ifdef DYNPAR_FLAT
  for (int i = 0; i < count; ++i)
    visit(edge[row[v] + i], depth, level, changed);
#else
  if (count > 0)
    expand<<<(count + 63) / 64, 64>>>(edge + row[v], count, depth, level,
                                      changed);
#endif
}

static std::vector<int> reference(const Graph &graph, int root) {
  std::vector<int> level(graph.vertices(), -1);
  std::queue<int> queue;
  level[root] = 0;
  queue.push(root);
  while (!queue.empty()) {
    int v = queue.front();
    queue.pop();
    for (int e = graph.row[v]; e < graph.row[v + 1]; ++e)
      if (level[graph.edge[e]] < 0) {
        level[graph.edge[e]] = level[v] + 1;
        queue.push(graph.edge[e]);
      }
  }
  return level;
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 16, "rmat");
  Graph graph = makeGraph(options.graph, options.size);
  int n = graph.vertices(), root = 0;
  std::vector<int> expected = reference(graph, root);
  std::vector<int> start(n, -1);
  start[root] = 0;
  DeviceArray<int> row(graph.row), edge(graph.edge), level(n), changed(1);
  return measure(
      "bfs", options, [&] { level.set(start); },
      [&] {
        for (int depth = 0;; ++depth) {
          changed.clear();
          step<<<(n + 255) / 256, 256>>>(row, edge, n, depth, level, changed);
          CUDA_CHECK(cudaGetLastError());
          if (!changed.get()[0])
            break;
        }
      },
      [&] { return level.get() == expected; });
}
