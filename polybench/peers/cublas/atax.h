/* y := A' (A x) */
DATA_TYPE one = 1, zero = 0;
BLAS_IN(0, A, m, n);
BLAS_IN(1, x, n, 1);
BLAS_LOCAL(2, tmp, m, 1);
BLAS_LOCAL(3, y, n, 1);
BLAS(gemv, YES, n, m, &one, dev_A, n, dev_x, 1, &zero, dev_tmp, 1);
BLAS(gemv, NO, n, m, &one, dev_A, n, dev_tmp, 1, &zero, dev_y, 1);
BLAS_OUT(y, n, 1);
