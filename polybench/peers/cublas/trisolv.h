/* solves L x = b */
BLAS_IN(0, L, n, n);
DATA_TYPE *dev_x = blas_in(1, b, blas_bytes(n, 1));
BLAS(trsv, UPPER, YES, CUBLAS_DIAG_NON_UNIT, n, dev_L, n, dev_x, 1);
BLAS_OUT(x, n, 1);
