/* Elements of 1 and 7 bits, and of all whole widths.
 * RUN: %same --regions 5 %t %s
 */
#include "Inputs/show.h"
#include <string.h>

enum { N = 300 };
static _Bool flag[N], other[N];
static int8_t c[N];
static uint8_t uc[N];
static int16_t s[N];
static uint16_t us[N];
static int32_t w[N];
static uint32_t uw[N];
static int64_t l[N];
static uint64_t ul[N];
static unsigned _BitInt(7) seven[N];
static _BitInt(7) signed_seven[N];

APART static void flags(int n) {
  for (int i = 0; i < n; i++) {
    other[i] = !flag[i] || (i & 1);
    flag[i] ^= other[i];
  }
}

APART static void sevens(int n) {
  for (int i = 0; i < n; i++) {
    seven[i] = (unsigned _BitInt(7))(seven[i] * 3u + (unsigned)i);
    signed_seven[i] = (_BitInt(7))(i % 64 - 32);
  }
}

APART static void widths(int n) {
  for (int i = 0; i < n; i++) {
    c[i] = (int8_t)(c[i] * 5 + i);
    uc[i] = (uint8_t)(uc[i] * 5 + i);
    s[i] = (int16_t)(c[i] * 300);
    us[i] = (uint16_t)(uc[i] * 300);
    w[i] = s[i] / 3 - us[i] % 7;
    uw[i] = (uint32_t)w[i] * 2654435761u >> 3;
    l[i] = (int64_t)w[i] * 1000003 / 17;
    ul[i] = (uint64_t)l[i] * 0x9e3779b97f4a7c15u ^ uw[i];
  }
}

APART static void floats(int n, float *restrict f) {
  for (int i = 0; i < n; i++)
    f[i] = (float)ul[i] + (float)c[i] * (float)flag[i] + (float)l[i];
}

int main(void) {
  for (int i = 0; i < N; i++) {
    flag[i] = i % 3 == 0;
    seven[i] = (unsigned _BitInt(7))(i % 128);
    c[i] = (int8_t)(i - 100);
    uc[i] = (uint8_t)i;
  }
  int n = opaque(N);
  float f[N];
  flags(n);
  sevens(n);
  widths(n);
  floats(n, f);
  SHOW(flag);
  SHOW(other);
  for (int i = 0; i < N; i++)
    printf("%d %d\n", (int)seven[i], (int)signed_seven[i]);
  SHOW(c);
  SHOW(uc);
  SHOW(s);
  SHOW(us);
  SHOW(w);
  SHOW(uw);
  SHOW(l);
  SHOW(ul);
  SHOW(f);
  return 0;
}
