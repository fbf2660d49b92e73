/* fake_private.h: what the parts of the stand-in for the driver share. */
#ifndef FAKE_PRIVATE_H
#define FAKE_PRIVATE_H

#include "fake_cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long long address;

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  DEINITIALIZED = 4,
  INVALID_DEVICE = 101,
  NO_BINARY_FOR_GPU = 209,
  INVALID_PTX = 218,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  ILLEGAL_ADDRESS = 700,
  OUT_OF_RESOURCES = 701,
  TOO_LARGE = 720,
};

enum { MAX_PARAMS = 16 };

struct kernel {
  const char *name;
  fake_kernel *run;
  unsigned n_params;
  const uint32_t *sizes;
};

/* Guards everything that is not const or a thread's own. */
extern pthread_mutex_t fake_lock;
extern struct fake_cuda_live fake_live;

/* Bytes that the device has. */
extern uint64_t fake_memory;

/* Counts the call, and gives the status that it must fail with, or 0. */
int fake_enter(const char *function, bool needs_context);

/* The driver's exit handler has run. */
void fake_end(void);

#define ENTER(needs_context)                                                   \
  do {                                                                         \
    int failed = fake_enter(__func__, needs_context);                          \
    if (failed)                                                                \
      return failed;                                                           \
  } while (0)

#endif
