/* SweepKernels.c: extents, operations and accesses of every kernel of
 * lib/Model/calibrate/shapes.cu, written from its source by hand as the access
 * analysis of the compiler would. Loads that a loop does not change and sums
 * kept in registers count once per thread. */
#include "SweepKernels.h"

#include <string.h>

enum { A, B, C, D };
enum { DOUBLE = 8, FLOAT = 4 };

/* An access of a loop over k or, with count 1, outside of it. */
static void add(struct sweep_kernel *k, uint32_t array, bool write,
                double count, int64_t x, int64_t y, int64_t z, int64_t seq,
                int64_t offset) {
  struct pacc_access *a = &k->accesses[k->work.n_accesses++];
  *a = (struct pacc_access){.array = array,
                            .size = DOUBLE,
                            .write = write,
                            .offset = offset * DOUBLE,
                            .stride = {x * DOUBLE, y * DOUBLE, z * DOUBLE},
                            .seq = seq * DOUBLE,
                            .count = count};
}

static void load(struct sweep_kernel *k, uint32_t array, double count,
                 int64_t x, int64_t y, int64_t seq) {
  add(k, array, false, count, x, y, 0, seq, 0);
}

static void update(struct sweep_kernel *k, uint32_t array, int64_t x,
                   int64_t y) {
  add(k, array, false, 1, x, y, 0, 0, 0);
  add(k, array, true, 1, x, y, 0, 0, 0);
}

static void extent(struct sweep_kernel *k, uint32_t dims, int64_t x, int64_t y,
                   int64_t z) {
  k->work.dims = dims;
  k->work.extent[0] = (uint64_t)x;
  k->work.extent[1] = (uint64_t)y;
  k->work.extent[2] = (uint64_t)z;
}

static void loop(struct sweep_kernel *k, int64_t trip, double fp64_per_trip) {
  k->work.seq_trip = (double)trip;
  k->work.fp64 = (double)trip * fp64_per_trip;
  k->work.ints = (double)trip;
  k->work.chain = 1;
}

static void straight(struct sweep_kernel *k, double fp64) {
  k->work.fp64 = fp64;
  k->work.ints = 12;
  k->work.chain = fp64;
}

static void floats(struct sweep_kernel *k) {
  for (size_t i = 0; i < k->work.n_accesses; i++) {
    struct pacc_access *a = &k->accesses[i];
    a->size = FLOAT;
    for (unsigned d = 0; d < 3; d++)
      a->stride[d] = a->stride[d] / DOUBLE * FLOAT;
    a->seq = a->seq / DOUBLE * FLOAT;
  }
  k->work.fp32 = k->work.fp64;
  k->work.fp64 = 0;
}

/*===-- Kernels, by the names of shapes.cu -------------------------------===*/

static void gemm(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 2, n[1], n[0], 1);
  loop(k, n[2], 2);
  load(k, B, (double)n[2], 0, n[2], 1);
  load(k, C, (double)n[2], 1, 0, n[1]);
  update(k, A, 1, n[1]);
}

static void gemm_float(struct sweep_kernel *k, const int64_t *n) {
  gemm(k, n);
  floats(k);
}

static void gemm_bt(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 2, n[1], n[0], 1);
  loop(k, n[2], 1);
  load(k, B, (double)n[2], 0, n[2], 1);
  load(k, C, (double)n[2], n[2], 0, 1);
  add(k, A, true, 1, 1, n[1], 0, 0, 0);
}

static void row_walk(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 1, n[0], 1, 1);
  loop(k, n[0], 1);
  load(k, B, (double)n[0], n[0], 0, 1);
  load(k, C, (double)n[0], 0, 0, 1);
  update(k, A, 1, 0);
}

static void column_walk(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 1, n[0], 1, 1);
  loop(k, n[0], 1);
  load(k, B, (double)n[0], 1, 0, n[0]);
  load(k, C, (double)n[0], 0, 0, 1);
  update(k, A, 1, 0);
}

