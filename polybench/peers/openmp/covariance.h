/* the covariance matrix of the columns of data */
OMP_DATA(map(tofrom : data[:n]) map(from : cov[:m], mean[:m])) {
  OMP_LOOP
  for (int j = 0; j < m; j++) {
    DATA_TYPE sum = 0;
    for (int i = 0; i < n; i++)
      sum += data[i][j];
    mean[j] = sum / float_n;
  }
  OMP_LOOPS
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      data[i][j] -= mean[j];
  OMP_LOOPS
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      if (j >= i) {
        DATA_TYPE sum = 0;
        for (int k = 0; k < n; k++)
          sum += data[k][i] * data[k][j];
        cov[i][j] = cov[j][i] = sum / (float_n - 1);
      }
}
