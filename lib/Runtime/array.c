/* array.c: arrays of a region, and their copies in both directions.
 *
 * Results go to staging memory first. pacc_run_write_back is the one place
 * that writes to the program's memory, and it can't fail.
 */
#include "copy_private.h"
#include "data_private.h"
#include "span_private.h"

#include "pacc/runtime.h"

/* Device addresses that stand for an array's own begin are multiples of this,
 * as if the whole array had been allocated. */
enum { ALIGNMENT = 256 };

/* Rows in staging memory start at multiples of this. */
enum { STAGING_ALIGNMENT = 64 };

/* ---- arrays ----------------------------------------------------------- */

/* Finds a place for the array, and for the `before` bytes in front of it. */
static void place(struct pacc_run *run, struct pacc_array *array,
                  uint64_t before) {
  struct pacc_device *device = run->device;
  uint64_t size = (uint64_t)array->hi - (uint64_t)array->lo + before;
  /* The CPU device puts a guard page behind exactly these bytes, and aligns
   * them as it can. */
  uint64_t shift = device->memory.exact ? 0
                                        : ((uint64_t)array->lo - before) &
                                              (uint64_t)(ALIGNMENT - 1);
  char text[24];
  if (size > INT64_MAX - shift) {
    FAIL_HERE(run, "array %s has an impossible size", array->name);
    return;
  }
  int status = pacc_pool_take(&device->memory, size + shift, &array->block);
  if (status == PACC_POOL_NO_HOST_MEMORY)
    FAIL_HERE(run, "out of host memory for array %s", array->name);
  else if (status)
    FAIL(run, status, "no device memory for array %s (%s)", array->name,
         pacc_bytes(size, text));
  else
    array->address =
        array->block->address + shift + before - (uint64_t)array->lo;
}

/* The bytes of `n` counts of copies of `size` bytes each. False: more than
 * there could be. */
static bool size_of_copies(int64_t size, const int64_t *counts, uint32_t n,
                           int64_t *bytes) {
  *bytes = size;
  for (uint32_t i = 0; i < n; i++)
    if (counts[i] > 1 && __builtin_mul_overflow(*bytes, counts[i], bytes))
      return false;
  return true;
}

/* May copies of an array take so many bytes? */
static bool is_affordable(const struct pacc_run *run, int64_t bytes) {
  uint64_t others = 0;
  for (unsigned i = 0; i < run->n_arrays; i++) {
    const struct pacc_array *array = &run->arrays[i];
    if (array->lo < array->hi)
      others += (uint64_t)array->hi - (uint64_t)array->lo;
  }
  return bytes <= PACC_EXPANSION_FREE ||
         (uint64_t)bytes / PACC_EXPANSION_FACTOR <= others;
}

/* An array without a place; NULL after a failure. */
static struct pacc_array *new_array(struct pacc_run *run, const char *name,
                                    void *host, int64_t lo, int64_t hi) {
  if (run->failed)
    return NULL;
  struct pacc_array *array = pacc_run_add_array(run);
  if (!array) {
    FAIL_HERE(run, "out of host memory for array %s", name ? name : "");
    return NULL;
  }
  array->name = name ? name : "";
  array->host = host;
  array->lo = lo;
  array->hi = hi;
  /* No kernel reads through the address of an empty array. */
  array->address = ALIGNMENT;
  return array;
}

static uint64_t add_array(struct pacc_run *run, const char *name, void *host,
                          int64_t lo, int64_t hi, bool stays, uint64_t before) {
  struct pacc_array *array = new_array(run, name, host, lo, hi);
  if (!array)
    return 0;
  if (run->managed && before)
    FAIL_HERE(run, "array %s has copies, and its memory is managed",
              array->name);
  else if (run->managed)
    array->address = (uintptr_t)host;
  else if (lo < hi && stays)
    pacc_mirror_place(run, array);
  else if (lo < hi && !pacc_data_place(run, array))
    place(run, array, before);
  else if (array->data && before)
    FAIL_HERE(run,
              "array %s of a pacc_data_begin has a copy for each iteration of "
              "some loops: leave it out of the data",
              array->name);
  return run->failed ? 0 : array->address;
}

PACC_RT_API uint64_t __pacc_rt_array(void *handle, const char *name, void *host,
                                     int64_t lo, int64_t hi) {
  return add_array(handle, name, host, lo, hi, false, 0);
}

PACC_RT_API uint64_t __pacc_rt_span_array(void *handle, const char *name,
                                          void *host, int64_t lo, int64_t hi) {
  struct pacc_run *run = handle;
  return add_array(run, name, host, lo, hi, run->span != NULL, 0);
}

