/* C := alpha A B + beta C */
BLAS_IN(0, A, ni, nk);
BLAS_IN(1, B, nk, nj);
BLAS_IN(2, C, ni, nj);
BLAS(gemm, NO, NO, nj, ni, nk, &alpha, dev_B, nj, dev_A, nk, &beta, dev_C, nj);
BLAS_OUT(C, ni, nj);
