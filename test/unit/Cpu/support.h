/* support.h: the CPU device with a module of test kernels. */
#ifndef PACC_TEST_CPU_SUPPORT_H
#define PACC_TEST_CPU_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pacc/backend.h"

/* An open device with a loaded module. */
struct gpu {
  const struct pacc_backend *backend;
  void *device;
  void *module;
};

/* Opens the device with these settings; negative numbers leave a variable
 * unset. The module is <KERNELS>/<name>.bc. */
struct gpu gpu_open(const char *name, long seed, long threads, long check);
void gpu_close(struct gpu *gpu);

/* The bytes of a file; fails the test if there is none. */
void *read_file(const char *path, size_t *size);
/* An image of bitcode with the right hash. */
struct pacc_image make_image(const void *bitcode, size_t size);

uint64_t gpu_alloc(struct gpu *gpu, uint64_t size);
/* A new allocation with these bytes. */
uint64_t gpu_upload(struct gpu *gpu, const void *from, uint64_t size);
void gpu_download(struct gpu *gpu, void *to, uint64_t from, uint64_t size);

struct dims {
  uint32_t x, y, z;
};
static inline struct dims dim(uint32_t x) { return (struct dims){x, 1, 1}; }

/* A parameter: its address and size. */
struct param {
  void *at;
  uint32_t size;
};
#define P(x) ((struct param){&(x), sizeof(x)})

/* Launches and returns the status. The parameters end with {NULL, 0}. */
int gpu_launch(struct gpu *gpu, const char *kernel, struct dims grid,
               struct dims block, uint32_t shared, const struct param *params);
#define PARAMS(...) ((struct param[]){__VA_ARGS__, {NULL, 0}})

/* Launches, which must succeed. */
#define RUN(gpu, ...) assert_ok(gpu, gpu_launch(gpu, __VA_ARGS__))
void assert_ok(const struct gpu *gpu, int status);
/* The error's name must be PACC_CPU_ERROR_<name> and its detail must hold each
 * of the texts, which end with NULL. */
void assert_error(const struct gpu *gpu, int status, const char *name, ...);

#endif
