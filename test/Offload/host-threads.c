/* Host threads in regions at the same time.
 * RUN: %same --regions 40 --flag=-pthread %t %s
 */
#include "Inputs/show.h"
#include <pthread.h>

enum { N = 120, THREADS = 2, ROUNDS = 20 };
static double a[THREADS][N][N], b[THREADS][N][N];

APART static void step(int n, double (*restrict x)[N], double (*restrict y)[N]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      y[i][j] = 0.25 * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]);
}

static void *work(void *argument) {
  int t = (int)(intptr_t)argument;
  for (int round = 0; round < ROUNDS; round++)
    step(opaque(N), round % 2 ? b[t] : a[t], round % 2 ? a[t] : b[t]);
  return NULL;
}

int main(void) {
  FILL(a);
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; t++)
    pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t);
  for (int t = 0; t < THREADS; t++)
    pthread_join(threads[t], NULL);
  SHOW(a);
  SHOW(b);
  return 0;
}