PACC_RT_API uint64_t __pacc_rt_scratch(void *handle, const char *name,
                                       int64_t lo, int64_t hi) {
  struct pacc_run *run = handle;
  struct pacc_array *array = new_array(run, name, NULL, lo, hi);
  if (array && lo < hi)
    place(run, array, 0);
  return run->failed ? 0 : array->address;
}

PACC_RT_API uint64_t __pacc_rt_array_copies(void *handle, const char *name,
                                            void *host, int64_t lo, int64_t hi,
                                            const int64_t *counts, uint32_t n) {
  struct pacc_run *run = handle;
  if (run->failed)
    return 0;
  int64_t size = 0, bytes = 0;
  if (lo < hi && (__builtin_sub_overflow(hi, lo, &size) ||
                  !size_of_copies(size, counts, n, &bytes) ||
                  !is_affordable(run, bytes))) {
    FAIL_HERE(run, "the copies of array %s would take too much memory",
              name ? name : "");
    return 0;
  }
  return add_array(run, name, host, lo, hi, false, (uint64_t)(bytes - size));
}

/* ---- copies ----------------------------------------------------------- */

/* `count` rows of `width` bytes, `pitch` bytes apart, from `offset` on. */
struct rows {
  int64_t offset, width, count, pitch;
};

/* Puts rows in ascending order, and rows that touch or overlap into one.
 * False if they are not within the array. */
static bool normalize(const struct pacc_array *array, struct rows *rows) {
  int64_t span, last, end;
  if (rows->count == 1)
    rows->pitch = rows->width;
  if (__builtin_mul_overflow(rows->count - 1, rows->pitch, &span) ||
      __builtin_add_overflow(rows->offset, span, &last))
    return false;
  if (rows->pitch < 0) {
    int64_t first = last;
    last = rows->offset;
    rows->offset = first;
    if (__builtin_sub_overflow(0, rows->pitch, &rows->pitch) ||
        __builtin_sub_overflow(0, span, &span))
      return false;
  }
  if (__builtin_add_overflow(last, rows->width, &end) ||
      rows->offset < array->lo || end > array->hi)
    return false;
  if (rows->pitch <= rows->width) {
    rows->width = end - rows->offset;
    rows->count = 1;
    rows->pitch = rows->width;
  }
  return true;
}

static const char *host_bytes(const struct pacc_array *array,
                              const struct rows *rows) {
  return (const char *)((uintptr_t)array->host + (uintptr_t)rows->offset);
}

/* Bytes from the first one of the rows to the last. */
static uint64_t rows_span(const struct rows *rows) {
  return (uint64_t)((rows->count - 1) * rows->pitch + rows->width);
}

static bool is_readable(const struct pacc_array *array,
                        const struct rows *rows) {
  return pacc_memory_readable(host_bytes(array, rows), rows_span(rows));
}

/* `from` has its rows from_pitch bytes apart. */
static void copy_in(struct pacc_run *run, const struct pacc_array *array,
                    const struct rows *rows, const char *from,
                    uint64_t from_pitch, bool from_staging) {
  pacc_run_copy_in(run, array->name, array->address + (uint64_t)rows->offset,
                   (uint64_t)rows->pitch, from, from_pitch,
                   (uint64_t)rows->width, (uint64_t)rows->count, from_staging);
}

/* Keeps what the host has now, for pacc_copy_changes or pacc_run_restore. The
 * device gets just that: other threads may change their parts of the array
 * meanwhile. */
static void keep_before(struct pacc_run *run, const struct pacc_array *array,
                        const struct rows *rows, struct pacc_result *result) {
  uint64_t size = result->width * result->count;
  if (pacc_pool_take(&run->device->staging, size, &result->before_block)) {
    char text[24];
    result->before_block = NULL;
    FAIL_HERE(run, "out of host memory for the old values of %s (%s)",
              result->name, pacc_bytes(size, text));
    return;
  }
  char *before = (char *)(uintptr_t)result->before_block->address;
  result->before = before;
  pacc_copy_rows(before, result->width, result->host, result->pitch,
                 result->width, result->count);
  if (!run->managed)
    copy_in(run, array, rows, before, result->width, true);
}

