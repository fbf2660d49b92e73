/* A[r][q] := A[r][q] C4 for all r and q */
DATA_TYPE (*result)[NQ][NP] = malloc((size_t)nr * sizeof *result);
OMP_DATA(map(to : C4[:np]) map(tofrom : A[:nr]) map(alloc : result[:nr])) {
  OMP_TEXT(omp target teams distribute parallel for collapse(3))
  for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++)
      for (int p = 0; p < np; p++) {
        DATA_TYPE value = 0;
        for (int s = 0; s < np; s++)
          value += A[r][q][s] * C4[s][p];
        result[r][q][p] = value;
      }
  OMP_TEXT(omp target teams distribute parallel for collapse(3))
  for (int r = 0; r < nr; r++)
    for (int q = 0; q < nq; q++)
      for (int p = 0; p < np; p++)
        A[r][q][p] = result[r][q][p];
}
free(result);
