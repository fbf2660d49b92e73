// sssp: shortest paths from one vertex by relaxation. A vertex whose distance
// fell in the round before launches one child thread per neighbour.
#include "dynpar.h"

#include <climits>
#include <queue>

__device__ void relax(int to, int distance, int *best, int *next,
                      int *changed) {
  if (distance < atomicMin(best + to, distance)) {
    next[to] = 1;
    *changed = 1;
  }
}

__global__ void relaxAll(const int *neighbour, const int *weight, int count,
                         int distance, int *best, int *next, int *changed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    relax(neighbour[i], distance + weight[i], best, next, changed);
}

__global__ void round(const int *row, const int *edge, const int *weight,
                      int vertices, int *best, int *active, int *next,
                      int *changed) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || !active[v])
    return;
  active[v] = 0;
  int from = row[v], count = row[v + 1] - from;
  int distance = best[v];
#ifdef DYNPAR_FLAT
  for (int i = 0; i < count; ++i)
    relax(edge[from + i], distance + weight[from + i], best, next, changed);
#else
  if (count > 0)
    relaxAll<<<(count + 63) / 64, 64>>>(edge + from, weight + from, count,
                                        distance, best, next, changed);
#endif
}

static std::vector<int> reference(const Graph &graph, int root) {
  std::vector<int> best(graph.vertices(), INT_MAX);
  using Entry = std::pair<int, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  best[root] = 0;
  queue.push({0, root});
  while (!queue.empty()) {
    auto [distance, v] = queue.top();
    queue.pop();
    if (distance > best[v])
      continue;
    for (int e = graph.row[v]; e < graph.row[v + 1]; ++e) {
      int sum = distance + graph.weight[e];
      if (sum < best[graph.edge[e]]) {
        best[graph.edge[e]] = sum;
        queue.push({sum, graph.edge[e]});
      }
    }
  }
  return best;
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 16, "rmat");
  Graph graph = makeGraph(options.graph, options.size);
  int n = graph.vertices(), root = 0;
  std::vector<int> expected = reference(graph, root);
  std::vector<int> start(n, INT_MAX), flags(n, 0);
  start[root] = 0;
  flags[root] = 1;
  DeviceArray<int> row(graph.row), edge(graph.edge), weight(graph.weight);
  DeviceArray<int> best(n), active(n), next(n), changed(1);
  return measure(
      "sssp", options,
      [&] {
        best.set(start);
        active.set(flags);
        next.clear();
      },
      [&] {
        int *now = active, *then = next;
        do {
          changed.clear();
          round<<<(n + 255) / 256, 256>>>(row, edge, weight, n, best, now,
                                          then, changed);
          CUDA_CHECK(cudaGetLastError());
          std::swap(now, then);
        } while (changed.get()[0]);
      },
      [&] { return best.get() == expected; });
}
