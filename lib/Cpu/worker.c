/* worker.c: the memory of a worker and its pool of stacks. */
#include "exec_private.h"

#include "arena.h"

#include <stdlib.h>
#include <string.h>

enum {
  STACK_SIZE = 256 * 1024,
  /* Stacks begin at different cache sets, or 1,024 of them share a few. */
  STACK_SPREAD = 32,
  STACK_STEP = 192,
};

_Thread_local struct pacc_worker *pacc_worker_current
    __attribute__((tls_model("initial-exec")));
_Thread_local struct pacc_cpu_thread *pacc_self_current
    __attribute__((tls_model("initial-exec")));

/* What of a worker lies in the arena, since kernels read it. */
struct shared_part {
  struct pacc_cpu_thread threads[PACC_CPU_MAX_THREADS];
  uint64_t natural[PACC_CPU_MAX_THREADS];
  uint64_t order[PACC_CPU_MAX_THREADS];
  struct pacc_cpu_block block;
  _Alignas(16) unsigned char reserved[RESERVED_SHARED];
  _Alignas(16) unsigned char params[PACC_CPU_MAX_PARAMS];
};

struct pacc_worker *pacc_worker_create(void) {
  struct pacc_worker *worker = calloc(1, sizeof(*worker));
  if (!worker) {
    pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for a worker");
    return NULL;
  }
  uint64_t address, shared;
  if (pacc_cpu_arena_alloc(PACC_CPU_WORKER, sizeof(struct shared_part), 16,
                           NULL, &address)) {
    free(worker);
    return NULL;
  }
  struct shared_part *part = (struct shared_part *)(uintptr_t)address;
  worker->threads = part->threads;
  worker->natural = part->natural;
  worker->order = part->order;
  worker->block = &part->block;
  worker->params = part->params;
  worker->reserved = part->reserved;
  if (pacc_cpu_arena_alloc(PACC_CPU_SHARED, PACC_CPU_MAX_SHARED, 1024, NULL,
                           &shared)) {
    pacc_worker_destroy(worker);
    return NULL;
  }
  worker->shared = shared;
  worker->shared_end = shared + PACC_CPU_MAX_SHARED;
  for (uint32_t i = 0; i < PACC_CPU_MAX_THREADS; i++)
    worker->threads[i].block = worker->block;
  return worker;
}

void pacc_worker_destroy(struct pacc_worker *worker) {
  uint64_t size;
  for (uint32_t i = 0; i < worker->n_regions; i++)
    pacc_cpu_arena_free(PACC_CPU_STACK, worker->regions[i], &size);
  if (worker->shared)
    pacc_cpu_arena_free(PACC_CPU_SHARED, worker->shared, &size);
  pacc_cpu_arena_free(PACC_CPU_WORKER, (uint64_t)(uintptr_t)worker->threads,
                      &size);
  free(worker);
}

unsigned char *pacc_worker_stack(struct pacc_worker *worker) {
  if (worker->n_stacks)
    return worker->stacks[--worker->n_stacks];
  uint64_t address;
  if (worker->n_regions == PACC_CPU_MAX_THREADS ||
      pacc_cpu_arena_alloc(PACC_CPU_STACK, STACK_SIZE, 16, NULL, &address))
    return NULL;
  uint32_t i = worker->n_regions++;
  worker->regions[i] = address;
  return (unsigned char *)(uintptr_t)address + STACK_SIZE -
         (size_t)(i % STACK_SPREAD) * STACK_STEP;
}

void pacc_worker_stack_return(struct pacc_worker *worker,
                              unsigned char *stack) {
  worker->stacks[worker->n_stacks++] = stack;
}
