/* fiber.h: stacks that take turns on one host thread. A saved fiber is one
 * pointer, to its registers on its own stack. */
#ifndef PACC_CPU_FIBER_H
#define PACC_CPU_FIBER_H

#include <stddef.h>

/* Prepares a fiber whose stack ends at `top` (a multiple of 16, at least
 * 4 KiB of stack below it). The first switch to the result calls fn(arg),
 * which must never return: it switches away for good. */
void *pacc_fiber_make(void *top, void (*fn)(void *), void *arg);

/* Saves the running fiber in *from and goes on with `to`, which is used up.
 * Returns when something switches back to *from. Rounding mode and other
 * floating-point control bits belong to the host thread, not to the fiber. */
void pacc_fiber_switch(void **from, void *to);

#endif
