/* E := A B, F := C D, G := E F */
#define PRODUCT(P, L, R, rows, columns, inner)                                 \
  OMP_LOOPS                                                                    \
  for (int i = 0; i < rows; i++)                                               \
    for (int j = 0; j < columns; j++) {                                        \
      DATA_TYPE sum = 0;                                                       \
      for (int k = 0; k < inner; k++)                                          \
        sum += L[i][k] * R[k][j];                                              \
      P[i][j] = sum;                                                           \
    }

OMP_DATA(map(to : A[:ni], B[:nk], C[:nj], D[:nm])
             map(from : E[:ni], F[:nj], G[:ni])) {
  PRODUCT(E, A, B, ni, nj, nk)
  PRODUCT(F, C, D, nj, nl, nm)
  PRODUCT(G, E, F, ni, nl, nj)
}
#undef PRODUCT
