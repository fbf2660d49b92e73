/* A := A + u1 v1' + u2 v2', x := x + beta A' y + z, w := w + alpha A x */
OMP_DATA(map(to : u1[:n], v1[:n], u2[:n], v2[:n], y[:n], z[:n])
             map(tofrom : A[:n], x[:n], w[:n])) {
  OMP_LOOPS
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  OMP_LOOP
  for (int i = 0; i < n; i++) {
    DATA_TYPE sum = x[i];
    for (int j = 0; j < n; j++)
      sum += beta * A[j][i] * y[j];
    x[i] = sum + z[i];
  }
  OMP_LOOP
  for (int i = 0; i < n; i++) {
    DATA_TYPE sum = w[i];
    for (int j = 0; j < n; j++)
      sum += alpha * A[i][j] * x[j];
    w[i] = sum;
  }
}
