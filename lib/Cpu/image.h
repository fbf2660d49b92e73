/* image.h: device code that was compiled ahead of time, as the linker puts it
 * into the program (emit.c) and the runtime finds it (cudart/registry.c).
 *
 * The object file holds one struct pacc_cpu_image and calls
 * PACC_CPU_REGISTER with it before main.
 */
#ifndef PACC_CPU_IMAGE_H
#define PACC_CPU_IMAGE_H

#include "arena.h"
#include "program.h"

/* The symbol of the address of variable number %u. */
#define PACC_CPU_PLACE_FORMAT "__pacc_place.%u"

/* The number counts up with the layout of these structs and of device_abi.h:
 * an object of another version does not link. */
#define PACC_CPU_REGISTER __pacc_cuda_register_v1

/* One device variable.
 * name    its symbol in the device code
 * image   its initial value
 * place   where device code finds its address
 * align   of the address, in bytes */
struct pacc_cpu_image_variable {
  const char *name;
  const void *image;
  void **place;
  uint64_t size;
  uint64_t align;
};

/* entries, entries_end: clang's table of the kernels and variables that host
 * code refers to (the section llvm_offload_entries), NULL if there are none. */
struct pacc_cpu_image {
  struct pacc_cpu_kernel *kernels;
  uint64_t n_kernels;
  const struct pacc_cpu_image_variable *variables;
  uint64_t n_variables;
  const struct pacc_cpu_relocation *relocations;
  uint64_t n_relocations;
  const void *entries;
  const void *entries_end;
};

void PACC_CPU_REGISTER(const struct pacc_cpu_image *image);

/* The slots of the arena (arena.h), for checks: `table` is indexed by
 * (address >> PACC_CPU_SLOT_LOG2) & mask. */
struct pacc_cpu_slots {
  const struct pacc_cpu_bounds *table;
  uint64_t mask;
};
extern struct pacc_cpu_slots pacc_cpu_slots;

#endif
