// sp: survey propagation on a random 3-SAT formula, a fixed number of rounds.
// A variable launches one child thread per literal of its own, which computes
// what it tells that literal's clause; then each clause answers.
//
// A. Braunstein, M. Mezard, R. Zecchina: Survey propagation, an algorithm for
// satisfiability, Random Structures and Algorithms 27 (2005), eqs. 17 to 19.
#include "dynpar.h"

#include <cmath>

constexpr int rounds = 20;

// Literal l is in clause l / 3. The literals of variable v are
// literal[first[v]] to literal[first[v + 1] - 1].
struct Formula {
  std::vector<int> first;
  std::vector<int> literal;
  std::vector<int> negated; // per literal
  std::vector<double> start;
};

static Formula makeFormula(int variables) {
  Random random(5);
  int literals = 3 * static_cast<int>(variables * 4.2);
  Formula result;
  result.first.assign(variables + 1, 0);
  std::vector<int> owner(literals);
  for (int &v : owner) {
    // Some variables are in many clauses, most in few.
    v = static_cast<int>(random.below(random.below(variables) + 1));
    ++result.first[v + 1];
    result.negated.push_back(static_cast<int>(random.below(2)));
    result.start.push_back((1 + random.below(998)) / 1000.0);
  }
  for (int v = 0; v < variables; ++v)
    result.first[v + 1] += result.first[v];
  std::vector<int> next(result.first);
  result.literal.resize(literals);
  for (int l = 0; l < literals; ++l)
    result.literal[next[owner[l]]++] = l;
  return result;
}

// What the variable with these literals tells the clause of literal `to`: how
// likely it can't satisfy it, given the surveys of its other clauses.
__host__ __device__ inline double message(const int *literals, int count,
                                          int to, const int *negated,
                                          const double *survey) {
  double same = 1, opposite = 1;
  for (int i = 0; i < count; ++i) {
    int l = literals[i];
    if (l == to)
      continue;
    (negated[l] == negated[to] ? same : opposite) *= 1 - survey[l];
  }
  double against = (1 - opposite) * same, with = (1 - same) * opposite;
  double sum = against + with + same * opposite;
  return sum > 0 ? against / sum : 0;
}

__host__ __device__ inline double answer(int literal, const double *told) {
  int clause = literal / 3 * 3, place = literal % 3;
  return told[clause + (place + 1) % 3] * told[clause + (place + 2) % 3];
}

__global__ void tellClauses(const int *literals, int count, const int *negated,
                            const double *survey, double *told) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    told[literals[i]] = message(literals, count, literals[i], negated, survey);
}

__global__ void askVariables(const int *first, const int *literal,
                             int variables, const int *negated,
                             const double *survey, double *told) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= variables)
    return;
  const int *literals = literal + first[v];
  int count = first[v + 1] - first[v];
#ifdef DYNPAR_FLAT
  for (int i = 0; i < count; ++i)
    told[literals[i]] = message(literals, count, literals[i], negated, survey);
#else
  if (count > 0)
    tellClauses<<<(count + 31) / 32, 32>>>(literals, count, negated, survey,
                                           told);
#endif
}

__global__ void askClauses(int literals, const double *told, double *survey) {
  int l = blockIdx.x * blockDim.x + threadIdx.x;
  if (l < literals)
    survey[l] = answer(l, told);
}

static std::vector<double> reference(const Formula &f) {
  std::vector<double> survey(f.start), told(f.start.size());
  for (int r = 0; r < rounds; ++r) {
    for (size_t v = 0; v + 1 < f.first.size(); ++v) {
      const int *literals = f.literal.data() + f.first[v];
      int count = f.first[v + 1] - f.first[v];
      for (int i = 0; i < count; ++i)
        told[literals[i]] = message(literals, count, literals[i],
                                    f.negated.data(), survey.data());
    }
    for (size_t l = 0; l < survey.size(); ++l)
      survey[l] = answer(static_cast<int>(l), told.data());
  }
  return survey;
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv, 1 << 16);
  options.graph = "3-sat";
  Formula f = makeFormula(options.size);
  int n = options.size, literals = static_cast<int>(f.literal.size());
  std::vector<double> expected = reference(f);
  DeviceArray<int> first(f.first), literal(f.literal), negated(f.negated);
  DeviceArray<double> survey(literals), told(literals);
  return measure(
      "sp", options, [&] { survey.set(f.start); },
      [&] {
        for (int r = 0; r < rounds; ++r) {
          askVariables<<<(n + 255) / 256, 256>>>(first, literal, n, negated,
                                                 survey, told);
          askClauses<<<(literals + 255) / 256, 256>>>(literals, told, survey);
        }
        CUDA_CHECK(cudaGetLastError());
      },
      [&] {
        // The device may fuse a multiplication and an addition.
        std::vector<double> got = survey.get();
        for (int l = 0; l < literals; ++l)
          if (!(std::fabs(got[l] - expected[l]) <= 1e-9))
            return false;
        return true;
      });
}
