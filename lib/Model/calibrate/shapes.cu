/* shapes.cu: measures every block shape on hand-written kernels of the kinds
 * that offloaded loops become, to hold the ranking of lib/Model against. Prints
 * kernel,size,regs,x,y,z,us as CSV; sweep_kernels.c describes the same kernels
 * to the model.
 *
 *   nvcc -O3 -arch=sm_90 shapes.cu -o shapes && ./shapes > shapes.csv
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t error = (call);                                                \
    if (error != cudaSuccess) {                                                \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorName(error));             \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)
#define Z (blockIdx.z * blockDim.z + threadIdx.z)

/* n[] are the sizes of a kernel; a, b, c, d are arrays of doubles. */
struct sizes {
  int n[3];
};

#define KERNEL(name)                                                           \
  __global__ void name(sizes s, double *__restrict__ a,                        \
                       const double *__restrict__ b,                           \
                       const double *__restrict__ c,                           \
                       const double *__restrict__ d)

KERNEL(gemm) { /* n: i, j, k */
  int j = X, i = Y;
  if (i >= s.n[0] || j >= s.n[1])
    return;
  double sum = a[i * s.n[1] + j] * 1.2;
  for (int k = 0; k < s.n[2]; k++)
    sum += 1.5 * b[i * s.n[2] + k] * c[k * s.n[1] + j];
  a[i * s.n[1] + j] = sum;
}

KERNEL(row_walk) {
  int i = X, n = s.n[0];
  if (i >= n)
    return;
  double sum = a[i];
  for (int j = 0; j < n; j++)
    sum += b[i * n + j] * c[j];
  a[i] = sum;
}

KERNEL(column_walk) {
  int j = X, n = s.n[0];
  if (j >= n)
    return;
  double sum = a[j];
  for (int i = 0; i < n; i++)
    sum += b[i * n + j] * c[i];
  a[j] = sum;
}

KERNEL(gesummv) {
  int i = X, n = s.n[0];
  if (i >= n)
    return;
  double t = 0, y = 0;
  for (int j = 0; j < n; j++) {
    t += b[i * n + j] * d[j];
    y += c[i * n + j] * d[j];
  }
  a[i] = 1.5 * t + 1.2 * y;
}

KERNEL(syrk) { /* n: i, k */
  int j = X, i = Y, n = s.n[0], m = s.n[1];
  if (i >= n || j > i)
    return;
  double sum = a[i * n + j] * 1.2;
  for (int k = 0; k < m; k++)
    sum += 1.5 * b[i * m + k] * b[j * m + k];
  a[i * n + j] = sum;
}

KERNEL(syr2k) {
  int j = X, i = Y, n = s.n[0], m = s.n[1];
  if (i >= n || j > i)
    return;
  double sum = a[i * n + j] * 1.2;
  for (int k = 0; k < m; k++)
    sum += b[j * m + k] * 1.5 * c[i * m + k] + c[j * m + k] * 1.5 * b[i * m + k];
  a[i * n + j] = sum;
}

KERNEL(covariance) { /* n: columns, rows */
  int j = X, i = Y, m = s.n[0], n = s.n[1];
  if (i >= m || j < i || j >= m)
    return;
  double sum = 0;
  for (int k = 0; k < n; k++)
    sum += b[k * m + i] * b[k * m + j];
  a[i * m + j] = sum / (n - 1.0);
  a[j * m + i] = sum / (n - 1.0);
}

KERNEL(jacobi_2d) {
  int j = X + 1, i = Y + 1, n = s.n[0];
  if (i >= n - 1 || j >= n - 1)
    return;
  a[i * n + j] = 0.2 * (b[i * n + j] + b[i * n + j - 1] + b[i * n + j + 1] +
                        b[(i + 1) * n + j] + b[(i - 1) * n + j]);
}

KERNEL(heat_3d) {
  int k = X + 1, j = Y + 1, i = Z + 1, n = s.n[0];
  if (i >= n - 1 || j >= n - 1 || k >= n - 1)
    return;
  const double *p = b + (i * n + j) * n + k;
  double v = *p;
  a[(i * n + j) * n + k] = 0.125 * (p[n * n] - 2 * v + p[-n * n]) +
                           0.125 * (p[n] - 2 * v + p[-n]) +
                           0.125 * (p[1] - 2 * v + p[-1]) + v;
}

