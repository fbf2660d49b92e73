/* C := alpha (A B' + B A') + beta C, lower triangle */
OMP_DATA(map(to : A[:n], B[:n]) map(tofrom : C[:n]))
OMP_LOOPS
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    if (j <= i) {
      DATA_TYPE sum = beta * C[i][j];
      for (int k = 0; k < m; k++)
        sum += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
      C[i][j] = sum;
    }
