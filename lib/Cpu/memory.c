/* memory.c: allocations within the limit, and copies within allocations. */
#include "memory.h"

#include "arena.h"
#include "random.h"
#include "status.h"

#include <string.h>

int pacc_cpu_memory_alloc(struct pacc_cpu_memory *memory, uint64_t size,
                          uint64_t align, uint64_t *address) {
  if (size == 0)
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_VALUE,
                         "an allocation of 0 bytes");
  uint64_t limit = memory->config.memory;
  uint64_t before = atomic_fetch_add(&memory->used, size);
  int status;
  if (size > limit || before > limit - size)
    status = pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                           "%llu bytes wanted, %llu of %llu are in use",
                           (unsigned long long)size, (unsigned long long)before,
                           (unsigned long long)limit);
  else
    status = pacc_cpu_arena_alloc(PACC_CPU_MEMORY, size, align, NULL, address);
  if (status) {
    atomic_fetch_sub(&memory->used, size);
    return status;
  }
  pacc_poison((void *)(uintptr_t)*address, size, memory->config.seed);
  return 0;
}

int pacc_cpu_memory_free(struct pacc_cpu_memory *memory, uint64_t address) {
  uint64_t size;
  int status = pacc_cpu_arena_free(PACC_CPU_MEMORY, address, &size);
  if (!status)
    atomic_fetch_sub(&memory->used, size);
  return status;
}

int pacc_cpu_memory_check(const char *what, uint64_t address, uint64_t pitch,
                          uint64_t width, uint64_t count) {
  uint64_t before_last, size;
  if (!width || !count)
    return 0;
  if (count == 1)
    pitch = 0; /* and may be anything */
  if (!__builtin_mul_overflow(count - 1, pitch, &before_last) &&
      !__builtin_add_overflow(before_last, width, &size) &&
      pacc_cpu_arena_holds(address, size))
    return 0;
  char where[256];
  pacc_cpu_arena_describe(address, where, sizeof(where));
  return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_BOUNDS,
                       "a copy %s the device of %llu rows of %llu bytes at "
                       "0x%llx, %s",
                       what, (unsigned long long)count,
                       (unsigned long long)width, (unsigned long long)address,
                       where);
}

void pacc_cpu_memory_copy(void *to, uint64_t to_pitch, const void *from,
                          uint64_t from_pitch, uint64_t width, uint64_t count) {
  if (to_pitch == width && from_pitch == width) {
    width *= count;
    count = 1;
  }
  for (uint64_t row = 0; width && row < count; row++)
    memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch,
            width);
}
