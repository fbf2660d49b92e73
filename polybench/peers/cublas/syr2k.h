/* C := alpha (A B' + B A') + beta C, lower triangle */
BLAS_IN(0, A, n, m);
BLAS_IN(1, B, n, m);
BLAS_IN(2, C, n, n);
BLAS(syr2k, UPPER, YES, n, m, &alpha, dev_A, m, dev_B, m, &beta, dev_C, n);
BLAS_OUT(C, n, n);
