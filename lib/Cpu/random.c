/* random.c: permutations and the pattern of fresh memory. */
#include "random.h"

#include <string.h>

void pacc_shuffle(uint64_t *values, uint32_t n, uint64_t *state) {
  for (uint32_t i = n; i > 1; i--) {
    uint32_t j = (uint32_t)((pacc_random(state) >> 32) * i >> 32);
    uint64_t value = values[i - 1];
    values[i - 1] = values[j];
    values[j] = value;
  }
}

/* A Feistel network over the next power of four; values beyond n are sent
 * through again, which keeps it a permutation of [0, n). */
uint64_t pacc_permute(uint64_t i, uint64_t n, uint64_t seed) {
  unsigned half = 1;
  while (half < 32 && 1ull << (2 * half) < n)
    half++;
  uint64_t mask = (1ull << half) - 1;
  do {
    uint64_t left = i >> half, right = i & mask;
    for (uint64_t round = 0; round < 4; round++) {
      uint64_t next = left ^ (pacc_mix(right + seed + (round << 56)) & mask);
      left = right;
      right = next;
    }
    i = left << half | right;
  } while (i >= n);
  return i;
}

void pacc_poison(void *memory, uint64_t size, uint64_t seed) {
  uint64_t noise = pacc_mix(seed + 1) & 0x0003ffff0003ffffull;
  uint64_t word = 0x7ff400007fa80000ull | noise;
  unsigned char *to = memory;
  /* The pattern is fixed to addresses: every aligned word is the same. */
  while (size && (uintptr_t)to % sizeof(word)) {
    *to = (unsigned char)(word >> 8 * ((uintptr_t)to % sizeof(word)));
    to++;
    size--;
  }
  for (; size >= sizeof(word); size -= sizeof(word), to += sizeof(word))
    memcpy(to, &word, sizeof(word));
  for (unsigned shift = 0; size; size--, shift += 8)
    *to++ = (unsigned char)(word >> shift);
}