static void gesummv(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 1, n[0], 1, 1);
  loop(k, n[0], 2);
  load(k, B, (double)n[0], n[0], 0, 1);
  load(k, C, (double)n[0], n[0], 0, 1);
  load(k, D, (double)n[0], 0, 0, 1);
  add(k, A, true, 1, 1, 0, 0, 0, 0);
}

static void syrk(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 2, n[0], n[0], 1);
  k->work.active = 0.5;
  loop(k, n[1], 2);
  load(k, B, (double)n[1], 0, n[1], 1);
  load(k, B, (double)n[1], n[1], 0, 1);
  update(k, A, 1, n[0]);
}

static void syr2k(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 2, n[0], n[0], 1);
  k->work.active = 0.5;
  loop(k, n[1], 4);
  k->work.chain = 2;
  load(k, B, (double)n[1], n[1], 0, 1);
  load(k, C, (double)n[1], 0, n[1], 1);
  load(k, C, (double)n[1], n[1], 0, 1);
  load(k, B, (double)n[1], 0, n[1], 1);
  update(k, A, 1, n[0]);
}

static void covariance(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 2, n[0], n[0], 1);
  k->work.active = 0.5;
  loop(k, n[1], 1);
  load(k, B, (double)n[1], 0, 1, n[0]);
  load(k, B, (double)n[1], 1, 0, n[0]);
  add(k, A, true, 1, 1, n[0], 0, 0, 0);
  add(k, A, true, 1, n[0], 1, 0, 0, 0);
  k->work.special = 1;
}

static void jacobi_2d(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 2, n[0] - 2, n[0] - 2, 1);
  straight(k, 5);
  const int64_t around[] = {0, -1, 1, n[0], -n[0]};
  for (unsigned i = 0; i < 5; i++)
    add(k, B, false, 1, 1, n[0], 0, 0, n[0] + 1 + around[i]);
  add(k, A, true, 1, 1, n[0], 0, 0, n[0] + 1);
}

static void heat_3d(struct sweep_kernel *k, const int64_t *n) {
  int64_t m = n[0];
  extent(k, 3, m - 2, m - 2, m - 2);
  straight(k, 10);
  const int64_t around[] = {0, -1, 1, m, -m, m * m, -m * m};
  for (unsigned i = 0; i < 7; i++)
    add(k, B, false, 1, 1, m, m * m, 0, m * m + m + 1 + around[i]);
  add(k, A, true, 1, 1, m, m * m, 0, m * m + m + 1);
}

static void fdtd_hz(struct sweep_kernel *k, const int64_t *n) {
  int64_t m = n[1];
  extent(k, 2, m - 1, n[0] - 1, 1);
  straight(k, 5);
  add(k, B, false, 1, 1, m, 0, 0, 1);
  add(k, B, false, 1, 1, m, 0, 0, 0);
  add(k, C, false, 1, 1, m, 0, 0, m);
  add(k, C, false, 1, 1, m, 0, 0, 0);
  update(k, A, 1, m);
}

static void rank_2_update(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 2, n[0], n[0], 1);
  straight(k, 2);
  load(k, B, 1, 0, 1, 0);
  load(k, C, 1, 1, 0, 0);
  load(k, D, 1, 0, 1, 0);
  load(k, B, 1, 1, 0, 0);
  update(k, A, 1, n[0]);
}

static void doitgen(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 3, n[2], n[1], n[0]);
  loop(k, n[2], 1);
  add(k, B, false, (double)n[2], 0, n[2], n[1] * n[2], 1, 0);
  add(k, C, false, (double)n[2], 1, 0, 0, n[2], 0);
  add(k, A, true, 1, 1, n[2], n[1] * n[2], 0, 0);
}

static void trmm(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 1, n[1], 1, 1);
  loop(k, n[0] / 2, 1);
  double count = (double)n[0] * (double)n[0] / 2;
  k->work.fp64 = count;
  k->work.ints = count;
  load(k, B, count, 0, 0, n[0]);
  load(k, A, count, 1, 0, n[1]);
}

