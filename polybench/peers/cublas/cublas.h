/* cublas.h: what the kernels of this folder share. A file NAME.h is the body of
 * kernel_NAME(), whose parameters it uses.
 *
 * cuBLAS stores matrices by columns: a matrix of ours, stored by rows, is its
 * transpose there. So a product is asked for as C' = B' A', and the lower
 * triangle is the upper one.
 */
#ifndef PEERS_CUBLAS_H
#define PEERS_CUBLAS_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef DATA_TYPE_IS_FLOAT
#define BLAS(routine, ...)                                                     \
  blas_check(cublasS##routine(blas_handle(), __VA_ARGS__))
#else
#define BLAS(routine, ...)                                                     \
  blas_check(cublasD##routine(blas_handle(), __VA_ARGS__))
#endif

static void blas_check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
    exit(1);
  }
}

static void blas_check_cuda(cudaError_t status) {
  if (status != cudaSuccess) {
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
    exit(1);
  }
}

static cublasHandle_t blas_handle(void) {
  static cublasHandle_t handle;
  if (!handle)
    blas_check(cublasCreate(&handle));
  return handle;
}

/* Device memory of `bytes` bytes, one piece per slot, kept for later runs. */
static void *blas_memory(int slot, size_t bytes) {
  enum { SLOTS = 16 };
  static void *memory[SLOTS];
  if (!memory[slot])
    blas_check_cuda(cudaMalloc(&memory[slot], bytes));
  return memory[slot];
}

/* A copy of `bytes` bytes at `host` on the device. */
static void *blas_in(int slot, const void *host, size_t bytes) {
  void *device = blas_memory(slot, bytes);
  blas_check_cuda(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
  return device;
}

static void blas_out(void *host, const void *device, size_t bytes) {
  blas_check_cuda(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

#define blas_bytes(rows, columns)                                              \
  ((size_t)(rows) * (size_t)(columns) * sizeof(DATA_TYPE))

/* The array `name` on the device, as dev_name: a copy, or memory without
 * values; and the way back. A vector is a matrix of one column. */
#define BLAS_IN(slot, name, rows, columns)                                     \
  DATA_TYPE *dev_##name = blas_in(slot, name, blas_bytes(rows, columns))
#define BLAS_LOCAL(slot, name, rows, columns)                                  \
  DATA_TYPE *dev_##name = blas_memory(slot, blas_bytes(rows, columns))
#define BLAS_OUT(name, rows, columns)                                          \
  blas_out(name, dev_##name, blas_bytes(rows, columns))

#define NO CUBLAS_OP_N
#define YES CUBLAS_OP_T
#define UPPER CUBLAS_FILL_MODE_UPPER

#endif
