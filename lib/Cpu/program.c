/* program.c: the lists of kernels, variables and relocations. */
#include "program.h"

#include "arena.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more element of `size` bytes, zeroed. */
static void *grow(void **list, size_t *n, size_t size) {
  void *bigger = realloc(*list, (*n + 1) * size);
  if (!bigger)
    return NULL;
  *list = bigger;
  char *last = (char *)bigger + (*n)++ * size;
  return memset(last, 0, size);
}

struct pacc_cpu_kernel *
pacc_cpu_program_add_kernel(struct pacc_cpu_program *program) {
  return grow((void **)&program->kernels, &program->n_kernels,
              sizeof(struct pacc_cpu_kernel));
}

struct pacc_cpu_variable *
pacc_cpu_program_add_variable(struct pacc_cpu_program *program) {
  return grow((void **)&program->variables, &program->n_variables,
              sizeof(struct pacc_cpu_variable));
}

struct pacc_cpu_relocation *
pacc_cpu_program_add_relocation(struct pacc_cpu_program *program) {
  return grow((void **)&program->relocations, &program->n_relocations,
              sizeof(struct pacc_cpu_relocation));
}

void pacc_cpu_program_clear(struct pacc_cpu_program *program) {
  for (size_t i = 0; i < program->n_kernels; i++) {
    struct pacc_cpu_kernel *kernel = &program->kernels[i];
    free(kernel->name);
    free(kernel->symbol);
    free(kernel->param_sizes);
    free(kernel->param_offsets);
  }
  for (size_t i = 0; i < program->n_variables; i++) {
    struct pacc_cpu_variable *variable = &program->variables[i];
    uint64_t size;
    if (variable->address)
      pacc_cpu_arena_free(PACC_CPU_VARIABLE, variable->address, &size);
    free(variable->name);
    free(variable->image);
  }
  free(program->kernels);
  free(program->variables);
  free(program->relocations);
  *program = (struct pacc_cpu_program){0};
}
