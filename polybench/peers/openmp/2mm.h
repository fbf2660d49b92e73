/* D := alpha A B C + beta D */
OMP_DATA(map(to : A[:ni], B[:nk], C[:nj]) map(from : tmp[:ni])
             map(tofrom : D[:ni])) {
  OMP_LOOPS
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nj; j++) {
      DATA_TYPE sum = 0;
      for (int k = 0; k < nk; k++)
        sum += alpha * A[i][k] * B[k][j];
      tmp[i][j] = sum;
    }
  OMP_LOOPS
  for (int i = 0; i < ni; i++)
    for (int j = 0; j < nl; j++) {
      DATA_TYPE sum = beta * D[i][j];
      for (int k = 0; k < nj; k++)
        sum += tmp[i][k] * C[k][j];
      D[i][j] = sum;
    }
}
