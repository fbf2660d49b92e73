/* Subscripts that may leave their rows make dependences of many pieces: taking
 * levels of them apart would go on for minutes.
 * RUN: %same %t %s | FileCheck %s
 * CHECK: loop nest not offloaded: it has no parallel loop
 */
#include "Inputs/show.h"

static double t[39][17], a[17], b[17];

APART static void crossing(int n) {
  for (size_t i = 0; i < n; i += 3) {
    t[i + 2][1] = n * 0.125;
    for (size_t j = 0; j <= n - 1; j++)
      for (size_t k = 0; k <= n - 1; k += 3) {
        double v = b[k] * t[j + 2 * k + 1][k + 3] + 1.5 * a[k + 1];
        if (v > t[i + 1][j])
          t[i + 1][j] = v;
      }
  }
}

int main(void) {
  FILL(a);
  FILL(b);
  crossing(opaque(12));
  SHOW(t);
  return 0;
}
