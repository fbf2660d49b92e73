/* copy_private.h: copies in host memory. */
#ifndef PACC_COPY_PRIVATE_H
#define PACC_COPY_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies `count` rows of `width` bytes that are to_pitch and from_pitch bytes
 * apart. Rows do not overlap. Can't fail. */
void pacc_copy_rows(void *to, uint64_t to_pitch, const void *from,
                    uint64_t from_pitch, uint64_t width, uint64_t count);

/* The same, but writes only what differs from `before`, which has the layout of
 * `from`: the rest of `to` may be another thread's. `unit` bytes (1, 2, 4 or 8)
 * are written together; single bytes if the rows in `to` are not aligned to it.
 */
void pacc_copy_changes(void *to, uint64_t to_pitch, const void *from,
                       const void *before, uint64_t from_pitch, uint64_t width,
                       uint64_t count, uint32_t unit);

/* How many threads a large copy can use beside the one that makes it. */
unsigned pacc_copy_helpers(void);

/* Starts up to n threads; thread i runs body(arguments + i * size). Gives their
 * number: one that can't be had costs time only. */
unsigned pacc_copy_start(pthread_t threads[], unsigned n, void *(*body)(void *),
                         void *arguments, size_t size);

/* Can all bytes be read? False if that cannot be found out. */
bool pacc_memory_readable(const void *from, uint64_t size);

#endif
