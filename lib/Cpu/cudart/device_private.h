/* device_private.h: the functions that kernels call, as cudafn.def lists them,
 * and what they share. They run on the stack of a device thread: no locks are
 * held while device memory is touched, since a fault leaves them for good. */
#ifndef PACC_CUDART_DEVICE_PRIVATE_H
#define PACC_CUDART_DEVICE_PRIVATE_H

#include "cudart_private.h"

#include "exec_private.h"

#define PACC_CUDA(result, name, params, type)                                  \
  PACC_PUBLIC result pacc_dev_##name params;
#include "cudafn.def"

/* The grid of the calling thread. */
struct pacc_grid *pacc_device_grid(void);
/* Notes an error as the last of the calling thread and returns it. */
cudaError_t pacc_device_error(cudaError_t error);

#endif
