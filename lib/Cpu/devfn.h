/* devfn.h: the functions that retargeted code calls, by name. An intrinsic
 * `llvm.nvvm.add.rz.d` becomes a call of `pacc_dev_add_rz_d`: dots turn into
 * underscores. */
#ifndef PACC_CPU_DEVFN_H
#define PACC_CPU_DEVFN_H

#include <stddef.h>

enum {
  PACC_DEV_SUSPENDS = 1, /* the thread may wait in it for others */
  PACC_DEV_SITE = 2, /* takes the number of the call site as last argument */
  PACC_DEV_PURE = 4, /* result depends on the arguments alone */
};

/* type  result and arguments, a letter each: v void, i i32 (and narrower, zero
 *       extended), l i64, f float, d double, p pointer, q two words (the
 *       result of type {i32, i1} packed into an i64), Q a pair of i64 */
struct pacc_devfn {
  const char *name;
  void *address;
  const char *type;
  int flags;
};

/* The function of that name, or NULL. */
const struct pacc_devfn *pacc_devfn_find(const char *name);

/* The function that stands for a function of CUDA or C's library that device
 * code calls (cudafn.def), or NULL. Its name is pacc_dev_<name>; it has no
 * address here. */
const struct pacc_devfn *pacc_cudafn_find(const char *name);

/* All functions but those of cudafn.def. */
const struct pacc_devfn *pacc_devfn_table(size_t *n);

#endif
