/* B := alpha A' B; A is lower triangular with ones on its diagonal */
BLAS_IN(0, A, m, m);
BLAS_IN(1, B, m, n);
BLAS(trmm, CUBLAS_SIDE_RIGHT, UPPER, YES, CUBLAS_DIAG_UNIT, n, m, &alpha, dev_A,
     m, dev_B, n, dev_B, n);
BLAS_OUT(B, m, n);
