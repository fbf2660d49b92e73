// dynpar.h: what the dynamic-parallelism programs share: options, inputs,
// timing, and the line that each prints.
//
//   program [--size N] [--repeat N] [--graph rmat|road|uniform] [--pending N]
//
// A program runs `repeat` times, compares each result with one that the CPU
// computed, and prints
//
//   program,variant,size,graph,median ms,least ms,ok|wrong
//
// The exit status is 0 only for ok. DYNPAR_VARIANT names the build; DYNPAR_FLAT
// builds the version without dynamic parallelism. --pending sets CUDA's limit
// of launches that wait.
#ifndef DYNPAR_H
#define DYNPAR_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifndef DYNPAR_VARIANT
#define DYNPAR_VARIANT "plain"
#endif

#define CUDA_CHECK(call)                                                       \
  do {                                                                         \
    cudaError_t error_ = (call);                                               \
    if (error_ != cudaSuccess) {                                               \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,            \
              cudaGetErrorString(error_));                                     \
      exit(2);                                                                 \
    }                                                                          \
  } while (0)

struct Options {
  int size;
  int repeat = 5;
  std::string graph; // or the kind of other inputs
};

inline Options parseOptions(int argc, char **argv, int size,
                            const char *graph = "") {
  Options result;
  result.size = size;
  result.graph = graph;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--size"))
      result.size = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--repeat"))
      result.repeat = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--graph"))
      result.graph = argv[i + 1];
    else if (!strcmp(argv[i], "--pending"))
      CUDA_CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount,
                                    strtoul(argv[i + 1], nullptr, 10)));
    else {
      fprintf(stderr, "%s: unknown option %s\n", argv[0], argv[i]);
      exit(2);
    }
  }
  if (result.size < 1 || result.repeat < 1) {
    fprintf(stderr, "%s: --size and --repeat are at least 1\n", argv[0]);
    exit(2);
  }
  return result;
}

// Device memory, freed at the end of the scope.
template <typename T> class DeviceArray {
public:
  explicit DeviceArray(size_t count) : count(count) {
    CUDA_CHECK(cudaMalloc(&data, std::max<size_t>(count, 1) * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T> &from) : DeviceArray(from.size()) {
    set(from);
  }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;

  void set(const std::vector<T> &from) {
    CUDA_CHECK(cudaMemcpy(data, from.data(), count * sizeof(T),
                          cudaMemcpyHostToDevice));
  }
  void clear() { CUDA_CHECK(cudaMemset(data, 0, count * sizeof(T))); }
  std::vector<T> get() const {
    std::vector<T> result(count);
    CUDA_CHECK(cudaMemcpy(result.data(), data, count * sizeof(T),
                          cudaMemcpyDeviceToHost));
    return result;
  }
  operator T *() const { return data; }

private:
  size_t count;
  T *data = nullptr;
};

// Runs prepare() and then, timed, run(); check() says whether the result is
// right. The first round warms up and is checked, but not timed.
template <typename Prepare, typename Run, typename Check>
int measureAs(const char *program, const char *variant, const char *graph,
              const Options &options, Prepare prepare, Run run, Check check) {
  std::vector<float> times;
  bool ok = true;
  cudaEvent_t from, to;
  CUDA_CHECK(cudaEventCreate(&from));
  CUDA_CHECK(cudaEventCreate(&to));
  for (int round = 0; round <= options.repeat; ++round) {
    prepare();
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaEventRecord(from));
    run();
    CUDA_CHECK(cudaEventRecord(to));
    CUDA_CHECK(cudaDeviceSynchronize());
    float ms;
    CUDA_CHECK(cudaEventElapsedTime(&ms, from, to));
    if (round)
      times.push_back(ms);
    ok = ok && check();
  }
  std::sort(times.begin(), times.end());
  printf("%s,%s,%d,%s,%.4f,%.4f,%s\n", program, variant, options.size, graph,
         times[times.size() / 2], times[0], ok ? "ok" : "wrong");
  return ok ? 0 : 1;
}

template <typename Prepare, typename Run, typename Check>
int measure(const char *program, const Options &options, Prepare prepare,
            Run run, Check check) {
  return measureAs(program, DYNPAR_VARIANT, options.graph.c_str(), options,
                   prepare, run, check);
}

// xorshift64*
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 2 + 1) {}
  uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717u;
  }
  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>((next() >> 32) * bound >> 32);
  }

private:
  uint64_t state;
};

// An undirected graph without loops and double edges, as rows of sorted
// neighbours.
struct Graph {
  std::vector<int> row;
  std::vector<int> edge;
  std::vector<int> weight; // 1 to 100, the same in both directions
  int vertices() const { return static_cast<int>(row.size()) - 1; }
};

inline Graph makeGraph(const std::string &kind, int vertices) {
  Random random(7);
  std::vector<std::pair<int, int>> pairs;
  auto add = [&](int a, int b) {
    if (a == b || a >= vertices || b >= vertices)
      return;
    pairs.emplace_back(a, b);
    pairs.emplace_back(b, a);
  };
  if (kind == "road") {
    int width = 1;
    while (width * width < vertices)
      ++width;
    for (int v = 0; v < vertices; ++v) {
      if ((v + 1) % width && random.below(10))
        add(v, v + 1);
      if (random.below(10))
        add(v, v + width);
    }
  } else if (kind == "uniform") {
    for (int v = 0; v < vertices; ++v)
      for (int i = 0; i < 8; ++i)
        add(v, static_cast<int>(random.below(vertices)));
  } else if (kind == "rmat") {
    int bits = 0;
    while (1 << bits < vertices)
      ++bits;
    for (int64_t e = 0; e < int64_t(vertices) * 8; ++e) {
      int a = 0, b = 0;
      for (int bit = 0; bit < bits; ++bit) {
        uint32_t r = random.below(100);
        a = a * 2 + (r >= 76);
        b = b * 2 + ((r >= 57 && r < 76) || r >= 95);
      }
      add(a, b);
    }
  } else {
    fprintf(stderr, "unknown graph %s: rmat, road or uniform\n", kind.c_str());
    exit(2);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  Graph graph;
  graph.row.assign(vertices + 1, 0);
  for (auto [a, b] : pairs) {
    ++graph.row[a + 1];
    graph.edge.push_back(b);
    uint64_t low = std::min(a, b), high = std::max(a, b);
    graph.weight.push_back(1 + (low * 31 + high * 17) % 100);
  }
  for (int v = 0; v < vertices; ++v)
    graph.row[v + 1] += graph.row[v];
  return graph;
}

#endif
