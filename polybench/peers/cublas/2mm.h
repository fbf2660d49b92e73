/* tmp := alpha A B, D := tmp C + beta D */
DATA_TYPE one = 1, zero = 0;
BLAS_IN(0, A, ni, nk);
BLAS_IN(1, B, nk, nj);
BLAS_IN(2, C, nj, nl);
BLAS_IN(3, D, ni, nl);
BLAS_LOCAL(4, tmp, ni, nj);
BLAS(gemm, NO, NO, nj, ni, nk, &alpha, dev_B, nj, dev_A, nk, &zero, dev_tmp,
     nj);
BLAS(gemm, NO, NO, nl, ni, nj, &one, dev_C, nl, dev_tmp, nj, &beta, dev_D, nl);
BLAS_OUT(D, ni, nl);
