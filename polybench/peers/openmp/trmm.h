/* B := alpha A' B, A lower triangular with ones on its diagonal */
OMP_DATA(map(to : A[:m]) map(tofrom : B[:m]))
OMP_LOOP
for (int j = 0; j < n; j++)
  for (int i = 0; i < m; i++) {
    DATA_TYPE sum = B[i][j];
    for (int k = i + 1; k < m; k++)
      sum += A[k][i] * B[k][j];
    B[i][j] = alpha * sum;
  }
