/* C := alpha A B + beta C; A is symmetric, its lower triangle is stored */
BLAS_IN(0, A, m, m);
BLAS_IN(1, B, m, n);
BLAS_IN(2, C, m, n);
BLAS(symm, CUBLAS_SIDE_RIGHT, UPPER, n, m, &alpha, dev_A, m, dev_B, n, &beta,
     dev_C, n);
BLAS_OUT(C, m, n);
