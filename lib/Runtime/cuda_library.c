/* cuda_library.c: opens NVIDIA's driver, libcuda.so.1, at run time, and says
 * what failed.
 */
#include "cuda_private.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

struct pacc_cuda_driver pacc_cu;

const struct pacc_cuda_names pacc_cu_names = {
#define X(field, symbol, parameters) .field = #symbol,
    PACC_CUDA_REQUIRED(X)
#undef X
};

_Thread_local char pacc_cuda_detail[PACC_MESSAGE_SIZE / 2];

int pacc_cuda_check(int status, const char *function) {
  if (status)
    snprintf(pacc_cuda_detail, sizeof pacc_cuda_detail, "%s", function);
  return status;
}

static pthread_once_t library_once = PTHREAD_ONCE_INIT;
static int library_status;
static char library_detail[256];

static void *find(void *library, const char *symbol) {
  void *address = dlsym(library, symbol);
  if (!address && !library_status) {
    library_status = MISSING_SYMBOL;
    snprintf(library_detail, sizeof library_detail,
             "it lacks %s; update the NVIDIA driver (CUDA 11 or later)",
             symbol);
  }
  return address;
}

static void load_library(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    library_status = NO_LIBRARY;
    snprintf(library_detail, sizeof library_detail, "%s", dlerror());
    return;
  }
#define X(field, symbol, parameters)                                           \
  pacc_cu.field = (int(*) parameters)find(library, #symbol);
  PACC_CUDA_REQUIRED(X)
#undef X
#define X(field, symbol, parameters)                                           \
  pacc_cu.field = (int(*) parameters)dlsym(library, #symbol);
  PACC_CUDA_OPTIONAL(X)
#undef X
}

int pacc_cuda_library(void) {
  pthread_once(&library_once, load_library);
  if (library_status)
    snprintf(pacc_cuda_detail, sizeof pacc_cuda_detail, "%s", library_detail);
  return library_status;
}
