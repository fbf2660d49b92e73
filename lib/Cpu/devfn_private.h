/* devfn_private.h: prototypes of the device functions in devfn.def. */
#ifndef PACC_CPU_DEVFN_PRIVATE_H
#define PACC_CPU_DEVFN_PRIVATE_H

#include "device_abi.h"

#include <stdint.h>

/* What LLVM returns as {i64, i64}: in two registers on every host. */
struct pacc_dev_pair {
  uint64_t low, high;
};

/* Visible, for device code that is linked into programs. */
#define PACC_DEV(result, name, params, type, flags)                            \
  __attribute__((visibility("default"))) result pacc_dev_##name params;
#include "devfn.def"

#endif
