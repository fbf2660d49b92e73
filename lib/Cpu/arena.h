/* arena.h: the address space of the CPU device.
 *
 * One reserved range of addresses holds everything that kernels may touch:
 * device memory, variables, shared memory and stacks. An address outside of it
 * is a host address. Regions are right-aligned to an inaccessible page, lie
 * far apart, and freed addresses are handed out again only when the whole
 * range is used up, so that an overrun or a use after free faults.
 *
 * The range is divided into slots, no two regions share one, and a table holds
 * for each slot the region in it. The check of an access finds with it what the
 * guard pages can't see: bytes of a region's first and last page that lie
 * outside of it, and addresses of the host.
 *
 * All functions are safe to call from several threads.
 */
#ifndef PACC_CPU_ARENA_H
#define PACC_CPU_ARENA_H

#include <stddef.h>
#include <stdint.h>

enum pacc_cpu_region_kind {
  PACC_CPU_MEMORY,   /* allocated by the program */
  PACC_CPU_VARIABLE, /* a device variable; the label is its name */
  PACC_CPU_HEAP,     /* malloc in a kernel */
  PACC_CPU_SHARED,   /* shared memory of the block that a worker runs */
  PACC_CPU_STACK,    /* local memory of a thread */
  PACC_CPU_WORKER,   /* parameters and ids */
};

/* Bytes that are made accessible together, a multiple of the host's page. */
#ifdef __x86_64__
enum { PACC_CPU_PAGE = 4096 };
#else
enum { PACC_CPU_PAGE = 65536 };
#endif

enum { PACC_CPU_SLOT_LOG2 = 16, PACC_CPU_SLOT = 1 << PACC_CPU_SLOT_LOG2 };

/* The region of a slot: its first byte and its bytes, 0 and 0 without one. */
struct pacc_cpu_bounds {
  uint64_t address, size;
};

/* The range: [base, base + 2^log2), base a multiple of 2^log2. An address
 * belongs to slot (address >> PACC_CPU_SLOT_LOG2) modulo the number of slots;
 * for one outside of the range, that slot's region does not hold it. */
struct pacc_cpu_arena {
  uint64_t base;
  unsigned log2;
  const struct pacc_cpu_bounds *bounds;
};

/* The arena of this process, reserved at the first call; NULL, with a detail,
 * if the system refuses even a small range. */
const struct pacc_cpu_arena *pacc_cpu_arena_get(void);

/* A new region of `size` > 0 bytes, readable and writable, zero. Its alignment
 * is at least `align`, a power of two of at most PACC_CPU_PAGE; it is at most
 * align - 1 bytes away from the guard page. `label` is copied and may be NULL.
 */
int pacc_cpu_arena_alloc(enum pacc_cpu_region_kind kind, uint64_t size,
                         uint64_t align, const char *label, uint64_t *address);

/* Gives back what pacc_cpu_arena_alloc returned and stores its size.
 * PACC_CPU_ERROR_INVALID_VALUE: no live region of this kind begins there. */
int pacc_cpu_arena_free(enum pacc_cpu_region_kind kind, uint64_t address,
                        uint64_t *size);

/* Makes the region at `address` consist of the bytes [from, from + size) of
 * its pages, for shared memory, whose size changes between launches. */
void pacc_cpu_arena_resize(uint64_t address, uint64_t from, uint64_t size);

/* 1 if [address, address + size) lies in one live region of the kinds that a
 * host may copy from and to. */
int pacc_cpu_arena_holds(uint64_t address, uint64_t size);

/* The kind of the live region that holds an address, -1 if none does. */
int pacc_cpu_arena_kind(uint64_t address);

/* The kind of the region whose lower guard holds an address, -1 if none: a
 * stack that overflows runs into it. */
int pacc_cpu_arena_kind_below(uint64_t address);

/* Where an address is, for a person: "16 bytes past the end of a 4096-byte
 * allocation". Returns the kind of the nearest region, or -1. */
int pacc_cpu_arena_describe(uint64_t address, char *text, size_t size);

#endif
