/* shapes.h: the thread block shapes that are worth a look, for the ranking of
 * lib/Model and for the runtime's sweep (PACC_SWEEP), which must see the same
 * ones.
 */
#ifndef PACC_SHAPES_H
#define PACC_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#define PACC_WARP 32u
#define PACC_MAX_THREADS 1024u /* of a block, on every architecture */
#define PACC_MAX_BLOCK_Z 64u

/* Is no smaller power of two enough for a dimension of `extent` threads. */
static inline bool pacc_shape_fills(uint32_t n, uint64_t extent) {
  return n == 1 || UINT64_C(1) << (31 - __builtin_clz(n - 1)) < extent;
}

/* Whole warps, at most max_threads, x a power of two or a multiple of the
 * warp, and no dimension that only adds threads outside the extents. */
static inline bool pacc_shape_is_candidate(const uint32_t block[3],
                                           const uint64_t extent[3],
                                           uint32_t max_threads) {
  uint32_t threads = block[0] * block[1] * block[2];
  bool power = (block[0] & (block[0] - 1)) == 0;
  return threads <= max_threads && threads % PACC_WARP == 0 &&
         (power || block[0] % PACC_WARP == 0) &&
         (block[0] <= PACC_WARP || pacc_shape_fills(block[0], extent[0])) &&
         pacc_shape_fills(block[1], extent[1]) &&
         pacc_shape_fills(block[2], extent[2]);
}

/* Goes through the candidates for a grid of `dims` dimensions, 1 to 3: sets
 * `block` to the next one, {0, 0, 0} stands before the first. False: there is
 * none left. extent[d] is 1 beyond dims. */
static inline bool pacc_shape_next(uint32_t block[3], uint32_t dims,
                                   const uint64_t extent[3],
                                   uint32_t max_threads) {
  if (!block[0])
    block[1] = block[2] = 1;
  for (;;) {
    block[0] += block[0] == 0 ? 1 : block[0] < PACC_WARP ? block[0] : PACC_WARP;
    if (block[0] > PACC_MAX_THREADS) {
      block[0] = 1;
      block[1] *= 2;
    }
    if (block[1] > (dims > 1 ? PACC_MAX_THREADS : 1)) {
      block[1] = 1;
      block[2] *= 2;
    }
    if (block[2] > (dims > 2 ? PACC_MAX_BLOCK_Z : 1))
      return false;
    if (pacc_shape_is_candidate(block, extent, max_threads))
      return true;
  }
}

#endif
