/* Arrays of structs whose members differ in width: elements of the device's
 * array are as small as the smallest member, and accesses have several.
 *
 * RUN: %pacc_cc -ffp-contract=off -mllvm -polly-acc-fma=off %s -o %t %rtlib -Rpass=polly-acc 2>&1 | FileCheck %s
 * RUN: env PACC_DEVICE=host %t > %t.host
 * RUN: env PACC_DEVICE=cpu %t 2>&1 | cmp - %t.host
 * RUN: env PACC_DEVICE=cpu PACC_CPU_SEED=1 %t 2>&1 | cmp - %t.host
 *
 * CHECK-DAG: offloaded region 'misplaced_
 * CHECK-DAG: offloaded region 'forwarded_
 * CHECK-DAG: offloaded region 'parts_
 */
#include <stdint.h>
#include <stdio.h>

enum { N = 40 };
struct small {
  uint8_t x, y;
  float z;
};
struct large {
  uint64_t x;
  int8_t y;
};
static struct small small[N];
static struct large large[N];
static uint64_t cubes[N * N * N];

/* The first byte that is needed is no place for a float. */
__attribute__((noinline)) void misplaced(int n, struct small *a) {
  for (int i = 2; i < n; i++)
    a[i].z += a[i].y;
}

/* The last element is read once, as the value of a later statement. */
__attribute__((noinline)) void forwarded(int n, int m, uint64_t *restrict out,
                                         struct large *restrict a) {
  uint64_t s = 2;
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i + 1; j++) {
      s = ~(uint64_t)m >> 1;
      out[(i * (m + 18) + j) * (m + 18) + j] +=
          (((a[i].y >= i) ? 100 : (uint64_t)i) * (a[i + 1].x * a[j + 4].x)) *
              ~a[j].x -
          s;
      out[(i * (m + 18) + j) * (m + 18) + j] =
          (a[i + 1].x | (((uint64_t)i << 3) & (a[j].x * a[i].x))) + s;
    }
  for (int i = 1; i < n; i++)
    for (int j = 0; j <= n - 2 - 1; j++)
      out[(i * (m + 18) + j) * (m + 18) + j] +=
          (3 ^ a[j + 1].x) & (uint64_t)(int64_t)a[j + 1].y;
}

/* One byte of what is read next to it changes. */
__attribute__((noinline)) void parts(int n, uint64_t *restrict words,
                                     uint64_t *restrict out) {
  uint8_t *bytes = (uint8_t *)words;
  for (int i = 0; i < n; i++) {
    uint64_t before = words[i];
    bytes[8 * i + 3] = (uint8_t)i;
    out[i] = before * 3 + words[i];
  }
}

int main(void) {
  static uint64_t words[N], sums[N];
  for (int i = 0; i < N; i++) {
    small[i] = (struct small){(uint8_t)i, (uint8_t)(i * 7 % 31), i * 0.5f};
    large[i] = (struct large){(uint64_t)i * 77777777777u, (int8_t)(i * 5 % 90)};
    words[i] = (uint64_t)i * 1234567890123u;
  }
  misplaced(N, small);
  forwarded(19, 1, cubes, large);
  parts(N, words, sums);
  for (int i = 0; i < N; i++)
    printf("%d %d %a %llx %llx\n", small[i].x, small[i].y, (double)small[i].z,
           (unsigned long long)words[i], (unsigned long long)sums[i]);
  for (int i = 0; i < N * N * N; i++)
    printf("%llx\n", (unsigned long long)cubes[i]);
}
