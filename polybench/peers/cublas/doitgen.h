/* A[r][q] := A[r][q] C4 for all r and q */
DATA_TYPE one = 1, zero = 0;
int rows = nr * nq;
BLAS_IN(0, A, rows, np);
BLAS_IN(1, C4, np, np);
BLAS_LOCAL(2, sum, rows, np);
BLAS(gemm, NO, NO, np, rows, np, &one, dev_C4, np, dev_A, np, &zero, dev_sum,
     np);
blas_out(A, dev_sum, blas_bytes(rows, np));
