/* memory.h: device memory as programs allocate and copy it. */
#ifndef PACC_CPU_MEMORY_H
#define PACC_CPU_MEMORY_H

#include "config.h"

#include <stdatomic.h>
#include <stdint.h>

/* `used` of the `config.memory` bytes are allocated. */
struct pacc_cpu_memory {
  struct pacc_cpu_config config;
  _Atomic uint64_t used;
};

/* `size` > 0 bytes at a multiple of `align`, filled with the pattern of the
 * seed. A status with a detail. */
int pacc_cpu_memory_alloc(struct pacc_cpu_memory *memory, uint64_t size,
                          uint64_t align, uint64_t *address);
int pacc_cpu_memory_free(struct pacc_cpu_memory *memory, uint64_t address);

/* Whether a copy of `count` rows of `width` bytes, `pitch` apart, stays within
 * one allocation; `what` is "to" or "from". */
int pacc_cpu_memory_check(const char *what, uint64_t address, uint64_t pitch,
                          uint64_t width, uint64_t count);

/* Copies rows, which may overlap where they are one block. */
void pacc_cpu_memory_copy(void *to, uint64_t to_pitch, const void *from,
                          uint64_t from_pitch, uint64_t width, uint64_t count);

#endif
