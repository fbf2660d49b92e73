/* support.c: contexts of isl, and random numbers. */
#include "support.h"

#include <isl/options.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

isl_ctx *context_open(void) {
  isl_ctx *ctx = must(isl_ctx_alloc());
  isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
  return ctx;
}

static const char *closing;

static void say_what(int signal) {
  (void)signal;
  static const char text[] = "isl objects were not freed: ";
  if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ||
      write(STDERR_FILENO, closing, strlen(closing)) < 0 ||
      write(STDERR_FILENO, "\n", 1) < 0)
    _exit(1);
}

void context_close(isl_ctx *ctx, const char *what) {
  closing = what;
  void (*old)(int) = signal(SIGABRT, say_what);
  isl_ctx_reset_error(ctx);
  isl_options_set_on_error(ctx, ISL_ON_ERROR_ABORT);
  isl_ctx_free(ctx);
  signal(SIGABRT, old);
}

unsigned draw(uint64_t *seed, unsigned n) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)((*seed >> 33) % n);
}
