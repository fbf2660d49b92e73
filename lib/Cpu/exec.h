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

/* Runs all threads of a grid and returns when they are done. `params` points
 * to the values of the kernel's parameters, `shared` is dynamic shared memory
 * in bytes. Launches that no GPU takes are refused with
 * PACC_CPU_ERROR_LAUNCH_LIMITS; a fault ends the launch with an error whose
 * detail names kernel, block, thread and access. Safe to call from several
 * threads. */
int pacc_cpu_executor_launch(struct pacc_cpu_executor *executor,
                             const struct pacc_cpu_kernel *kernel,
                             const uint32_t grid[3], const uint32_t block[3],
                             uint32_t shared, void *const *params);

#endif
