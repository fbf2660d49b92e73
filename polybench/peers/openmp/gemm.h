/* C := alpha A B + beta C */
OMP_DATA(map(to : A[:ni], B[:nk]) map(tofrom : C[:ni]))
OMP_LOOPS
for (int i = 0; i < ni; i++)
  for (int j = 0; j < nj; j++) {
    DATA_TYPE sum = beta * C[i][j];
    for (int k = 0; k < nk; k++)
      sum += alpha * A[i][k] * B[k][j];
    C[i][j] = sum;
  }
