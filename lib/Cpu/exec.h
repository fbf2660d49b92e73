/* exec.h: runs launches of compiled kernels. */
#ifndef PACC_CPU_EXEC_H
#define PACC_CPU_EXEC_H

#include "config.h"
#include "program.h"

#include <stdint.h>

/* Holds the workers (exec_private.h) that launches run on. */
struct pacc_cpu_executor;

/* NULL, with a detail, if memory is out. */
struct pacc_cpu_executor *
pacc_cpu_executor_create(const struct pacc_cpu_config *config);
void pacc_cpu_executor_destroy(struct pacc_cpu_executor *executor);

/* A grid to run. `shared` is dynamic shared memory in bytes, `params` the block
 * of parameters (program.h), `owner` what device functions find in the launch.
 * on_pause(owner), if not NULL, is called where other grids may run: when a
 * thread sleeps and, with a seed, between blocks. Of a `resident` grid all
 * blocks run at the same time, and may wait for each other; they are at most as
 * many as the configuration has threads. */
struct pacc_cpu_work {
  const struct pacc_cpu_kernel *kernel;
  uint32_t grid[3], block[3];
  uint32_t shared;
  int resident;
  const void *params;
  void *owner;
  void (*on_pause)(void *owner);
};

/* PACC_CPU_ERROR_LAUNCH_LIMITS if no GPU takes such a launch. */
int pacc_cpu_work_check(const struct pacc_cpu_work *work);

/* Runs all threads of a grid and returns when they are done. Launches that no
 * GPU takes are refused; a fault ends the launch with an error whose detail
 * names kernel, block, thread and access. Safe to call from several threads,
 * and from a device function. */
int pacc_cpu_executor_run(struct pacc_cpu_executor *executor,
                          const struct pacc_cpu_work *work);

/* The same with pointers to the values of the parameters. */
int pacc_cpu_executor_launch(struct pacc_cpu_executor *executor,
                             const struct pacc_cpu_kernel *kernel,
                             const uint32_t grid[3], const uint32_t block[3],
                             uint32_t shared, int resident,
                             void *const *params);

/* Gathers the values of the parameters into the block of them. */
void pacc_cpu_kernel_pack(const struct pacc_cpu_kernel *kernel,
                          void *const *params, void *block);

#endif
