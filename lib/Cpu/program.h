/* program.h: what retargeting found in a module: its kernels and variables. */
#ifndef PACC_CPU_PROGRAM_H
#define PACC_CPU_PROGRAM_H

#include "device_abi.h"

#include <stddef.h>
#include <stdint.h>

/* One kernel.
 * name           its symbol in the device code
 * symbol         the symbol of its entry (device_abi.h)
 * entry          the entry, once compiled
 * may_suspend    it holds barriers or warp operations
 * n_params       number of parameters, of param_sizes bytes each, at
 *                param_offsets in the parameter block of params_size bytes
 * static_shared  bytes of shared memory that it was compiled with; the dynamic
 *                shared memory lies behind
 * shared_align   alignment of the whole
 * block          exact threads along x, y, z if the kernel asks for them, or 0
 * max_threads    most threads of a block that it was compiled for, or 0
 * dynamic_limit  most bytes of dynamic shared memory that the program has asked
 *                for, 0: the default */
struct pacc_cpu_kernel {
  char *name;
  char *symbol;
  pacc_cpu_entry *entry;
  int may_suspend;
  uint32_t n_params;
  uint32_t *param_sizes;
  uint32_t *param_offsets;
  uint32_t params_size;
  uint32_t static_shared;
  uint32_t shared_align;
  uint32_t block[3];
  uint32_t max_threads;
  uint32_t dynamic_limit;
};

/* One device variable. `image` is the symbol of its initial value, NULL for
 * zero. */
struct pacc_cpu_variable {
  char *name;
  char *image;
  uint64_t address;
  uint64_t size;
  uint32_t align;
};

/* The initial value of variable number `variable` holds, `offset` bytes from
 * its start, an address within variable number `target`. */
struct pacc_cpu_relocation {
  uint32_t variable, target;
  uint64_t offset;
};

/* Relocations are there after a compilation ahead of time. */
struct pacc_cpu_program {
  struct pacc_cpu_kernel *kernels;
  size_t n_kernels;
  struct pacc_cpu_variable *variables;
  size_t n_variables;
  struct pacc_cpu_relocation *relocations;
  size_t n_relocations;
};

/* A zeroed element at the end of one of the program's lists, NULL if memory is
 * out. Moves the earlier ones. */
struct pacc_cpu_kernel *pacc_cpu_program_add_kernel(struct pacc_cpu_program *);
struct pacc_cpu_variable *
pacc_cpu_program_add_variable(struct pacc_cpu_program *);
struct pacc_cpu_relocation *
pacc_cpu_program_add_relocation(struct pacc_cpu_program *);

/* Frees what the program holds, and the places of its variables. */
void pacc_cpu_program_clear(struct pacc_cpu_program *program);

#endif
