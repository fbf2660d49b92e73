/* log_private.h: messages on stderr, and the failure of a region in words.
 *
 * Every message is one line that begins with "pacc: " and is written with one
 * write(2), so that lines of several threads do not mix. PACC_LOG says how
 * much is written. Nothing here prints unless pacc_log is called.
 */
#ifndef PACC_LOG_PRIVATE_H
#define PACC_LOG_PRIVATE_H

#include "pacc/abi.h"
#include "pacc/backend.h"

#include <stdbool.h>
#include <stdint.h>

enum pacc_log_level { PACC_LOG_ERROR, PACC_LOG_INFO, PACC_LOG_LAUNCH };

enum { PACC_MESSAGE_SIZE = 2048 };

/* Why something failed.
 * status  the backend's code, or 0 for a failure that is not the backend's
 * key     equal for two failures of the same kind, whatever sizes and names
 *         their texts contain
 * text    one line without newline; "" means no failure
 */
struct pacc_error {
  int status;
  uint64_t key;
  char text[PACC_MESSAGE_SIZE];
};

/* The variable's value; NULL if it is unset or empty, or if the program runs
 * with more rights than its caller (these variables name files to open). */
const char *pacc_env(const char *name);

bool pacc_log_on(enum pacc_log_level level);

__attribute__((format(printf, 2, 3))) void pacc_log(enum pacc_log_level level,
                                                    const char *format, ...);

/* Fills in `error`. With a backend, its name for `status` and its details are
 * appended; without one (NULL), status is 0. */
__attribute__((format(printf, 5, 6))) void
pacc_error_set(struct pacc_error *error, const struct pacc_backend *backend,
               void *device, int status, const char *format, ...);

/* Says at level error that `region` runs its original loops because of
 * `error`; once for each region and kind of error. */
void pacc_error_report(const struct pacc_region *region,
                       const struct pacc_error *error);

enum { PACC_TITLE_SIZE = 512 };

/* "kernel_gemm_scop0 (gemm.c:77)", or without a place; returns text. */
const char *pacc_region_title(const struct pacc_region *region,
                              char text[PACC_TITLE_SIZE]);

/* Is this another thing than what was said last of the region? what: 0, 1, ...
 */
bool pacc_log_is_news(const struct pacc_region *region, int what);

/* 64-bit FNV-1a. */
uint64_t pacc_hash(const void *bytes, uint64_t size);

/* "12 bytes", "3.4 KiB", "1.2 GiB" into text[24]; returns text. */
const char *pacc_bytes(uint64_t size, char text[24]);

#endif
