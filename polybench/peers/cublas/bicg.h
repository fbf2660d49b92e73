/* s := A' r, q := A p */
DATA_TYPE one = 1, zero = 0;
BLAS_IN(0, A, n, m);
BLAS_IN(1, r, n, 1);
BLAS_IN(2, p, m, 1);
BLAS_LOCAL(3, s, m, 1);
BLAS_LOCAL(4, q, n, 1);
BLAS(gemv, NO, m, n, &one, dev_A, m, dev_r, 1, &zero, dev_s, 1);
BLAS(gemv, YES, m, n, &one, dev_A, m, dev_p, 1, &zero, dev_q, 1);
BLAS_OUT(s, m, 1);
BLAS_OUT(q, n, 1);
