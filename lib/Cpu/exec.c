/* exec.c: checks launches and gives out their blocks to workers. */
#include "exec_private.h"

#include "arena.h"

#include "fiber.h"
#include "random.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pacc_cpu_executor {
  struct pacc_cpu_config config;
  pthread_mutex_t lock;
  struct pacc_worker *idle;
  _Atomic uint64_t n_launches;
};

/* Executors of this process: the fault handlers stay as long as there are any.
 */
static _Atomic int n_executors;

struct pacc_cpu_executor *
pacc_cpu_executor_create(const struct pacc_cpu_config *config) {
  struct pacc_cpu_executor *executor = calloc(1, sizeof(*executor));
  if (!executor) {
    pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for the device");
    return NULL;
  }
  executor->config = *config;
  pthread_mutex_init(&executor->lock, NULL);
  atomic_fetch_add(&n_executors, 1);
  return executor;
}

void pacc_cpu_executor_destroy(struct pacc_cpu_executor *executor) {
  while (executor->idle) {
    struct pacc_worker *worker = executor->idle;
    executor->idle = worker->next;
    pacc_worker_destroy(worker);
  }
  pthread_mutex_destroy(&executor->lock);
  free(executor);
  if (atomic_fetch_sub(&n_executors, 1) == 1)
    pacc_fault_restore();
}

static struct pacc_worker *worker_take(struct pacc_cpu_executor *executor) {
  pthread_mutex_lock(&executor->lock);
  struct pacc_worker *worker = executor->idle;
  if (worker)
    executor->idle = worker->next;
  pthread_mutex_unlock(&executor->lock);
  return worker ? worker : pacc_worker_create();
}

static void worker_return(struct pacc_cpu_executor *executor,
                          struct pacc_worker *worker) {
  pthread_mutex_lock(&executor->lock);
  worker->next = executor->idle;
  executor->idle = worker;
  pthread_mutex_unlock(&executor->lock);
}

/* The first failure of a launch counts. */
static void launch_fail(struct pacc_launch *launch, int status) {
  pthread_mutex_lock(&launch->lock);
  if (!launch->status) {
    snprintf(launch->detail, sizeof(launch->detail), "%s", pacc_cpu_detail());
    launch->status = status;
  }
  pthread_mutex_unlock(&launch->lock);
}

/* -- Blocks -- */

/* Sets the ids and the memory of block number `i` of the launch. */
static void block_begin(struct pacc_worker *worker, uint64_t i) {
  const struct pacc_launch *launch = worker->launch;
  if (launch->seed) {
    i = pacc_permute(i, launch->n_blocks, launch->seed);
    worker->random = launch->seed ^ pacc_mix(i + 1);
  }
  worker->block->id[0] = (uint32_t)(i % launch->grid[0]);
  worker->block->id[1] = (uint32_t)(i / launch->grid[0] % launch->grid[1]);
  worker->block->id[2] = (uint32_t)(i / launch->grid[0] / launch->grid[1]);
  if (worker->has_errors)
    memset(worker->errors, 0, sizeof(worker->errors));
  worker->has_errors = 0;
  if (worker->uses_reserved)
    memset(worker->reserved, 0, RESERVED_SHARED);
  worker->uses_reserved = 0;
  if (launch->shared)
    pacc_poison(worker->block->shared, launch->shared, launch->seed);
}

/* With a seed, other grids run between some blocks. */
static void block_end(struct pacc_worker *worker) {
  const struct pacc_launch *launch = worker->launch;
  enum { ONE_OF = 4 };
  if (launch->seed && launch->on_pause &&
      pacc_random(&worker->random) % ONE_OF == 0)
    launch->on_pause(launch->owner);
}

/* The next blocks to run, [*from, *to); 0 when there are none. */
static int blocks_take(struct pacc_launch *launch, uint64_t *from,
                       uint64_t *to) {
  if (launch->status)
    return 0;
  *from = atomic_fetch_add(&launch->next, launch->chunk);
  if (*from >= launch->n_blocks)
    return 0;
  uint64_t left = launch->n_blocks - *from;
  *to = *from + (left < launch->chunk ? left : launch->chunk);
  return 1;
}

