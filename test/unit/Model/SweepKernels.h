/* SweepKernels.h: the kernels of lib/Model/calibrate/shapes.cu, as the model
 * sees them. */
#ifndef PACC_SWEEP_KERNELS_H
#define PACC_SWEEP_KERNELS_H

#include "pacc/model.h"

enum { SWEEP_ACCESSES = 12 };

struct sweep_kernel {
  struct pacc_work work;
  struct pacc_access accesses[SWEEP_ACCESSES];
};

/* Kernel `name` at size 0 or 1; false: unknown. work.accesses points into
 * *kernel. */
bool sweep_kernel_get(const char *name, int size, uint32_t regs,
                      struct sweep_kernel *kernel);

#endif
