/* s := A' r, q := A p */
OMP_DATA(map(to : A[:n], p[:m], r[:n]) map(from : s[:m], q[:n])) {
  OMP_LOOP
  for (int j = 0; j < m; j++) {
    DATA_TYPE sum = 0;
    for (int i = 0; i < n; i++)
      sum += r[i] * A[i][j];
    s[j] = sum;
  }
  OMP_LOOP
  for (int i = 0; i < n; i++) {
    DATA_TYPE sum = 0;
    for (int j = 0; j < m; j++)
      sum += A[i][j] * p[j];
    q[i] = sum;
  }
}