/* Kernels that never wait: one fiber runs block after block. */
static void plain_main(void *arg) {
  struct pacc_worker *worker = arg;
  struct pacc_launch *launch = worker->launch;
  uint32_t n = launch->n_threads;
  pacc_cpu_entry *entry = launch->kernel->entry;
  const uint64_t *order = launch->seed ? worker->order : worker->natural;
  uint64_t i, to;
  if (launch->seed)
    memcpy(worker->order, worker->natural, n * sizeof(*order));
  while (blocks_take(launch, &i, &to))
    for (; i < to && !launch->status; i++) {
      block_begin(worker, i);
      if (launch->seed)
        pacc_shuffle(worker->order, n, &worker->random);
      entry(worker->threads, worker->params, order, n);
      block_end(worker);
    }
  worker->done = 1;
  void *forgotten;
  pacc_fiber_switch(&forgotten, worker->home);
}

static int run_plain(struct pacc_worker *worker) {
  unsigned char *stack = pacc_worker_stack(worker);
  if (!stack)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  pacc_self_current = worker->threads;
  worker->done = 0;
  pacc_fiber_switch(&worker->home, pacc_fiber_make(stack, plain_main, worker));
  pacc_worker_stack_return(worker, stack);
  return worker->done ? 0 : pacc_fault_report(worker, worker->threads[0].id);
}

static int run_waiting(struct pacc_worker *worker) {
  uint64_t i, to;
  while (blocks_take(worker->launch, &i, &to))
    for (; i < to && !worker->launch->status; i++) {
      block_begin(worker, i);
      pacc_block_run(worker);
      if (worker->fault.status)
        return pacc_fault_report(worker,
                                 worker->fault.status == PACC_CPU_ERROR_DEADLOCK
                                     ? UINT64_MAX
                                     : worker->threads[worker->running].id);
      block_end(worker);
    }
  return 0;
}

/* -- Launches -- */

/* Shared memory ends as close to its guard page as its alignment permits. */
static void place_shared(struct pacc_worker *worker,
                         const struct pacc_launch *launch) {
  uint64_t align = launch->kernel->shared_align, size = launch->shared;
  uint64_t at = (worker->shared_end - size) & ~(align - 1);
  if (size && (at != worker->shared || size != worker->shared_size)) {
    pacc_cpu_arena_resize(worker->shared, at, size);
    worker->shared = at;
    worker->shared_size = size;
  }
  worker->block->shared = (unsigned char *)(uintptr_t)at;
  worker->block->dynamic =
      worker->block->shared + size - launch->dynamic_shared;
}

static void worker_begin(struct pacc_worker *worker,
                         struct pacc_launch *launch) {
  const struct pacc_cpu_kernel *kernel = launch->kernel;
  worker->launch = launch;
  worker->fault = (struct pacc_fault){0};
  if (kernel->params_size)
    memcpy(worker->params, launch->params, kernel->params_size);
  struct pacc_cpu_block *block = worker->block;
  memcpy(block->dim, launch->block, sizeof(block->dim));
  memcpy(block->grid, launch->grid, sizeof(block->grid));
  block->dynamic_shared = launch->dynamic_shared;
  block->total_shared = launch->shared;
  place_shared(worker, launch);
  uint32_t linear = 0;
  for (uint32_t z = 0; z < launch->block[2]; z++)
    for (uint32_t y = 0; y < launch->block[1]; y++)
      for (uint32_t x = 0; x < launch->block[0]; x++, linear++)
        worker->natural[linear] = pacc_cpu_id_pack(x, y, z, linear);
}

