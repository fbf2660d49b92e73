/* x1 := x1 + A y_1, x2 := x2 + A' y_2 */
OMP_DATA(map(to : A[:n], y_1[:n], y_2[:n]) map(tofrom : x1[:n], x2[:n])) {
  OMP_LOOP
  for (int i = 0; i < n; i++) {
    DATA_TYPE sum = x1[i];
    for (int j = 0; j < n; j++)
      sum += A[i][j] * y_1[j];
    x1[i] = sum;
  }
  OMP_LOOP
  for (int i = 0; i < n; i++) {
    DATA_TYPE sum = x2[i];
    for (int j = 0; j < n; j++)
      sum += A[j][i] * y_2[j];
    x2[i] = sum;
  }
}
