/* random.h: what the seed decides: orders, and the pattern of memory that was
 * never written. */
#ifndef PACC_CPU_RANDOM_H
#define PACC_CPU_RANDOM_H

#include <stdint.h>

/* A good mix of all bits (a bijection). */
static inline uint64_t pacc_mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93ull;
  return x ^ x >> 32;
}

/* The next number of a sequence. */
static inline uint64_t pacc_random(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15ull;
  return pacc_mix(*state);
}

/* Puts n values into a random order. */
void pacc_shuffle(uint64_t *values, uint32_t n, uint64_t *state);

/* The place of `i` in a permutation of [0, n) that `seed` picks. */
uint64_t pacc_permute(uint64_t i, uint64_t n, uint64_t seed);

/* Fills memory with a pattern that depends on the seed. Read as float or as
 * double it is NaN, as an integer or an index it is far out of any range. */
void pacc_poison(void *memory, uint64_t size, uint64_t seed);

#endif
