/* C := alpha A A' + beta C, lower triangle */
BLAS_IN(0, A, n, m);
BLAS_IN(1, C, n, n);
BLAS(syrk, UPPER, YES, n, m, &alpha, dev_A, m, &beta, dev_C, n);
BLAS_OUT(C, n, n);
