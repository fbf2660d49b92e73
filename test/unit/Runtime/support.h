/* support.h: an image, a region and its data for the tests, written as the
 * plugin's host code calls the runtime; and tests in child processes, since
 * the runtime reads its environment once per process.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include "fake_cuda.h"

#include "pacc/abi.h"
#include "pacc/runtime.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* In a child there is no cmocka to jump back to. */
#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__,             \
              #condition);                                                     \
      _exit(1);                                                                \
    }                                                                          \
  } while (0)

/* What a child wrote to stderr, and how it ended. */
struct child {
  int status; /* as from wait: 0 is good */
  char text[1 << 16];
};

/* Runs body(argument) in a child, which then exits normally. */
void run_child(struct child *child, void (*body)(void *), void *argument);

/* Runs it and fails the test unless the child ends with 0. The text that the
 * child wrote stays until the next call. */
const char *expect_success(void (*body)(void *), void *argument);

/* How often `part` is in `text`. */
unsigned count_text(const char *text, const char *part);

/* ---- image and regions ---- */

enum { N = 1000, ROWS = 20, COLUMNS = 24, WIDTH = 7, FIRST_COLUMN = 5 };

/* Kernels of the image. */
enum { AXPY, FILL, MARK, N_KERNELS };

/* What the kernel "mark" inverts: its parameters are the address of a device
 * array and of this. */
struct mark {
  int64_t offset, width, count, pitch;
};

extern struct pacc_image test_image;
extern struct pacc_region test_region;

/* A kernel fills an array of the device alone, another adds twice that to
 * target[0 .. 2]: by the run's own way to place arrays. Ends the run. */
int run_with_scratch(void *run, double *target, double value);

/* The image with right hashes; registers its kernels with the fake driver. */
void init_image(struct pacc_image *image);

/* FNV-1a, written again. */
uint64_t test_hash(const void *bytes, uint64_t size);

struct data {
  double a[N], b[N], c[ROWS][COLUMNS];
};
void init_data(struct data *data, unsigned seed);

/* The rest of a region, from its arrays to __pacc_rt_end, whose result it
 * returns. place: __pacc_rt_array or __pacc_rt_span_array. */
typedef uint64_t place_array(void *run, const char *name, void *host,
                             int64_t lo, int64_t hi);
int finish_region(void *run, place_array *place, struct data *data,
                  double seed);

/* b += 2 a (launched twice, so 4 a in all), and WIDTH columns of c become
 * seed. Returns what __pacc_rt_end does, 0 if begin gave NULL. */
int offload(struct pacc_region *region, struct data *data, double seed);

/* The original loops of the same. */
void on_host(struct data *data, double seed);

/* offload, checked: on success the results are right, on failure nothing was
 * changed; then, as generated code does, the original loops. */
int run_region(struct pacc_region *region, unsigned seed);

#endif
