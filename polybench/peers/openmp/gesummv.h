/* y := alpha A x + beta B x */
OMP_DATA(map(to : A[:n], B[:n], x[:n]) map(from : y[:n], tmp[:n]))
OMP_LOOP
for (int i = 0; i < n; i++) {
  DATA_TYPE a = 0, b = 0;
  for (int j = 0; j < n; j++) {
    a += A[i][j] * x[j];
    b += B[i][j] * x[j];
  }
  tmp[i] = a;
  y[i] = alpha * a + beta * b;
}
