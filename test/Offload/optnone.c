/* Functions with optnone are left alone; so is everything at -O0.
 * RUN: %same --regions 1 %t %s
 * RUN: %same --regions 0 --flag=-O0 %t %s
 */
#include "Inputs/show.h"

enum { N = 100 };
static double a[N];

PLAIN static void slow(int n) {
  for (int i = 0; i < n; i++)
    a[i] += 1.0;
}

APART static void fast(int n) {
  for (int i = 0; i < n; i++)
    a[i] *= 2.0;
}

int main(void) {
  FILL(a);
  slow(opaque(N));
  fast(opaque(N));
  SHOW(a);
  return 0;
}
