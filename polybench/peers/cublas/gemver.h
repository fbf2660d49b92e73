/* A := A + u1 v1' + u2 v2', x := x + beta A' y + z, w := w + alpha A x */
DATA_TYPE one = 1;
BLAS_IN(0, A, n, n);
BLAS_IN(1, u1, n, 1);
BLAS_IN(2, v1, n, 1);
BLAS_IN(3, u2, n, 1);
BLAS_IN(4, v2, n, 1);
BLAS_IN(5, w, n, 1);
BLAS_IN(6, x, n, 1);
BLAS_IN(7, y, n, 1);
BLAS_IN(8, z, n, 1);
BLAS(ger, n, n, &one, dev_v1, 1, dev_u1, 1, dev_A, n);
BLAS(ger, n, n, &one, dev_v2, 1, dev_u2, 1, dev_A, n);
BLAS(gemv, NO, n, n, &beta, dev_A, n, dev_y, 1, &one, dev_x, 1);
BLAS(axpy, n, &one, dev_z, 1, dev_x, 1);
BLAS(gemv, YES, n, n, &alpha, dev_A, n, dev_x, 1, &one, dev_w, 1);
BLAS_OUT(w, n, 1);