KERNEL(fdtd_hz) {
  int j = X, i = Y, n = s.n[0], m = s.n[1];
  if (i >= n - 1 || j >= m - 1)
    return;
  a[i * m + j] -= 0.7 * (b[i * m + j + 1] - b[i * m + j] +
                         c[(i + 1) * m + j] - c[i * m + j]);
}

KERNEL(rank_2_update) {
  int j = X, i = Y, n = s.n[0];
  if (i >= n || j >= n)
    return;
  a[i * n + j] += b[i] * c[j] + d[i] * b[n + j];
}

KERNEL(doitgen) { /* n: r, q, p */
  int p = X, q = Y, r = Z, np = s.n[2];
  if (r >= s.n[0] || q >= s.n[1] || p >= np)
    return;
  double sum = 0;
  for (int k = 0; k < np; k++)
    sum += b[(r * s.n[1] + q) * np + k] * c[k * np + p];
  a[(r * s.n[1] + q) * np + p] = sum;
}

KERNEL(trmm) { /* n: m, columns; the threads are columns */
  int j = X, m = s.n[0], n = s.n[1];
  if (j >= n)
    return;
  for (int i = 0; i < m; i++) {
    double sum = a[i * n + j];
    for (int k = i + 1; k < m; k++)
      sum += b[k * m + i] * a[k * n + j];
    a[i * n + j] = 1.5 * sum;
  }
}

KERNEL(floyd_step) {
  int j = X, i = Y, n = s.n[0];
  if (i >= n || j >= n)
    return;
  double through = a[i * n + 7] + a[7 * n + j];
  if (through < a[i * n + j])
    a[i * n + j] = through;
}

KERNEL(transpose) {
  int j = X, i = Y, n = s.n[0];
  if (i >= n || j >= n)
    return;
  a[i * n + j] = b[j * n + i];
}

KERNEL(jacobi_1d) {
  int i = X + 1, n = s.n[0];
  if (i >= n - 1)
    return;
  a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
}

KERNEL(gemm_float) {
  int j = X, i = Y;
  if (i >= s.n[0] || j >= s.n[1])
    return;
  float *fa = (float *)a;
  const float *fb = (const float *)b, *fc = (const float *)c;
  float sum = fa[i * s.n[1] + j] * 1.2f;
  for (int k = 0; k < s.n[2]; k++)
    sum += 1.5f * fb[i * s.n[2] + k] * fc[k * s.n[1] + j];
  fa[i * s.n[1] + j] = sum;
}

KERNEL(gemm_bt) { /* b times the transposed of c: rows of both */
  int j = X, i = Y;
  if (i >= s.n[0] || j >= s.n[1])
    return;
  double sum = 0;
  for (int k = 0; k < s.n[2]; k++)
    sum += b[i * s.n[2] + k] * c[j * s.n[2] + k];
  a[i * s.n[1] + j] = sum;
}

KERNEL(sweep_rows) { /* a recurrence along each row, as in adi */
  int i = X, n = s.n[0];
  if (i >= n)
    return;
  double p = 1;
  for (int j = 1; j < n; j++) {
    p = (b[i * n + j] - 0.25 * p) * 0.5;
    a[i * n + j] = p;
  }
}

KERNEL(spmv) { /* n: rows, entries per row; indices made up by a hash */
  int i = X, n = s.n[0];
  if (i >= n)
    return;
  double sum = 0;
  for (int k = 0; k < s.n[1]; k++)
    sum += b[k * n + i] * c[((unsigned)(i * 31 + k) * 2654435761u >> 8) % n];
  a[i] = sum;
}

typedef void kernel(sizes, double *, const double *, const double *,
                    const double *);

/* extent: which n[] the threads along x, y, z run over (-1: 1), minus less. */
struct entry {
  const char *name;
  kernel *code;
  int dims;
  int axis[3];
  int less;
  int n[2][3];
};

