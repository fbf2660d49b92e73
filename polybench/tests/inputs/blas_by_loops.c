/* blas_by_loops.c: the routines of cuBLAS and of the CUDA runtime that
 * peers/cublas uses, on the CPU, from BLAS's definitions: matrices by columns,
 * A(i, j) at a[i + j * lda]. Only what the peers ask for; anything else is an
 * error. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  *memory = malloc(bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       enum cudaMemcpyKind kind) {
  (void)kind;
  memcpy(to, from, bytes);
  return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) {
  (void)error;
  return "no memory";
}

const char *cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "other";
}

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
  *handle = malloc(1);
  return CUBLAS_STATUS_SUCCESS;
}

/* An element of op(A). */
static double at(const double *a, int lda, cublasOperation_t op, int i, int j) {
  return op == CUBLAS_OP_N ? a[i + (long)j * lda] : a[j + (long)i * lda];
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t opa,
                              cublasOperation_t opb, int m, int n, int k,
                              const double *alpha, const double *a, int lda,
                              const double *b, int ldb, const double *beta,
                              double *c, int ldc) {
  (void)handle;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = 0, *to = &c[i + (long)j * ldc];
      for (int l = 0; l < k; l++)
        sum += at(a, lda, opa, i, l) * at(b, ldb, opb, l, j);
      *to = *alpha * sum + (*beta != 0 ? *beta * *to : 0);
    }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t op,
                              int m, int n, const double *alpha,
                              const double *a, int lda, const double *x,
                              int incx, const double *beta, double *y,
                              int incy) {
  if (incx != 1 || incy != 1)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
  return cublasDgemm_v2(handle, op, CUBLAS_OP_N, rows, 1, columns, alpha, a,
                        lda, x, columns, beta, y, rows);
}

static cublasStatus_t rank_k(cublasFillMode_t fill, cublasOperation_t op, int n,
                             int k, const double *alpha, const double *a,
                             int lda, const double *b, int ldb, bool both,
                             const double *beta, double *c, int ldc) {
  if (fill != CUBLAS_FILL_MODE_UPPER)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  cublasOperation_t other = op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++) {
      double sum = 0, *to = &c[i + (long)j * ldc];
      for (int l = 0; l < k; l++) {
        sum += at(a, lda, op, i, l) * at(b, ldb, other, l, j);
        if (both)
          sum += at(b, ldb, op, i, l) * at(a, lda, other, l, j);
      }
      *to = *alpha * sum + *beta * *to;
    }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDsyrk_v2(cublasHandle_t handle, cublasFillMode_t fill,
                              cublasOperation_t op, int n, int k,
                              const double *alpha, const double *a, int lda,
                              const double *beta, double *c, int ldc) {
  (void)handle;
  return rank_k(fill, op, n, k, alpha, a, lda, a, lda, false, beta, c, ldc);
}

cublasStatus_t cublasDsyr2k_v2(cublasHandle_t handle, cublasFillMode_t fill,
                               cublasOperation_t op, int n, int k,
                               const double *alpha, const double *a, int lda,
                               const double *b, int ldb, const double *beta,
                               double *c, int ldc) {
  (void)handle;
  return rank_k(fill, op, n, k, alpha, a, lda, b, ldb, true, beta, c, ldc);
}

cublasStatus_t cublasDsymm_v2(cublasHandle_t handle, cublasSideMode_t side,
                              cublasFillMode_t fill, int m, int n,
                              const double *alpha, const double *a, int lda,
                              const double *b, int ldb, const double *beta,
                              double *c, int ldc) {
  (void)handle;
  if (side != CUBLAS_SIDE_RIGHT || fill != CUBLAS_FILL_MODE_UPPER)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = 0, *to = &c[i + (long)j * ldc];
      for (int l = 0; l < n; l++)
        sum += b[i + (long)l * ldb] *
               (l <= j ? a[l + (long)j * lda] : a[j + (long)l * lda]);
      *to = *alpha * sum + *beta * *to;
    }
  return CUBLAS_STATUS_SUCCESS;
}

/* C := alpha B op(A), A upper triangular with ones on its diagonal; C may be
 * B. */
cublasStatus_t cublasDtrmm_v2(cublasHandle_t handle, cublasSideMode_t side,
                              cublasFillMode_t fill, cublasOperation_t op,
                              cublasDiagType_t diagonal, int m, int n,
                              const double *alpha, const double *a, int lda,
                              const double *b, int ldb, double *c, int ldc) {
  (void)handle;
  if (side != CUBLAS_SIDE_RIGHT || fill != CUBLAS_FILL_MODE_UPPER ||
      diagonal != CUBLAS_DIAG_UNIT)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  double *result = malloc(sizeof(double) * (size_t)m * (size_t)n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = b[i + (long)j * ldb];
      for (int l = 0; l < n; l++)
        if (op == CUBLAS_OP_N ? l < j : l > j)
          sum += b[i + (long)l * ldb] * at(a, lda, op, l, j);
      result[i + (long)j * m] = *alpha * sum;
    }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      c[i + (long)j * ldc] = result[i + (long)j * m];
  free(result);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDtrsv_v2(cublasHandle_t handle, cublasFillMode_t fill,
                              cublasOperation_t op, cublasDiagType_t diagonal,
                              int n, const double *a, int lda, double *x,
                              int incx) {
  (void)handle;
  if (fill != CUBLAS_FILL_MODE_UPPER || op != CUBLAS_OP_T ||
      diagonal != CUBLAS_DIAG_NON_UNIT || incx != 1)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++)
      x[i] -= at(a, lda, op, i, j) * x[j];
    x[i] /= at(a, lda, op, i, i);
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDger_v2(cublasHandle_t handle, int m, int n,
                             const double *alpha, const double *x, int incx,
                             const double *y, int incy, double *a, int lda) {
  (void)handle;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      a[i + (long)j * lda] += *alpha * x[i * incx] * y[j * incy];
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDaxpy_v2(cublasHandle_t handle, int n, const double *alpha,
                              const double *x, int incx, double *y, int incy) {
  (void)handle;
  for (int i = 0; i < n; i++)
    y[i * incy] += *alpha * x[i * incx];
  return CUBLAS_STATUS_SUCCESS;
}
