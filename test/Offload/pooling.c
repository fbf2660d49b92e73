/* Pooling windows, in[2h+kh][2w+kw], at sizes that are no multiple of a block.
 * RUN: %same --regions 2 %t %s
 */
#include "Inputs/show.h"

enum { C = 3, H = 37, W = 53, K = 3 };
static double in[C][2 * H + K][2 * W + K], most[C][H][W];
static double mean[C][H][W];

APART static void maximum(int c, int h, int w) {
  for (int x = 0; x < c; x++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        double m = in[x][2 * i][2 * j];
        for (int p = 0; p < K; p++)
          for (int q = 0; q < K; q++)
            m = in[x][2 * i + p][2 * j + q] > m ? in[x][2 * i + p][2 * j + q] : m;
        most[x][i][j] = m;
      }
}

APART static void average(int c, int h, int w) {
  for (int x = 0; x < c; x++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        mean[x][i][j] = 0.0;
        for (int p = 0; p < K; p++)
          for (int q = 0; q < K; q++)
            mean[x][i][j] += in[x][2 * i + p][2 * j + q];
        mean[x][i][j] /= K * K;
      }
}

int main(void) {
  FILL(in);
  maximum(opaque(C), opaque(H), opaque(W));
  average(opaque(C), opaque(H), opaque(W));
  SHOW(most);
  SHOW(mean);
  return 0;
}