/* Runs blocks until there are none left, on this host thread. */
static void worker_run(struct pacc_worker *worker, struct pacc_launch *launch) {
  int status = pacc_fault_prepare();
  if (!status) {
    fenv_t environment;
    fegetenv(&environment);
    /* A device function that waits runs other grids on its thread's stack. */
    struct pacc_worker *outer = pacc_worker_current;
    struct pacc_cpu_thread *outer_self = pacc_self_current;
    worker_begin(worker, launch);
    pacc_worker_current = worker;
    status =
        launch->kernel->may_suspend ? run_waiting(worker) : run_plain(worker);
    pacc_worker_current = outer;
    pacc_self_current = outer_self;
    if (status) /* left from within a signal handler, perhaps */
      fesetenv(&environment);
  }
  if (status)
    launch_fail(launch, status);
}

struct helper {
  pthread_t thread;
  struct pacc_worker *worker;
  struct pacc_launch *launch;
};

static void *helper_main(void *arg) {
  struct helper *helper = arg;
  worker_run(helper->worker, helper->launch);
  return NULL;
}

/* Runs a launch on this thread and on up to n - 1 others. A helper that can't
 * be had is done without, unless blocks wait for others. */
static int launch_run(struct pacc_cpu_executor *executor,
                      struct pacc_launch *launch, uint32_t n) {
  struct pacc_worker *worker = worker_take(executor);
  if (!worker)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  struct helper *helpers = n > 1 ? calloc(n - 1, sizeof(*helpers)) : NULL;
  uint32_t n_helpers = 0;
  for (; helpers && n_helpers < n - 1; n_helpers++) {
    struct helper *helper = &helpers[n_helpers];
    helper->launch = launch;
    helper->worker = worker_take(executor);
    if (!helper->worker)
      break;
    if (pthread_create(&helper->thread, NULL, helper_main, helper)) {
      worker_return(executor, helper->worker);
      break;
    }
  }
  if (launch->resident && n_helpers < n - 1) {
    pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                  "kernel '%s': no thread for each of %u blocks",
                  launch->kernel->name, n);
    launch_fail(launch, PACC_CPU_ERROR_OUT_OF_MEMORY);
  }
  worker_run(worker, launch);
  for (uint32_t i = 0; i < n_helpers; i++) {
    pthread_join(helpers[i].thread, NULL);
    worker_return(executor, helpers[i].worker);
  }
  free(helpers);
  worker_return(executor, worker);
  return launch->status;
}

/* Bytes of shared memory of a block: the dynamic part is aligned to 16. */
static uint32_t shared_size(const struct pacc_cpu_kernel *kernel,
                            uint32_t dynamic) {
  uint32_t size = kernel->static_shared;
  return dynamic ? ((size + 15) & ~15u) + dynamic : size;
}

static int limit_error(const struct pacc_cpu_kernel *kernel, const char *what,
                       unsigned long long value, unsigned long long limit) {
  return pacc_cpu_fail(PACC_CPU_ERROR_LAUNCH_LIMITS,
                       "kernel '%s': %s is %llu, the limit is %llu",
                       kernel->name, what, value, limit);
}

/* The limits of all GPUs since sm_90 (CUDA C++ Programming Guide, table of
 * technical specifications per compute capability). */
