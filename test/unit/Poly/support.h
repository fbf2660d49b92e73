/* support.h: what the unit tests of lib/Poly share. */
#ifndef PACC_TEST_SUPPORT_H
#define PACC_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <isl/ctx.h>

/* A pointer that may not be NULL; ends the test if it is. */
#define must(pointer)                                                          \
  ({                                                                           \
    __typeof__(pointer) must_pointer = (pointer);                              \
    assert_non_null(must_pointer);                                             \
    must_pointer;                                                              \
  })

/* A context in which isl goes on after errors, as the plugin has it. */
isl_ctx *context_open(void);

/* Frees the context. Objects that were not freed abort the test, after a
 * message that names `what`. */
void context_close(isl_ctx *ctx, const char *what);

/* A number in [0, n), n > 0; the sequence depends on the seed alone. */
unsigned draw(uint64_t *seed, unsigned n);

#endif
