/* jit.h: compiles a retargeted module into this process. */
#ifndef PACC_CPU_JIT_H
#define PACC_CPU_JIT_H

#include "program.h"

#include <stddef.h>

struct pacc_jit;

/* A module out of NVPTX bitcode, compiled, its variables in place. NULL, with
 * *status and a detail. `check`: see retarget.h. */
struct pacc_jit *pacc_jit_create(const void *bitcode, size_t size, int check,
                                 int *status);
void pacc_jit_destroy(struct pacc_jit *jit);

/* The kernel of that name, or NULL. */
const struct pacc_cpu_kernel *pacc_jit_kernel(const struct pacc_jit *jit,
                                              const char *name);

#endif