int pacc_cpu_work_check(const struct pacc_cpu_work *launch) {
  static const uint32_t grid_limit[3] = {INT32_MAX, 65535, 65535};
  static const uint32_t block_limit[3] = {1024, 1024, 64};
  static const char *const grid_name[3] = {"grid x", "grid y", "grid z"};
  static const char *const block_name[3] = {"block x", "block y", "block z"};
  const struct pacc_cpu_kernel *kernel = launch->kernel;
  for (int i = 0; i < 3; i++) {
    if (!launch->grid[i] || !launch->block[i])
      return pacc_cpu_fail(PACC_CPU_ERROR_LAUNCH_LIMITS, "kernel '%s': %s is 0",
                           kernel->name,
                           launch->grid[i] ? block_name[i] : grid_name[i]);
    if (launch->grid[i] > grid_limit[i])
      return limit_error(kernel, grid_name[i], launch->grid[i], grid_limit[i]);
    if (launch->block[i] > block_limit[i])
      return limit_error(kernel, block_name[i], launch->block[i],
                         block_limit[i]);
    if (kernel->block[i] && launch->block[i] != kernel->block[i])
      return pacc_cpu_fail(PACC_CPU_ERROR_LAUNCH_LIMITS,
                           "kernel '%s': %s is %u, but the kernel was compiled "
                           "for %u",
                           kernel->name, block_name[i], launch->block[i],
                           kernel->block[i]);
  }
  uint64_t n = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
  uint32_t most = kernel->max_threads ? kernel->max_threads
                                      : (uint32_t)PACC_CPU_MAX_THREADS;
  if (n > most)
    return limit_error(kernel, "threads of a block", n, most);
  uint64_t shared = (uint64_t)kernel->static_shared + launch->shared;
  if (shared > PACC_CPU_MAX_SHARED)
    return limit_error(kernel, "bytes of shared memory", shared,
                       PACC_CPU_MAX_SHARED);
  return 0;
}

int pacc_cpu_executor_run(struct pacc_cpu_executor *executor,
                          const struct pacc_cpu_work *work) {
  int status = pacc_cpu_work_check(work);
  if (status)
    return status;
  struct pacc_launch launch = {.kernel = work->kernel,
                               .dynamic_shared = work->shared,
                               .shared =
                                   shared_size(work->kernel, work->shared),
                               .seed = executor->config.seed,
                               .params = work->params,
                               .owner = work->owner,
                               .on_pause = work->on_pause,
                               .resident = work->resident,
                               .n_threads = 1,
                               .n_blocks = 1};
  for (int i = 0; i < 3; i++) {
    launch.n_blocks *= launch.grid[i] = work->grid[i];
    launch.n_threads *= launch.block[i] = work->block[i];
  }
  launch.number = atomic_fetch_add(&executor->n_launches, 1) + 1;
  uint32_t n = executor->config.threads;
  if (launch.resident && launch.n_blocks > n)
    return pacc_cpu_fail(PACC_CPU_ERROR_LAUNCH_LIMITS,
                         "kernel '%s': %llu blocks can't be resident, the "
                         "limit is %u (PACC_CPU_THREADS)",
                         work->kernel->name,
                         (unsigned long long)launch.n_blocks, n);
  if (n > launch.n_blocks)
    n = (uint32_t)launch.n_blocks;
  /* Several shares per worker: blocks may differ in cost. */
  launch.chunk = n <= 1 ? launch.n_blocks : launch.n_blocks / (16ull * n) + 1;
  pthread_mutex_init(&launch.lock, NULL);
  status = launch_run(executor, &launch, n);
  if (launch.status)
    pacc_cpu_fail(launch.status, "%s", launch.detail);
  pthread_mutex_destroy(&launch.lock);
  return status;
}

void pacc_cpu_kernel_pack(const struct pacc_cpu_kernel *kernel,
                          void *const *params, void *block) {
  for (uint32_t i = 0; i < kernel->n_params; i++)
    memcpy((char *)block + kernel->param_offsets[i], params[i],
           kernel->param_sizes[i]);
}

int pacc_cpu_executor_launch(struct pacc_cpu_executor *executor,
                             const struct pacc_cpu_kernel *kernel,
                             const uint32_t grid[3], const uint32_t block[3],
                             uint32_t shared, int resident,
                             void *const *params) {
  _Alignas(16) unsigned char bytes[PACC_CPU_MAX_PARAMS];
  pacc_cpu_kernel_pack(kernel, params, bytes);
  struct pacc_cpu_work work = {.kernel = kernel,
                               .grid = {grid[0], grid[1], grid[2]},
                               .block = {block[0], block[1], block[2]},
                               .shared = shared,
                               .resident = resident,
                               .params = bytes};
  return pacc_cpu_executor_run(executor, &work);
}
