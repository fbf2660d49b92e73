/* E := A B, F := C D, G := E F */
DATA_TYPE one = 1, zero = 0;
BLAS_IN(0, A, ni, nk);
BLAS_IN(1, B, nk, nj);
BLAS_IN(2, C, nj, nm);
BLAS_IN(3, D, nm, nl);
BLAS_LOCAL(4, E, ni, nj);
BLAS_LOCAL(5, F, nj, nl);
BLAS_LOCAL(6, G, ni, nl);
BLAS(gemm, NO, NO, nj, ni, nk, &one, dev_B, nj, dev_A, nk, &zero, dev_E, nj);
BLAS(gemm, NO, NO, nl, nj, nm, &one, dev_D, nl, dev_C, nm, &zero, dev_F, nl);
BLAS(gemm, NO, NO, nl, ni, nj, &one, dev_F, nl, dev_E, nj, &zero, dev_G, nl);
BLAS_OUT(G, ni, nl);
