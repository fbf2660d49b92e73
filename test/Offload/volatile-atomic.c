/* Volatile and atomic accesses stay where they are.
 * RUN: %same --regions 0 %t %s
 */
#include "Inputs/show.h"
#include <stdatomic.h>

enum { N = 100 };
static volatile int v[N];
static _Atomic int counted[N];
static int plain[N];

APART static void touch(int n) {
  for (int i = 0; i < n; i++)
    plain[i] = v[i] + v[i];
}

APART static void count(int n) {
  for (int i = 0; i < n; i++)
    counted[i % 10] += plain[i];
}

APART static void relaxed(int n) {
  for (int i = 0; i < n; i++)
    atomic_store_explicit(&counted[i], plain[i] + i, memory_order_relaxed);
}

int main(void) {
  for (int i = 0; i < N; i++)
    v[i] = i * i;
  touch(opaque(N));
  count(opaque(N));
  SHOW(counted);
  relaxed(opaque(N));
  SHOW(counted);
  SHOW(plain);
  return 0;
}
