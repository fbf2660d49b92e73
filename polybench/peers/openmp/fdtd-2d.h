/* tmax steps of Maxwell's equations in two dimensions */
OMP_DATA(map(to : _fict_[:tmax]) map(tofrom : ex[:nx], ey[:nx], hz[:nx]))
for (int t = 0; t < tmax; t++) {
  OMP_LOOPS
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++) {
      ey[i][j] = i == 0
                     ? _fict_[t]
                     : ey[i][j] - SCALAR_VAL(0.5) * (hz[i][j] - hz[i - 1][j]);
      if (j > 0)
        ex[i][j] = ex[i][j] - SCALAR_VAL(0.5) * (hz[i][j] - hz[i][j - 1]);
    }
  OMP_LOOPS
  for (int i = 0; i < nx - 1; i++)
    for (int j = 0; j < ny - 1; j++)
      hz[i][j] = hz[i][j] - SCALAR_VAL(0.7) * (ex[i][j + 1] - ex[i][j] +
                                               ey[i + 1][j] - ey[i][j]);
}
