/* ModelTest.h: what the unit tests of lib/Model share. */
#ifndef PACC_MODEL_TEST_H
#define PACC_MODEL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pacc/model.h"

/* A number in [0, n), n > 0; the sequence depends on the seed alone. */
static inline uint32_t draw_below(uint64_t *seed, uint32_t n) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((*seed >> 33) % n);
}

#endif
