// What a program does not write is not written back, and what only a condition
// protects from being accessed is not accessed: arrays whose elements
// alternate, threads that each have their own elements, tables in read-only
// memory, and arrays that are shorter than the loop.
//
// RUN: %pacc_cc %s -o %t %rtlib -lpthread
// RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=0 PACC_LOG=info %t 2>&1 | FileCheck %s
// RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=1 %t
// RUN: env PACC_DEVICE=host %t
//
// CHECK-DAG: {{^}}pacc: alternate_scop{{.*}}: 1 launch,
// CHECK-DAG: {{^}}pacc: clamp_scop{{.*}}: 1 launch,
// CHECK-DAG: {{^}}pacc: chosen_scop{{.*}}: array {{.*}} is accessed under
// conditions only, and not all of what that could reach is memory; the original
// loops run instead
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 4000 };

__attribute__((noinline)) void alternate(double *restrict a, double *restrict b,
                                         int n) {
  for (int i = 0; i < n; i++) {
    a[2 * i] = i;
    b[2 * i] = i + 0.5;
  }
}

__attribute__((noinline)) void increment(double *a, int n) {
  for (int i = 0; i < n; i++)
    a[2 * i] += 1;
}

__attribute__((noinline)) void clamp(double *a, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] < 0)
      a[i] = 0;
}

__attribute__((noinline)) void chosen(double *restrict to,
                                      const double *restrict from,
                                      const int *restrict ok, int n) {
  for (int i = 0; i < n; i++)
    if (ok[i])
      to[i] = 2 * from[i];
}

static double shared[2 * N];
static const double table[N] = {1, 2, 3};
static int failures;

static void check(const char *what, int right) {
  if (!right) {
    fprintf(stderr, "wrong: %s\n", what);
    failures = 1;
  }
}

static void *work(void *first) {
  for (int k = 0; k < 20; k++)
    increment(first, N);
  return NULL;
}

int main(void) {
  static double a[2 * N];
  alternate(a, a + 1, N - 1);
  int right = 1;
  for (int i = 0; i < N - 1; i++)
    right &= a[2 * i] == i && a[2 * i + 1] == i + 0.5;
  check("two arrays in one", right);

  pthread_t threads[2];
  for (int t = 0; t < 2; t++)
    pthread_create(&threads[t], NULL, work, shared + t);
  for (int t = 0; t < 2; t++)
    pthread_join(threads[t], NULL);
  right = 1;
  for (int i = 0; i < 2 * N; i++)
    right &= shared[i] == 20;
  check("two threads in one array", right);

  // Read-only memory, in which there is nothing to change.
  clamp((double *)(void *)table, N);
  double negative[3] = {-1, 5, -7};
  clamp(negative, 3);
  check("changed values", negative[0] == 0 && negative[1] == 5 &&
                              negative[2] == 0 && table[1] == 2);

  // `from` ends where memory ends; the condition keeps the loop within.
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + page, page);
  double *from = (double *)(void *)(pages + page) - 10;
  static double to[N];
  static int ok[N];
  for (int i = 0; i < 10; i++) {
    from[i] = i;
    ok[i] = 1;
  }
  chosen(to, from, ok, N);
  right = to[10] == 0;
  for (int i = 0; i < 10; i++)
    right &= to[i] == 2 * i;
  check("a short array", right);
  return failures;
}
