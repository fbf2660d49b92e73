/* Addresses as values: stored, loaded and compared. On the device they would
 * be those of another memory, so such loops stay with the host.
 * RUN: %same --regions 0 %t %s
 */
#include "Inputs/show.h"

enum { N = 100 };
static double a[N];
static double *p[N];
static uintptr_t number[N];
static int inside[N];

APART static void store(int n) {
  for (int i = 0; i < n; i++)
    p[i] = &a[(i * 7) % N];
}

APART static void follow(int n) {
  for (int i = 0; i < n; i++)
    *p[i] += 1.0;
}

APART static void numbers(int n, double *x) {
  for (int i = 0; i < n; i++)
    number[i] = (uintptr_t)&x[i];
}

APART static void compare(int n, double *limit) {
  for (int i = 0; i < n; i++)
    inside[i] = &a[i] < limit;
}

int main(void) {
  FILL(a);
  int n = opaque(N);
  store(n);
  follow(n);
  numbers(n, a);
  compare(n, a + n / 2);
  for (int i = 0; i < N; i++)
    number[i] -= (uintptr_t)a;
  SHOW(a);
  SHOW(number);
  SHOW(inside);
  return 0;
}
