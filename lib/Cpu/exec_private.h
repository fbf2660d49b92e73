/* exec_private.h: the state of a worker, one host thread that runs blocks.
 *
 * A worker has a home (the host thread's own stack) and fibers on stacks in
 * the arena, on which all device code runs. Leaving device code early, after
 * a fault, is a switch to the home: the fiber is forgotten.
 *
 * exec.c gives out the blocks of a grid, worker.c holds memory and stacks,
 * block.c runs one block, sync.c holds barriers and warp operations, fault.c
 * turns faults into errors.
 */
#ifndef PACC_CPU_EXEC_PRIVATE_H
#define PACC_CPU_EXEC_PRIVATE_H

#include "exec.h"
#include "status.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RESERVED_SHARED = 1024 }; /* bytes, on all GPUs since sm_80 */
enum { N_BARRIERS = 16, N_WARPS = PACC_CPU_MAX_THREADS / PACC_CPU_WARP };

/* One launch, shared by the workers that run it. `status` and `detail` are
 * those of the first failure; `next` counts the blocks given out; `number`
 * tells launches apart. `resident`: each block has a worker, and may wait for
 * the others. */
struct pacc_launch {
  const struct pacc_cpu_kernel *kernel;
  uint32_t grid[3], block[3];
  uint32_t n_threads;
  uint32_t shared, dynamic_shared;
  uint64_t n_blocks, chunk, seed, number;
  int resident;
  const void *params;
  void *owner;
  void (*on_pause)(void *owner);
  _Atomic uint64_t next;
  _Atomic int status;
  pthread_mutex_t lock;
  char detail[PACC_CPU_DETAIL_SIZE];
};

enum pacc_state {
  PACC_NEW,
  PACC_READY,
  PACC_ASLEEP, /* may run, but waits for something that others do */
  PACC_AT_BARRIER,
  PACC_IN_WARP,
  PACC_AT_ACTIVEMASK,
  PACC_DONE,
};

/* One thread of the running block. `what` is the barrier, the membership mask
 * or the call site that it waits for; `input`, `extra` and `result` are the
 * values of a barrier or a warp operation (sync.c). */
struct pacc_fiber {
  void *sp;
  unsigned char *stack;
  enum pacc_state state;
  uint32_t what;
  uint32_t op;
  uint64_t input, extra, result;
  uint32_t next_waiter;
};

/* A barrier in use: expected > 0 is a given count, 0 means all threads. */
struct pacc_barrier {
  uint32_t expected, arrived;
  uint32_t op, n_true;
  uint32_t first_waiter;
  uint32_t site[N_WARPS];
};

/* Lanes of a warp that have come to one operation with one mask. */
struct pacc_group {
  uint32_t mask, op, arrived;
};

struct pacc_warp {
  uint32_t lanes, exited;
  uint32_t n_groups;
  struct pacc_group groups[PACC_CPU_WARP];
};

/* What a fault left behind for the report. */
struct pacc_fault {
  int status;
  uint64_t address;
  uint32_t size;  /* 0: unknown */
  int write;      /* -1: unknown */
  int no_address; /* the processor did not say */
  const char *text;
  const char *text2;
  uint32_t number;
};

struct pacc_worker {
  struct pacc_worker *next; /* in the executor's list of idle workers */
  struct pacc_launch *launch;
  void *home;

  /* In the arena. */
  struct pacc_cpu_thread *threads;
  struct pacc_cpu_block *block;
  uint64_t *natural; /* packed ids of the block's threads, in order */
  uint64_t *order;   /* the same, in the order to run them */
  unsigned char *params;
  unsigned char *reserved; /* RESERVED_SHARED bytes of the block */
  uint64_t shared, shared_size, shared_end; /* of the current kernel */

  struct pacc_fault fault;
  int done;
  uint64_t random;

  /* The running block. `errors` are the last ones that calls of CUDA returned
   * to its threads. */
  int has_errors, uses_reserved;
  uint32_t errors[PACC_CPU_MAX_THREADS];
  uint32_t running; /* linear id of the thread that runs */
  uint32_t n_alive, n_listed;
  uint32_t busy_barriers; /* bit i: barrier i has arrivals */
  struct pacc_fiber fibers[PACC_CPU_MAX_THREADS];
  struct pacc_barrier barriers[N_BARRIERS];
  struct pacc_warp warps[N_WARPS];

  /* Ends of the stacks that no fiber uses, and the regions of all. */
  unsigned char *stacks[PACC_CPU_MAX_THREADS];
  uint32_t n_stacks, n_regions;
  uint64_t regions[PACC_CPU_MAX_THREADS];
};

/* The worker whose device code runs on this host thread, or NULL. In static
 * TLS: a signal handler must be able to read it. */
extern _Thread_local struct pacc_worker *pacc_worker_current
    __attribute__((tls_model("initial-exec")));
/* The thread of the grid that runs on this host thread. */
extern _Thread_local struct pacc_cpu_thread *pacc_self_current
    __attribute__((tls_model("initial-exec")));

/* worker.c */

/* A worker with its memory in the arena, or NULL with a detail. */
struct pacc_worker *pacc_worker_create(void);
void pacc_worker_destroy(struct pacc_worker *worker);
/* A stack for a fiber: the address of its end, or NULL. */
unsigned char *pacc_worker_stack(struct pacc_worker *worker);
void pacc_worker_stack_return(struct pacc_worker *worker, unsigned char *stack);

/* block.c: runs the block whose ids are set, of a kernel that may suspend.
 * Faults are noted in worker->fault. */
void pacc_block_run(struct pacc_worker *worker);
/* Saves the running thread in its state and runs others; returns when the
 * thread is ready again. */
void pacc_block_wait(struct pacc_worker *worker);

/* sync.c */
void pacc_sync_begin(struct pacc_worker *worker);
/* Thread `linear` has ended: whoever waited for it alone goes on. */
void pacc_sync_exit(struct pacc_worker *worker, uint32_t linear);
/* Lets threads that asked for the active mask go on, when nothing else can
 * run. 0 if there are none. */
int pacc_sync_release_active(struct pacc_worker *worker);

/* fault.c */

/* Installs the signal handlers and this thread's signal stack. */
int pacc_fault_prepare(void);
/* Puts the program's handlers back. */
void pacc_fault_restore(void);
/* Ends the launch on this worker: called on a device stack, never returns. */
_Noreturn void pacc_fault_raise(const struct pacc_fault *fault);
/* The failure of a block in words, in this thread's detail; returns its
 * status. `id` is the thread's packed id, ~0 for the block as a whole. */
int pacc_fault_report(struct pacc_worker *worker, uint64_t id);
/* Who waits for what, for a deadlock. */
void pacc_fault_waiting(const struct pacc_worker *worker, char *text,
                        size_t size);

#endif
