/* hostfn.h: functions of the host that device code may end up calling: C's
 * mathematical library, and what LLVM's code generator calls. */
#ifndef PACC_CPU_HOSTFN_H
#define PACC_CPU_HOSTFN_H

#include <stddef.h>

struct pacc_hostfn {
  const char *name;
  void *address;
};

const struct pacc_hostfn *pacc_hostfn_table(size_t *n);

/* The function of that name, or NULL. */
const struct pacc_hostfn *pacc_hostfn_find(const char *name);

#endif
