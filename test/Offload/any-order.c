/* Sums, products, extrema and bits that a whole nest computes: in any order,
 * by all threads.
 * RUN: %same --regions 11 %t %s | FileCheck %s
 * RUN: %same --regions 11 --plugin-flag=-mllvm --plugin-flag=-polly-acc-block-size=7x3 %t %s
 * CHECK-DAG: offloaded region 'total_scop
 * CHECK-DAG: offloaded region 'nest_scop
 * CHECK-DAG: offloaded region 'several_scop
 * CHECK-DAG: offloaded region 'extrema_scop
 * CHECK-DAG: offloaded region 'product_scop
 * CHECK-DAG: offloaded region 'narrow_scop
 * CHECK-DAG: offloaded region 'condition_scop
 * CHECK-DAG: offloaded region 'element_scop
 * CHECK-DAG: offloaded region 'beside_scop
 * CHECK-DAG: offloaded region 'one_of_two_scop
 * CHECK-DAG: offloaded region 'swapped_scop
 */
#include "Inputs/show.h"

enum { N = 150, M = 43 };
static int a[N], b[N], grid[N][M], slots[8];
static unsigned char bytes[N];
static long wide[N];

APART static int total(int n) {
  int s = 5;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

APART static long nest(int n, int m) {
  long s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      s -= grid[i][j] * (long)(i + j);
  return s;
}

/* Two values, and a parallel store beside them. */
APART static int several(int n) {
  int s = 0;
  unsigned x = 1;
  for (int i = 0; i < n; i++) {
    b[i] = a[i] * 3;
    s += b[i];
    x ^= (unsigned)a[i] << (i % 8);
  }
  return s + (int)x;
}

APART static int extrema(int n) {
  int low = a[0], high = a[0];
  for (int i = 0; i < n; i++) {
    low = a[i] < low ? a[i] : low;
    high = a[i] > high ? a[i] : high;
  }
  return 1000 * high + low;
}

APART static unsigned product(int n) {
  unsigned p = 3;
  for (int i = 0; i < n; i++)
    p *= 2 * (unsigned)a[i] + 1;
  return p;
}

APART static unsigned char narrow(int n) {
  unsigned char s = 7;
  for (int i = 0; i < n; i++)
    s += bytes[i];
  return s;
}

/* Where it does not happen, nothing is added. */
APART static long condition(int n) {
  long s = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0)
      s += wide[i];
  return s;
}

/* In memory from the start, and used on the device afterwards. */
APART static void element(int n) {
  for (int i = 0; i < n; i++)
    slots[3] |= a[i] & 0xff0;
  for (int i = 0; i < n; i++)
    b[i] = slots[3] + i;
}

APART static int beside(int n, int m) {
  int s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      grid[i][j] += i - j;
      s += grid[i][j];
    }
  return s;
}

/* Threads that read the array beside the sum update it at once. */
APART static void one_of_two(int n) {
  for (int i = 0; i < n; i++) {
    slots[0] += a[i];
    b[i] = slots[1] * i;
  }
}

static short factors[2];
APART static void swapped(int n) {
  for (int i = 0; i < n; i++) {
    factors[0] = (short)(factors[0] * (2 * i + 1));
    b[i] -= factors[1];
  }
}

PLAIN static void prepare(void) {
  unsigned state = 1;
  for (int i = 0; i < N; i++) {
    state = state * 1664525u + 1013904223u;
    a[i] = (int)(state >> 20) - 2048;
    bytes[i] = (unsigned char)(state >> 9);
    wide[i] = (long)state * 1000003;
    for (int j = 0; j < M; j++)
      grid[i][j] = (int)((state >> (j % 16)) & 1023) - 512;
  }
}

int main(void) {
  prepare();
  int n = opaque(N), m = opaque(M);
  printf("%d %ld %d\n", total(n), nest(n, m), several(n));
  SHOW(b);
  printf("%d %u %d %ld\n", extrema(n), product(n), narrow(n), condition(n));
  element(n);
  SHOW(slots);
  SHOW(b);
  printf("%d\n", beside(n, m));
  SHOW(grid);
  slots[1] = opaque(7);
  one_of_two(n);
  SHOW(slots);
  SHOW(b);
  factors[0] = (short)opaque(5);
  factors[1] = (short)opaque(9);
  swapped(n);
  SHOW(factors);
  SHOW(b);
  return 0;
}
