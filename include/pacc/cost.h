/* cost.h: what launches, barriers and statement instances take, in seconds, for
 * the compiler, which plans kernels, and for the runtime, which chooses where
 * regions run and how. Round figures of an H200: 132 multiprocessors, CUDA 13.
 */
#ifndef PACC_COST_H
#define PACC_COST_H

/* Between the starts of two launches, which hides what a short kernel does; of
 * the begin and end of a kernel that runs longer; and of what a launch waits
 * for its memory at least (lib/Model/calibrate/barrier-h200.csv: launch,
 * launch-large, and flip with and without work). */
static const double PACC_SECONDS_LAUNCH = 3.2e-6;
static const double PACC_SECONDS_KERNEL = 1.2e-6;
static const double PACC_SECONDS_WAIT = 0.5e-6;

/* A further instance in a thread that waits for its memory
 * (polybench/results/kernels-h200-large.csv: the sums of atax, mvt and gemver).
 */
static const double PACC_SECONDS_INSTANCE = 60e-9;

/* An instance on a multiprocessor that has enough threads
 * (polybench/results/h200-large.csv: fdtd-2d, jacobi-2d, heat-3d and
 * floyd-warshall, 0.6 to 0.8 ns), and on one that does all of a phase, strided
 * accesses and all. */
static const double PACC_SECONDS_INSTANCE_SM = 0.7e-9;
static const double PACC_SECONDS_INSTANCE_ONE_SM = 1.3e-9;

/* On the host: an instance that loads, multiplies, adds and stores. Of a copy
 * to or from the device (h200-large.csv, auto: the smallest regions), until
 * that is measured. */
static const double PACC_SECONDS_HOST_INSTANCE = 1e-9;
static const double PACC_SECONDS_COPY = 20e-6;

/* So many times faster by estimates, a side needs no proof; the host, no
 * question whatever the device is. */
static const double PACC_FAR_FASTER = 4;
static const double PACC_CLEARLY_FASTER = 2;

/* Multiprocessors where the device is not known. */
static const double PACC_USUAL_SMS = 132;

/* A barrier over a grid of so many blocks, lib/DeviceRT/barrier.c
 * (barrier-h200.csv: flip): of the block alone, of a few blocks that share a
 * part of the second level of cache, of all others; the atomics of very many
 * are one after the other. */
static inline double pacc_barrier_seconds(double blocks) {
  if (blocks <= 1)
    return 0.1e-6;
  if (blocks <= 8)
    return 0.75e-6;
  return blocks <= 264 ? 1.0e-6 : 1.0e-6 + (blocks - 264) * 1.2e-9;
}

#endif
