/* C := alpha A A' + beta C, lower triangle */
OMP_DATA(map(to : A[:n]) map(tofrom : C[:n]))
OMP_LOOPS
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    if (j <= i) {
      DATA_TYPE sum = beta * C[i][j];
      for (int k = 0; k < m; k++)
        sum += alpha * A[i][k] * A[j][k];
      C[i][j] = sum;
    }
