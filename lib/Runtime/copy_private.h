/* copy_private.h: copies in host memory. */
#ifndef PACC_COPY_PRIVATE_H
#define PACC_COPY_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

/* Copies `count` rows of `width` bytes that are to_pitch and from_pitch bytes
 * apart. Rows do not overlap. Can't fail. */
void pacc_copy_rows(void *to, uint64_t to_pitch, const void *from,
                    uint64_t from_pitch, uint64_t width, uint64_t count);

/* The same, but writes only bytes of `from` that differ from those of `before`,
 * which has the layout of `from`: other bytes of `to` may be another thread's.
 */
void pacc_copy_changes(void *to, uint64_t to_pitch, const void *from,
                       const void *before, uint64_t from_pitch, uint64_t width,
                       uint64_t count);

/* Can all bytes be read? False if that cannot be found out. */
bool pacc_memory_readable(const void *from, uint64_t size);

#endif
