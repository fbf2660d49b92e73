/* module_private.h: images of device code, checked and loaded once. */
#ifndef PACC_MODULE_PRIVATE_H
#define PACC_MODULE_PRIVATE_H

#include "device_private.h"

enum pacc_module_state { PACC_MODULE_NEW, PACC_MODULE_READY, PACC_MODULE_BAD };

/* What image->state points to. It stays allocated: the image may be part of
 * a shared object that was unmapped, so nothing refers back to it.
 * kernels  the backend's kernels, by number, once READY
 * error    why it is BAD
 */
struct pacc_module {
  _Atomic(enum pacc_module_state) state;
  pthread_mutex_t lock;
  void *handle;
  void **kernels;
  struct pacc_error *error;
  struct pacc_module *next;
};

/* The image's module on the device, which this thread holds and has entered;
 * loaded by the first call. NULL: the reason is in `error`, and stays the
 * same until pacc_rt_release. `loaded` tells whether this call loaded it. */
struct pacc_module *pacc_module_get(struct pacc_device *device,
                                    struct pacc_image *image, bool *loaded,
                                    struct pacc_error *error);

/* Bytes of the image's code for this device. */
uint64_t pacc_module_code_size(const struct pacc_device *device,
                               const struct pacc_image *image);

/* Unloads every module. Nobody else may be using the device. */
void pacc_module_unload_all(struct pacc_device *device);

#endif