static void floyd_step(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 2, n[0], n[0], 1);
  straight(k, 2);
  load(k, A, 1, 0, n[0], 0);
  load(k, A, 1, 1, 0, 0);
  load(k, A, 1, 1, n[0], 0);
}

static void transpose(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 2, n[0], n[0], 1);
  straight(k, 0);
  load(k, B, 1, n[0], 1, 0);
  add(k, A, true, 1, 1, n[0], 0, 0, 0);
}

static void jacobi_1d(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 1, n[0] - 2, 1, 1);
  straight(k, 3);
  for (int64_t i = 0; i < 3; i++)
    add(k, B, false, 1, 1, 0, 0, 0, i);
  add(k, A, true, 1, 1, 0, 0, 0, 1);
}

static void sweep_rows(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 1, n[0], 1, 1);
  loop(k, n[0], 2);
  k->work.chain = 2;
  load(k, B, (double)n[0], n[0], 0, 1);
  add(k, A, true, (double)n[0], n[0], 0, 0, 1, 0);
}

static void spmv(struct sweep_kernel *k, const int64_t *n) {
  extent(k, 1, n[0], 1, 1);
  loop(k, n[1], 1);
  k->work.ints = 6 * (double)n[1];
  load(k, B, (double)n[1], 1, 0, n[0]);
  load(k, C, (double)n[1], 0, 0, 0);
  k->accesses[1].gather = true;
  k->accesses[1].footprint = (uint64_t)n[0] * DOUBLE;
  add(k, A, true, 1, 1, 0, 0, 0, 0);
}

static const struct {
  const char *name;
  void (*describe)(struct sweep_kernel *, const int64_t *);
  int64_t n[2][3];
} kernels[] = {
    {"gemm", gemm, {{1000, 1100, 1200}, {2000, 2300, 2600}}},
    {"row_walk", row_walk, {{2000}, {4000}}},
    {"column_walk", column_walk, {{2000}, {4000}}},
    {"gesummv", gesummv, {{1300}, {2800}}},
    {"syrk", syrk, {{1200, 1000}, {2600, 2000}}},
    {"syr2k", syr2k, {{1200, 1000}, {2600, 2000}}},
    {"covariance", covariance, {{1200, 1400}, {2600, 3000}}},
    {"jacobi_2d", jacobi_2d, {{1300}, {2800}}},
    {"heat_3d", heat_3d, {{120}, {200}}},
    {"fdtd_hz", fdtd_hz, {{1000, 1200}, {2000, 2600}}},
    {"rank_2_update", rank_2_update, {{2000}, {4000}}},
    {"doitgen", doitgen, {{150, 140, 160}, {250, 220, 270}}},
    {"trmm", trmm, {{250, 1200}, {500, 2600}}},
    {"floyd_step", floyd_step, {{2800}, {5600}}},
    {"transpose", transpose, {{2000}, {6000}}},
    {"jacobi_1d", jacobi_1d, {{4000}, {4000000}}},
    {"gemm_float", gemm_float, {{1000, 1100, 1200}, {2000, 2300, 2600}}},
    {"gemm_bt", gemm_bt, {{1000, 1100, 1200}, {2000, 2300, 2600}}},
    {"sweep_rows", sweep_rows, {{1000}, {4000}}},
    {"spmv", spmv, {{100000, 32}, {2000000, 32}}},
};

bool sweep_kernel_get(const char *name, int size, uint32_t regs,
                      struct sweep_kernel *kernel) {
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    if (strcmp(kernels[i].name, name) != 0)
      continue;
    memset(kernel, 0, sizeof *kernel);
    kernel->work = (struct pacc_work){.name = name,
                                      .active = 1,
                                      .regs = regs,
                                      .regs_exact = true,
                                      .seq_trip = 1,
                                      .accesses = kernel->accesses};
    kernels[i].describe(kernel, kernels[i].n[size]);
    return true;
  }
  return false;
}
