/* gemm.c: a product of two matrices, for a first try. */
#include <stdio.h>

enum { N = 2000 };
static double a[N][N], b[N][N], c[N][N];

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = i - j;
      b[i][j] = i + j;
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        c[i][j] += a[i][k] * b[k][j];
  printf("%.0f\n", c[N / 2][N / 2]);
  return 0;
}