static const entry entries[] = {
    {"gemm", gemm, 2, {1, 0, -1}, 0, {{1000, 1100, 1200}, {2000, 2300, 2600}}},
    {"row_walk", row_walk, 1, {0, -1, -1}, 0, {{2000}, {4000}}},
    {"column_walk", column_walk, 1, {0, -1, -1}, 0, {{2000}, {4000}}},
    {"gesummv", gesummv, 1, {0, -1, -1}, 0, {{1300}, {2800}}},
    {"syrk", syrk, 2, {0, 0, -1}, 0, {{1200, 1000}, {2600, 2000}}},
    {"syr2k", syr2k, 2, {0, 0, -1}, 0, {{1200, 1000}, {2600, 2000}}},
    {"covariance", covariance, 2, {0, 0, -1}, 0, {{1200, 1400}, {2600, 3000}}},
    {"jacobi_2d", jacobi_2d, 2, {0, 0, -1}, 2, {{1300}, {2800}}},
    {"heat_3d", heat_3d, 3, {0, 0, 0}, 2, {{120}, {200}}},
    {"fdtd_hz", fdtd_hz, 2, {1, 0, -1}, 1, {{1000, 1200}, {2000, 2600}}},
    {"rank_2_update", rank_2_update, 2, {0, 0, -1}, 0, {{2000}, {4000}}},
    {"doitgen", doitgen, 3, {2, 1, 0}, 0, {{150, 140, 160}, {250, 220, 270}}},
    {"trmm", trmm, 1, {1, -1, -1}, 0, {{250, 1200}, {500, 2600}}},
    {"floyd_step", floyd_step, 2, {0, 0, -1}, 0, {{2800}, {5600}}},
    {"transpose", transpose, 2, {0, 0, -1}, 0, {{2000}, {6000}}},
    {"jacobi_1d", jacobi_1d, 1, {0, -1, -1}, 2, {{4000}, {4000000}}},
    {"gemm_float", gemm_float, 2, {1, 0, -1}, 0,
     {{1000, 1100, 1200}, {2000, 2300, 2600}}},
    {"gemm_bt", gemm_bt, 2, {1, 0, -1}, 0,
     {{1000, 1100, 1200}, {2000, 2300, 2600}}},
    {"sweep_rows", sweep_rows, 1, {0, -1, -1}, 0, {{1000}, {4000}}},
    {"spmv", spmv, 1, {0, -1, -1}, 0, {{100000, 32}, {2000000, 32}}},
};

static double *arrays[4];
static cudaEvent_t from, to;

static double once(const entry *e, sizes s, dim3 grid, dim3 block, int times) {
  CHECK(cudaEventRecord(from));
  for (int i = 0; i < times; i++)
    e->code<<<grid, block>>>(s, arrays[0], arrays[1], arrays[2], arrays[3]);
  CHECK(cudaEventRecord(to));
  CHECK(cudaEventSynchronize(to));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, from, to));
  return ms * 1e3 / times;
}

/* The least of several, in microseconds; long kernels run seldom. */
static double measure(const entry *e, sizes s, dim3 grid, dim3 block) {
  double first = once(e, s, grid, block, 1);
  CHECK(cudaGetLastError());
  if (first > 30000)
    return first;
  int times = first < 100 ? 20 : 1, repeats = first < 5000 ? 4 : 2;
  double best = first;
  for (int i = 0; i < repeats; i++) {
    double t = once(e, s, grid, block, times);
    best = t < best ? t : best;
  }
  return best;
}

static int divide(int a, int b) { return (a + b - 1) / b; }

static void sweep(const entry *e, int which) {
  sizes s;
  int extent[3];
  memcpy(s.n, e->n[which], sizeof s.n);
  for (int d = 0; d < 3; d++)
    extent[d] = e->axis[d] < 0 ? 1 : s.n[e->axis[d]] - e->less;
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, e->code));
  for (int z = 1; z <= (e->dims > 2 ? 16 : 1); z *= 2)
    for (int y = 1; y <= (e->dims > 1 ? 1024 : 1); y *= 2)
      for (int x = 1; x <= 1024;
           x += e->dims == 1 ? (x < 32 ? x : 32) : x) {
        int threads = x * y * z;
        if (threads < 32 || threads > 1024 || (e->dims == 3 && threads > 512))
          continue;
        dim3 block(x, y, z), grid(divide(extent[0], x), divide(extent[1], y),
                                  divide(extent[2], z));
        if (grid.y > 65535 || grid.z > 65535)
          continue;
        printf("%s,%d,%d,%d,%d,%d,%.3f\n", e->name, which, attributes.numRegs,
               x, y, z, measure(e, s, grid, block));
      }
  fflush(stdout);
}

int main(void) {
  CHECK(cudaEventCreate(&from));
  CHECK(cudaEventCreate(&to));
  for (double *&array : arrays) {
    size_t bytes = (size_t)64 << 23; /* 2,000,000 rows of 32 */
    CHECK(cudaMalloc(&array, bytes));
    CHECK(cudaMemset(array, 0, bytes));
  }
  printf("kernel,size,regs,x,y,z,us\n");
  for (const entry &e : entries)
    for (int which = 0; which < 2; which++)
      sweep(&e, which);
  return 0;
}
