/* A linearised 5x5 convolution with symbolic sizes compiles in bounded time.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"

enum { N = 60 };
static double in[(N + 4) * (N + 4)], out[N * N], weight[25];

APART static void convolve(int h, int w, const double *restrict x, const double *restrict k,
                           double *restrict y) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      double s = 0.0;
      for (int p = 0; p < 5; p++)
        for (int q = 0; q < 5; q++)
          s += x[(i + p) * (w + 4) + j + q] * k[p * 5 + q];
      y[i * w + j] = s;
    }
}

int main(void) {
  FILL(in);
  FILL(weight);
  convolve(opaque(N), opaque(N), in, weight, out);
  SHOW(out);
  return 0;
}
