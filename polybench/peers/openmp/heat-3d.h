/* TSTEPS times: one step of heat flow, from A to B and back */
#define STEP(to, from)                                                         \
  OMP_TEXT(omp target teams distribute parallel for collapse(3))               \
  for (int i = 1; i < n - 1; i++)                                              \
    for (int j = 1; j < n - 1; j++)                                            \
      for (int k = 1; k < n - 1; k++)                                          \
        to[i][j][k] = SCALAR_VAL(0.125) * (from[i + 1][j][k] -                 \
                                           SCALAR_VAL(2.0) * from[i][j][k] +   \
                                           from[i - 1][j][k]) +                \
                      SCALAR_VAL(0.125) * (from[i][j + 1][k] -                 \
                                           SCALAR_VAL(2.0) * from[i][j][k] +   \
                                           from[i][j - 1][k]) +                \
                      SCALAR_VAL(0.125) * (from[i][j][k + 1] -                 \
                                           SCALAR_VAL(2.0) * from[i][j][k] +   \
                                           from[i][j][k - 1]) +                \
                      from[i][j][k];

OMP_DATA(map(tofrom : A[:n], B[:n]))
for (int t = 1; t <= TSTEPS; t++) {
  STEP(B, A)
  STEP(A, B)
}
#undef STEP
