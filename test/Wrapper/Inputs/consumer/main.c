void scale(int n, const double *restrict from, double *restrict to);

int main(void) {
  static double from[5000], to[5000];
  for (int i = 0; i < 5000; i++)
    from[i] = i;
  scale(5000, from, to);
  for (int i = 0; i < 5000; i++)
    if (to[i] != 3.0 * i)
      return 1;
  return 0;
}
