/* backends_private.h: the devices that the runtime knows. Each fills the
 * table of pacc/backend.h.
 */
#ifndef PACC_BACKENDS_PRIVATE_H
#define PACC_BACKENDS_PRIVATE_H

#include "log_private.h"

/* NVIDIA's driver. Never NULL: whether there is a driver shows at open. */
const struct pacc_backend *pacc_cuda_backend(void);

/* The number of the first GPU whose UUID begins so ("GPU-..." or "MIG-...") or
 * whose name contains this, whatever the case. Gives the status of the backend.
 */
int pacc_cuda_find(const char *wanted, int *ordinal);

/* Whether there is no driver at all, which costs little to find out. */
bool pacc_cuda_has_no_library(void);

/* Whether open's status means that this machine has no GPU to use, which is a
 * normal machine, and not that something is broken. */
bool pacc_cuda_absent(int status);

/* The table of libpacc_cpu.so, which is opened now. NULL if it can't be
 * opened, with the reason in `error`. */
const struct pacc_backend *pacc_cpu_open_library(struct pacc_error *error);

#endif
