/* cpu.c: finds and opens libpacc_cpu.so, the CPU device. */
#include "backends_private.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char library_name[] = "libpacc_cpu.so";

/* The library's path in the folder of the object that this code is part of:
 * libpacc_rt.so, or the program if it was linked with libpacc_rt.a. False if
 * there is none. */
static bool find_beside(char path[], size_t path_size) {
  Dl_info info;
  if (!dladdr((void *)(uintptr_t)&pacc_cpu_open_library, &info) ||
      !info.dli_fname)
    return false;
  const char *slash = strrchr(info.dli_fname, '/');
  if (!slash)
    return false;
  int length = (int)(slash - info.dli_fname);
  int size = snprintf(path, path_size, "%.*s/%s", length, info.dli_fname,
                      library_name);
  return size > 0 && (size_t)size < path_size && access(path, F_OK) == 0;
}

const struct pacc_backend *pacc_cpu_open_library(struct pacc_error *error) {
  char beside[4096];
  const char *path = pacc_env("PACC_CPU_LIBRARY");
  if (!path)
    path = find_beside(beside, sizeof beside) ? beside : library_name;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    pacc_error_set(error, NULL, NULL, 0,
                   "the CPU device can't be opened: %s; put %s beside "
                   "libpacc_rt.so or name it in PACC_CPU_LIBRARY",
                   why ? why : "not found", library_name);
    return NULL;
  }
  const struct pacc_backend *(*get)(void) =
      (const struct pacc_backend *(*)(void))dlsym(library, "pacc_cpu_backend");
  if (!get) {
    pacc_error_set(error, NULL, NULL, 0,
                   "the CPU device can't be used: %s exports no "
                   "pacc_cpu_backend",
                   path);
    return NULL;
  }
  const struct pacc_backend *backend = get();
  if (!backend || backend->version != PACC_BACKEND_VERSION) {
    pacc_error_set(error, NULL, NULL, 0,
                   "the CPU device can't be used: %s is of another version "
                   "(%u, not %d) than this runtime; install both from one "
                   "build",
                   path, backend ? backend->version : 0, PACC_BACKEND_VERSION);
    return NULL;
  }
  return backend;
}