static void note_result(struct pacc_run *run, const struct pacc_array *array,
                        const struct rows *rows, uint32_t direction) {
  struct pacc_result *result = pacc_run_add_result(run);
  if (!result) {
    FAIL_HERE(run, "out of host memory for array %s", array->name);
    return;
  }
  result->name = array->name;
  result->host = (char *)(uintptr_t)host_bytes(array, rows);
  result->device = array->address + (uint64_t)rows->offset;
  result->width = (uint64_t)rows->width;
  result->count = (uint64_t)rows->count;
  result->pitch = (uint64_t)rows->pitch;
  result->unit = pacc_copy_unit(direction);
  if (direction & PACC_COPY_CHANGES || run->managed)
    keep_before(run, array, rows, result);
}

PACC_RT_API void __pacc_rt_copy(void *handle, uint32_t number,
                                uint32_t direction, int64_t offset,
                                int64_t width, int64_t count, int64_t pitch) {
  struct pacc_run *run = handle;
  if (run->failed || width <= 0 || count <= 0)
    return;
  if (number >= run->n_arrays) {
    FAIL_HERE(run, "there is no array %u", number);
    return;
  }
  /* Bounded by n_arrays: adding results does not move arrays. */
  const struct pacc_array *array = &run->arrays[number];
  struct rows rows = {offset, width, count, pitch};
  if (!normalize(array, &rows)) {
    FAIL_HERE(run, "a copy of array %s leaves the array's bounds", array->name);
    return;
  }
  if (array->mirror) {
    pacc_mirror_want(run, array->mirror, direction, host_bytes(array, &rows),
                     (uint64_t)rows.width, (uint64_t)rows.count,
                     (uint64_t)rows.pitch);
    return;
  }
  if (array->data) {
    pacc_data_want(array->data, run, direction);
    return;
  }
  if (direction & PACC_COPY_MAYBE && !is_readable(array, &rows)) {
    FAIL_HERE(run,
              "array %s is accessed under conditions only, and not all of what "
              "that could reach is memory",
              array->name);
    return;
  }
  if (direction & PACC_COPY_IN && !run->managed)
    copy_in(run, array, &rows, host_bytes(array, &rows), (uint64_t)rows.pitch,
            false);
  if (!run->failed && direction & PACC_COPY_OUT)
    note_result(run, array, &rows, direction);
}

/* ---- results ---------------------------------------------------------- */

static uint64_t staging_size(const struct pacc_result *result) {
  uint64_t bytes = result->width * result->count;
  return (bytes + STAGING_ALIGNMENT - 1) & ~(uint64_t)(STAGING_ALIGNMENT - 1);
}

/* Gives every result its place in one staging block. */
static bool stage(struct pacc_run *run) {
  uint64_t total = 0;
  for (unsigned i = 0; i < run->n_results; i++)
    total += staging_size(&run->results[i]);
  if (total == 0)
    return true;
  if (pacc_pool_take(&run->device->staging, total, &run->staging)) {
    char text[24];
    FAIL_HERE(run, "out of host memory for results (%s)",
              pacc_bytes(total, text));
    return false;
  }
  char *at = (char *)(uintptr_t)run->staging->address;
  for (unsigned i = 0; i < run->n_results; i++) {
    run->results[i].result = at;
    at += staging_size(&run->results[i]);
  }
  return true;
}

void pacc_run_fetch_results(struct pacc_run *run) {
  struct pacc_device *device = run->device;
  if (!run->managed && !stage(run))
    return;
  for (unsigned i = 0; i < run->n_results && !run->failed && !run->managed; i++)
    pacc_run_copy_out(run, &run->results[i]);
  if (run->failed)
    return;
  int status = device->backend->sync(device->handle, run->thread->stream);
  if (status)
    FAIL(run, status, "the device failed in a kernel or copy");
  else
    pacc_profile_collect(run);
}

void pacc_run_restore(struct pacc_run *run) {
  for (unsigned i = 0; i < run->n_results; i++) {
    const struct pacc_result *result = &run->results[i];
    if (result->before)
      pacc_copy_rows(result->host, result->pitch, result->before, result->width,
                     result->width, result->count);
  }
}

void pacc_run_write_back(struct pacc_run *run) {
  if (run->managed)
    return;
  uint64_t start_ns = pacc_clock();
  for (unsigned i = 0; i < run->n_results; i++) {
    const struct pacc_result *result = &run->results[i];
    if (result->before)
      pacc_copy_changes(result->host, result->pitch, result->result,
                        result->before, result->width, result->width,
                        result->count, result->unit);
    else
      pacc_copy_rows(result->host, result->pitch, result->result, result->width,
                     result->width, result->count);
  }
  if (run->staging)
    pacc_profile_host(run, PACC_PROFILE_WRITE_BACK,
                      pacc_region_name(run->region), start_ns, run->bytes_out);
}
