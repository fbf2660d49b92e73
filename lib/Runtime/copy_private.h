/* copy_private.h: copies in host memory. */
#ifndef PACC_COPY_PRIVATE_H
#define PACC_COPY_PRIVATE_H

#include <stdint.h>

/* Copies `count` rows of `width` bytes that are to_pitch and from_pitch bytes
 * apart. Rows do not overlap. Can't fail. */
void pacc_copy_rows(void *to, uint64_t to_pitch, const void *from,
                    uint64_t from_pitch, uint64_t width, uint64_t count);

#endif
