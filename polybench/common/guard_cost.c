/* guard_cost.c: what it costs to ask whether a small region is worth a device,
 * and to be told that it is not: nanoseconds of the first time, and of a later
 * one in the median of many rounds, as one line of CSV.
 *
 *     clang-22 -O2 -I include polybench/common/guard_cost.c -lpacc_rt
 */
#include "pacc/abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 101, CALLS = 10000, KERNELS = 2 };

static struct pacc_image image = {
    .abi = &PACC_ABI_SYMBOL, .name = "guard_cost.c", .arch = "sm_90"};
static struct pacc_region region = {.image = &image, .name = "guard_cost"};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_value(const void *l, const void *r) {
  double a = *(const double *)l, b = *(const double *)r;
  return (a > b) - (a < b);
}

int main(void) {
  static double ns[ROUNDS];
  double first = 0;
  const struct pacc_size sizes[KERNELS] = {{1000, 1, 1000, 0},
                                           {1000, 1, 1000, 0}};
  for (int round = -1; round < ROUNDS; round++) {
    double start = now();
    for (int i = 0; i < (round < 0 ? 1 : CALLS); i++) {
      if (__pacc_rt_worth(&region, sizes, KERNELS, 16000)) {
        fprintf(stderr, "guard_cost: the device was chosen\n");
        return 1;
      }
      __pacc_rt_host_begin(&region);
      __pacc_rt_host_end(&region);
    }
    if (round < 0)
      first = now() - start;
    else
      ns[round] = (now() - start) / (double)CALLS;
  }
  qsort(ns, ROUNDS, sizeof *ns, by_value);
  printf("%.0f,%.1f\n", first, ns[ROUNDS / 2]);
  return 0;
}
