/* guard_private.h: is the device worth it? */
#ifndef PACC_GUARD_PRIVATE_H
#define PACC_GUARD_PRIVATE_H

#include "run_private.h"

/* Measures what a copy takes. The thread has entered the device. */
void pacc_guard_measure(struct pacc_device *device);

/* A region ran on the device, in `seconds`. */
void pacc_guard_device_ran(const struct pacc_region *region, double seconds);

#endif
