void scale(int n, const double *restrict from, double *restrict to) {
  for (int i = 0; i < n; i++)
    to[i] = 3.0 * from[i];
}
