// gc: graph colouring. In every round the vertices whose priority is highest
// among their uncoloured neighbours get the round as their colour. A vertex
// launches one child thread per neighbour to find out.
#include "dynpar.h"

__host__ __device__ inline unsigned priority(unsigned v) {
  v = (v ^ v >> 16) * 0x45d9f3bu;
  v = (v ^ v >> 16) * 0x45d9f3bu;
  return v ^ v >> 16;
}

__host__ __device__ inline bool beats(unsigned a, unsigned b) {
  unsigned p = priority(a), q = priority(b);
  return p > q || (p == q && a > b);
}

__global__ void compare(const int *neighbour, int count, int v,
                        const int *colour, int *blocked) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && colour[neighbour[i]] < 0 && beats(neighbour[i], v))
    blocked[v] = 1;
}

__global__ void judge(const int *row, const int *edge, int vertices,
                      const int *colour, int *blocked) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || colour[v] >= 0)
    return;
#ifdef DYNPAR_FLAT
  for (int e = row[v]; e < row[v + 1]; ++e)
    if (colour[edge[e]] < 0 && beats(edge[e], v))
      blocked[v] = 1;
#else
  int count = row[v + 1] - row[v];
  if (count > 0)
    compare<<<(count + 63) / 64, 64>>>(edge + row[v], count, v, colour,
                                       blocked);
#endif
}

__global__ void assign(int vertices, int round, int *colour, int *blocked,
                       int *left) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || colour[v] >= 0)
    return;
  if (blocked[v])
    *left = 1;
  else
    colour[v] = round;
  blocked[v] = 0;
}

static std::vector<int> reference(const Graph &graph) {
  int n = graph.vertices();
  std::vector<int> colour(n, -1);
  for (int round = 0, left = 1; left; ++round) {
    std::vector<int> before = colour;
    left = 0;
    for (int v = 0; v < n; ++v) {
      if (before[v] >= 0)
        continue;
      bool highest = true;
      for (int e = graph.row[v]; highest && e < graph.row[v + 1]; ++e)
        highest = before[graph.edge[e]] >= 0 || !beats(graph.edge[e], v);
      if (highest)
        colour[v] = round;
      else
        left = 1;
    }
  }
  return colour;
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 16, "rmat");
  Graph graph = makeGraph(options.graph, options.size);
  int n = graph.vertices();
  std::vector<int> expected = reference(graph), start(n, -1);
  DeviceArray<int> row(graph.row), edge(graph.edge);
  DeviceArray<int> colour(n), blocked(n), left(1);
  return measure(
      "gc", options,
      [&] {
        colour.set(start);
        blocked.clear();
      },
      [&] {
        int round = 0;
        do {
          left.clear();
          judge<<<(n + 255) / 256, 256>>>(row, edge, n, colour, blocked);
          assign<<<(n + 255) / 256, 256>>>(n, round++, colour, blocked, left);
          CUDA_CHECK(cudaGetLastError());
        } while (left.get()[0]);
      },
      [&] { return colour.get() == expected; });
}
