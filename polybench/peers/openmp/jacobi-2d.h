/* tsteps times: the mean of five points, from A to B and back */
#define STEP(to, from)                                                         \
  OMP_LOOPS                                                                    \
  for (int i = 1; i < n - 1; i++)                                              \
    for (int j = 1; j < n - 1; j++)                                            \
      to[i][j] =                                                               \
          SCALAR_VAL(0.2) * (from[i][j] + from[i][j - 1] + from[i][j + 1] +    \
                             from[i + 1][j] + from[i - 1][j]);

OMP_DATA(map(tofrom : A[:n], B[:n]))
for (int t = 0; t < tsteps; t++) {
  STEP(B, A)
  STEP(A, B)
}
#undef STEP
