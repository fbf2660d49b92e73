/* y := alpha A x + beta B x */
DATA_TYPE one = 1, zero = 0;
BLAS_IN(0, A, n, n);
BLAS_IN(1, B, n, n);
BLAS_IN(2, x, n, 1);
BLAS_LOCAL(3, y, n, 1);
BLAS(gemv, YES, n, n, &alpha, dev_A, n, dev_x, 1, &zero, dev_y, 1);
BLAS(gemv, YES, n, n, &beta, dev_B, n, dev_x, 1, &one, dev_y, 1);
BLAS_OUT(y, n, 1);
