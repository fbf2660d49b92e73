/* config.h: the CPU device's settings, read from the environment. */
#ifndef PACC_CPU_CONFIG_H
#define PACC_CPU_CONFIG_H

#include <stdint.h>

/* seed     PACC_CPU_SEED: order of blocks and threads, pattern of fresh
 *          memory; 0 is the natural order
 * threads  PACC_CPU_THREADS: host threads that run the blocks of a launch.
 *          The default is 1, which makes every run repeatable; 0 stands for
 *          the number of cores
 * check    PACC_CPU_CHECK: 0 leaves the checks to the guard pages, 1 also
 *          checks the address of every access
 * memory   PACC_CPU_MEMORY: bytes of device memory, with K, M or G */
struct pacc_cpu_config {
  uint64_t seed;
  uint32_t threads;
  int check;
  uint64_t memory;
};

/* Fills *config. PACC_CPU_ERROR_INVALID_VALUE names the variable that makes no
 * sense. */
int pacc_cpu_config_read(struct pacc_cpu_config *config);

#endif
