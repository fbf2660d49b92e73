/* retarget.h: turns an NVPTX module into one for the host.
 *
 * retarget.c drives; reflect.c prepares, entry.c makes the entries of kernels,
 * lower.c and assembly.c replace intrinsics and inline assembly, math.c binds
 * libdevice's functions, callgraph.c finds what may wait, place.c, relocate.c
 * and shared.c (with expand.c) give variables their addresses, check.c inserts
 * the checks of accesses. emit.c writes the result of an ahead-of-time
 * compilation. */
#ifndef PACC_CPU_RETARGET_H
#define PACC_CPU_RETARGET_H

#include "program.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

/* machine      what to compile for
 * arena_log2   log2 of the size of the range of device addresses (arena.h)
 * bounds       address of the table of its regions
 * check        whether to insert checks of accesses
 * place        returns an address for a variable in *address, or a status;
 *              `context` is passed on. NULL to compile ahead of time: then
 *              variables are placed, and arena_log2 and bounds known, when the
 *              program starts (image.h) */
struct pacc_retarget_options {
  LLVMTargetMachineRef machine;
  unsigned arena_log2;
  uint64_t bounds;
  int check;
  int (*place)(void *context, const char *name, uint64_t size, uint64_t align,
               uint64_t *address);
  void *context;
};

/* Rewrites the module in place, optimises it, and fills *program. A status
 * code with a detail if the module is not valid or not for NVPTX; the module
 * is then good for nothing but disposal. */
int pacc_retarget(LLVMModuleRef module,
                  const struct pacc_retarget_options *options,
                  struct pacc_cpu_program *program);

/* Compiles a module that was retargeted ahead of time, with the struct
 * pacc_cpu_image that describes it (image.h), into the object file `path`. */
int pacc_retarget_emit(LLVMModuleRef module, LLVMTargetMachineRef machine,
                       const struct pacc_cpu_program *program,
                       const char *path);

#endif
