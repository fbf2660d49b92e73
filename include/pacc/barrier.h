/* barrier.h: what a barrier over a grid costs, for the compiler, which chooses
 * blocks, and for the runtime, which chooses how many of them.
 */
#ifndef PACC_BARRIER_H
#define PACC_BARRIER_H

/* Seconds of lib/DeviceRT/barrier.c in a grid of so many blocks, on an H200
 * (lib/Model/calibrate/barrier-h200.csv): a barrier of the block alone, a few
 * blocks that share a part of the second level of cache, all others; the
 * atomics of very many are one after the other. */
static inline double pacc_barrier_seconds(double blocks) {
  if (blocks <= 1)
    return 0.1e-6;
  if (blocks <= 8)
    return 0.75e-6;
  return blocks <= 264 ? 1.0e-6 : 1.0e-6 + (blocks - 264) * 1.2e-9;
}

#endif
