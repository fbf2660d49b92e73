/* device_abi.h: what generated code and the executor agree on.
 *
 * Retargeted code finds the ids of its thread and its block in these structs.
 * They lie in the arena (arena.h), as everything that a kernel may touch does.
 * Each kernel has one entry
 *
 *   void entry(struct pacc_cpu_thread *self, const void *params,
 *              const uint64_t *threads, uint64_t n);
 *
 * which runs the kernel for the n threads with the packed ids threads[0..n).
 * `params` holds the parameters at their natural alignment.
 */
#ifndef PACC_CPU_DEVICE_ABI_H
#define PACC_CPU_DEVICE_ABI_H

#include <stdint.h>

enum {
  PACC_CPU_MAX_THREADS = 1024,      /* threads of a block */
  PACC_CPU_MAX_SHARED = 227 * 1024, /* bytes of shared memory of a block */
  PACC_CPU_MAX_PARAMS = 32764,      /* bytes of parameters of a kernel */
  PACC_CPU_WARP = 32,
};

/* The fields that generated code reads, in this order (entry.c). */
struct pacc_cpu_block {
  unsigned char *shared; /* static shared memory, then the dynamic */
  unsigned char *dynamic;
  uint32_t id[3];
  uint32_t dim[3];
  uint32_t grid[3];
  uint32_t dynamic_shared;
  uint32_t total_shared;
};

/* id packs x, y, z and the linear id into 16 bits each, x lowest. */
struct pacc_cpu_thread {
  uint64_t id;
  struct pacc_cpu_block *block;
};

typedef void pacc_cpu_entry(struct pacc_cpu_thread *self, const void *params,
                            const uint64_t *threads, uint64_t n);

static inline uint64_t pacc_cpu_id_pack(uint32_t x, uint32_t y, uint32_t z,
                                        uint32_t linear) {
  return (uint64_t)x | (uint64_t)y << 16 | (uint64_t)z << 32 |
         (uint64_t)linear << 48;
}
static inline uint32_t pacc_cpu_id_x(uint64_t id) { return id & 0xffff; }
static inline uint32_t pacc_cpu_id_y(uint64_t id) { return id >> 16 & 0xffff; }
static inline uint32_t pacc_cpu_id_z(uint64_t id) { return id >> 32 & 0xffff; }
static inline uint32_t pacc_cpu_id_linear(uint64_t id) {
  return (uint32_t)(id >> 48);
}

#endif
