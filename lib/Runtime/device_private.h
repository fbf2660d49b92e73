/* device_private.h: the one device of the process, and when it may be used.
 *
 * PACC_DEVICE chooses it at the first region. It is used by threads that
 * hold it: between hold and release of the hold neither the exit of the
 * process nor pacc_rt_release takes modules away.
 */
#ifndef PACC_DEVICE_PRIVATE_H
#define PACC_DEVICE_PRIVATE_H

#include "backends_private.h"
#include "pool_private.h"

#include <stdatomic.h>

struct pacc_module;

/* handle   the backend's device
 * holders  read-locked by threads in regions
 * lost     a failure that stays: nothing on the device is touched any more
 * memory   blocks of device memory
 * staging  host memory for results, pinned if the backend can
 * modules  every image that was loaded, under modules_lock
 * copy_seconds, byte_seconds
 *          of a copy, and of each of its bytes; 0 if not measured
 */
struct pacc_device {
  const struct pacc_backend *backend;
  void *handle;
  int ordinal;
  struct pacc_device_info info;
  pthread_rwlock_t holders;
  atomic_bool lost;
  struct pacc_pool memory;
  struct pacc_pool staging;
  pthread_mutex_t modules_lock;
  struct pacc_module *modules;
  double copy_seconds, byte_seconds;
};

/* Does the environment leave it to the runtime where regions run, and may it
 * be a device at all? */
bool pacc_device_is_optional(void);

/* False if regions run their original loops, as far as is known. */
bool pacc_device_is_possible(void);

/* The device, opened by the first call. NULL: original loops; what was wrong
 * has been said. */
struct pacc_device *pacc_device_get(void);

/* The device if it was opened and may still be used, else NULL. */
struct pacc_device *pacc_device_peek(void);

/* False if the device is lost, the process exits or was forked. */
bool pacc_device_hold(struct pacc_device *device);
void pacc_device_unhold(struct pacc_device *device);

/* The device stays unusable from now on. */
void pacc_device_lose(struct pacc_device *device);

/* Gives free blocks back to the device, which this thread has entered; tells
 * how many bytes. */
uint64_t pacc_device_trim(struct pacc_device *device);

/* Gives all back that no region uses; see pacc_rt_release. */
void pacc_device_release(struct pacc_device *device);

#endif
