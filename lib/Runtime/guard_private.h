/* guard_private.h: is the device worth it? */
#ifndef PACC_GUARD_PRIVATE_H
#define PACC_GUARD_PRIVATE_H

#include "run_private.h"

/* Measures what a copy takes. The thread has entered the device, which is not
 * open for others yet. */
void pacc_guard_measure(struct pacc_device *device);

/* The region's code has come as far as the runtime: if its original loops
 * follow, the reason is known. NULL: it has ended. */
void pacc_guard_reached(const struct pacc_region *region);

/* Regions ask whatever they have to do, until as many calls say false. */
void pacc_guard_ask_always(bool always);

/* A region could not be opened or failed: its original loops, which run next,
 * say nothing about the device. */
void pacc_guard_forget(void);

/* A region ran on the device, in `seconds`. */
void pacc_guard_device_ran(const struct pacc_region *region, double seconds);

#endif
