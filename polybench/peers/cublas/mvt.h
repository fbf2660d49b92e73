/* x1 := x1 + A y_1, x2 := x2 + A' y_2 */
DATA_TYPE one = 1;
BLAS_IN(0, A, n, n);
BLAS_IN(1, y_1, n, 1);
BLAS_IN(2, y_2, n, 1);
BLAS_IN(3, x1, n, 1);
BLAS_IN(4, x2, n, 1);
BLAS(gemv, YES, n, n, &one, dev_A, n, dev_y_1, 1, &one, dev_x1, 1);
BLAS(gemv, NO, n, n, &one, dev_A, n, dev_y_2, 1, &one, dev_x2, 1);
BLAS_OUT(x1, n, 1);
BLAS_OUT(x2, n, 1);
