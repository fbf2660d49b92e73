// tc: triangle counting. A vertex launches one child thread per larger
// neighbour, which merges the two sorted rows.
#include "dynpar.h"

__device__ unsigned long long common(const int *a, const int *aEnd,
                                     const int *b, const int *bEnd,
                                     int above) {
  unsigned long long result = 0;
  while (a < aEnd && b < bEnd) {
    if (*a == *b)
      result += *a > above;
    int x = *a, y = *b;
    a += x <= y;
    b += y <= x;
  }
  return result;
}

__global__ void countRow(const int *row, const int *edge, int u,
                         unsigned long long *total) {
  int e = row[u] + blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= row[u + 1] || edge[e] < u)
    return;
  int v = edge[e];
  unsigned long long found = common(edge + row[u], edge + row[u + 1],
                                    edge + row[v], edge + row[v + 1], v);
  if (found)
    atomicAdd(total, found);
}

__global__ void countAll(const int *row, const int *edge, int vertices,
                         unsigned long long *total) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= vertices)
    return;
#ifdef DYNPAR_FLAT
  unsigned long long found = 0;
  for (int e = row[u]; e < row[u + 1]; ++e)
    if (edge[e] > u)
      found += common(edge + row[u], edge + row[u + 1], edge + row[edge[e]],
                      edge + row[edge[e] + 1], edge[e]);
  if (found)
    atomicAdd(total, found);
#else
  int count = row[u + 1] - row[u];
  if (count > 1)
    countRow<<<(count + 31) / 32, 32>>>(row, edge, u, total);
#endif
}

static unsigned long long reference(const Graph &graph) {
  unsigned long long total = 0;
  std::vector<int> mark(graph.vertices(), -1);
  for (int u = 0; u < graph.vertices(); ++u) {
    for (int e = graph.row[u]; e < graph.row[u + 1]; ++e)
      mark[graph.edge[e]] = u;
    for (int e = graph.row[u]; e < graph.row[u + 1]; ++e) {
      int v = graph.edge[e];
      for (int f = graph.row[v]; v > u && f < graph.row[v + 1]; ++f)
        total += graph.edge[f] > v && mark[graph.edge[f]] == u;
    }
  }
  return total;
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 14, "rmat");
  Graph graph = makeGraph(options.graph, options.size);
  int n = graph.vertices();
  unsigned long long expected = reference(graph);
  DeviceArray<int> row(graph.row), edge(graph.edge);
  DeviceArray<unsigned long long> total(1);
  return measure(
      "tc", options, [&] { total.clear(); },
      [&] {
        countAll<<<(n + 127) / 128, 128>>>(row, edge, n, total);
        CUDA_CHECK(cudaGetLastError());
      },
      [&] { return total.get()[0] == expected; });
}
