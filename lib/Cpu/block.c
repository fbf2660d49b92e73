/* block.c: runs the threads of one block as fibers, in rounds: each round
 * goes once over the threads that can run. */
#include "exec_private.h"

#include "fiber.h"
#include "random.h"

#include <string.h>

/* The body of a fiber. */
static void fiber_main(void *arg) {
  struct pacc_worker *worker = arg;
  uint32_t linear = worker->running;
  struct pacc_cpu_thread *self = &worker->threads[linear];
  worker->launch->kernel->entry(self, worker->params, &self->id, 1);
  struct pacc_fiber *fiber = &worker->fibers[linear];
  fiber->state = PACC_DONE;
  pacc_sync_exit(worker, linear);
  pacc_fiber_switch(&fiber->sp, worker->home);
}

/* Runs a thread until it waits or ends; -1 after a fault. */
static int run_thread(struct pacc_worker *worker, uint64_t id) {
  uint32_t linear = pacc_cpu_id_linear(id);
  struct pacc_fiber *fiber = &worker->fibers[linear];
  if (fiber->state == PACC_NEW) {
    fiber->stack = pacc_worker_stack(worker);
    if (!fiber->stack) {
      worker->fault = (struct pacc_fault){
          .status = PACC_CPU_ERROR_OUT_OF_MEMORY,
          .text = "no memory for the stacks of the block's threads"};
      return -1;
    }
    worker->threads[linear].id = id;
    fiber->sp = pacc_fiber_make(fiber->stack, fiber_main, worker);
  }
  fiber->state = PACC_READY;
  worker->running = linear;
  pacc_self_current = &worker->threads[linear];
  pacc_fiber_switch(&worker->home, fiber->sp);
  if (worker->fault.status)
    return -1;
  if (fiber->state == PACC_DONE) {
    pacc_worker_stack_return(worker, fiber->stack);
    fiber->stack = NULL;
  }
  return 0;
}

/* One round. Returns the number of threads that ran and do not sleep, -1 after
 * a fault; and how many sleep. */
static int run_round(struct pacc_worker *worker, uint32_t *n_asleep) {
  int n_ran = 0;
  *n_asleep = 0;
  uint32_t kept = 0;
  if (worker->launch->seed)
    pacc_shuffle(worker->order, worker->n_listed, &worker->random);
  for (uint32_t i = 0; i < worker->n_listed; i++) {
    uint64_t id = worker->order[i];
    struct pacc_fiber *fiber = &worker->fibers[pacc_cpu_id_linear(id)];
    if (fiber->state <= PACC_ASLEEP) {
      if (run_thread(worker, id))
        return -1;
      *n_asleep += fiber->state == PACC_ASLEEP;
      n_ran += fiber->state != PACC_ASLEEP;
    }
    if (fiber->state != PACC_DONE)
      worker->order[kept++] = id;
  }
  worker->n_listed = kept;
  return n_ran;
}

void pacc_block_run(struct pacc_worker *worker) {
  uint32_t n = worker->launch->n_threads;
  for (uint32_t i = 0; i < n; i++)
    worker->fibers[i] = (struct pacc_fiber){.state = PACC_NEW};
  memcpy(worker->order, worker->natural, n * sizeof(*worker->order));
  worker->n_alive = worker->n_listed = n;
  pacc_sync_begin(worker);
  while (worker->n_alive) {
    uint32_t n_asleep;
    int n_ran = run_round(worker, &n_asleep);
    if (n_ran < 0)
      break;
    if (n_ran == 0 && !pacc_sync_release_active(worker) && !n_asleep) {
      worker->fault = (struct pacc_fault){.status = PACC_CPU_ERROR_DEADLOCK};
      break;
    }
  }
  for (uint32_t i = 0; worker->fault.status && i < n; i++)
    if (worker->fibers[i].stack)
      pacc_worker_stack_return(worker, worker->fibers[i].stack);
}

void pacc_block_wait(struct pacc_worker *worker) {
  pacc_fiber_switch(&worker->fibers[worker->running].sp, worker->home);
}
