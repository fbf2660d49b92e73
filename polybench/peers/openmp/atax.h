/* y := A' (A x) */
OMP_DATA(map(to : A[:m], x[:n]) map(from : y[:n], tmp[:m])) {
  OMP_LOOP
  for (int i = 0; i < m; i++) {
    DATA_TYPE sum = 0;
    for (int j = 0; j < n; j++)
      sum += A[i][j] * x[j];
    tmp[i] = sum;
  }
  OMP_LOOP
  for (int j = 0; j < n; j++) {
    DATA_TYPE sum = 0;
    for (int i = 0; i < m; i++)
      sum += A[i][j] * tmp[i];
    y[j] = sum;
  }
}
