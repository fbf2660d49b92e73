/* objects.h: the device code within object files and archives. */
#ifndef PACC_CPU_LINK_OBJECTS_H
#define PACC_CPU_LINK_OBJECTS_H

#include <stddef.h>

/* Called for each image of device code: `kind` as in clang's offload format
 * (PACC_IMAGE_BITCODE is the one to use), `arch` like "sm_90", and the bytes,
 * which live until pacc_objects_read returns. Not 0 stops. */
enum { PACC_IMAGE_BITCODE = 2 };
typedef int pacc_image_visitor(void *context, const char *name, int kind,
                               const char *arch, const void *bytes,
                               size_t size);

/* Visits the images of a file, which may hold none. A status of the CPU device
 * with a detail if it can't be read or is damaged, or what `visit` returned. */
int pacc_objects_read(const char *path, pacc_image_visitor *visit,
                      void *context);

#endif
