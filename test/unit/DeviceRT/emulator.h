/* emulator.h: a GPU for tests of the device runtime: grids, blocks, warps
 * and device-side launches, one thread at a time in an order that a seed
 * chooses. A kernel is a host function that gets its parameter bytes.
 *
 * Streams have CUDA's order: the NULL stream belongs to a block, the
 * per-thread stream to a thread, fire-and-forget has none, tail launches run
 * after the grid and its children. A grid is complete when its children are. */
#ifndef PACC_TEST_EMULATOR_H
#define PACC_TEST_EMULATOR_H

#include <stdint.h>

typedef void emu_kernel(const void *parameters);

struct emu_dim3 {
  uint32_t x, y, z;
};

/* seed      order of grids, blocks, threads, and how warps split
 * resident  blocks that run at once
 * failures  of 100 device launches of `fails`, so many are refused
 * pending   grids that may wait; CUDA has no room for more. 0: no limit */
struct emu_options {
  uint64_t seed;
  uint32_t resident;
  uint32_t failures;
  emu_kernel *fails;
  uint32_t pending;
};

/* Launches that took place on the device, those that were refused, and those
 * for which there was no room. */
struct emu_counts {
  uint64_t launches;
  uint64_t refused;
  uint64_t no_room;
};

/* Runs one grid and all that it launches. */
struct emu_counts emu_run(const struct emu_options *options, emu_kernel *kernel,
                          const void *parameters, uint32_t bytes,
                          struct emu_dim3 grid, struct emu_dim3 block);

/* For kernels: the registers. A tick passes at every switch of threads. */
struct emu_dim3 emu_thread(void);
struct emu_dim3 emu_block_size(void);
struct emu_dim3 emu_block(void);
struct emu_dim3 emu_grid_size(void);
uint64_t emu_tick(void);

#endif
