/* mirror.c: what the device has of host memory in a span. Mirrors have the
 * host's layout, so that arrays of different regions which are the same memory,
 * or overlap, share one.
 */
#include "copy_private.h"
#include "span_private.h"

#include <stdlib.h>

/* Device addresses that stand for an array's begin are multiples of this. */
enum { ALIGNMENT = 256 };

/* Mirrors of more than LARGE bytes must have a region access a part of them
 * that is not tiny: copies are of whole mirrors. */
enum { LARGE = 1 << 20, SPARSE = 8 };

static struct pacc_mirror *add_mirror(struct pacc_run *run,
                                      const struct pacc_array *array,
                                      char *start, char *end) {
  struct pacc_device *device = run->device;
  struct pacc_mirror *mirror = calloc(1, sizeof *mirror);
  if (!mirror) {
    FAIL_HERE(run, "out of host memory for array %s", array->name);
    return NULL;
  }
  mirror->name = array->name;
  mirror->start = start;
  mirror->size = (uint64_t)(end - start);
  uint64_t shift = device->memory.exact ? 0
                                        : (uint64_t)(start - array->host) &
                                              (uint64_t)(ALIGNMENT - 1);
  int status =
      pacc_pool_take(&device->memory, mirror->size + shift, &mirror->block);
  if (status) {
    char text[24];
    mirror->block = NULL;
    FAIL_HERE(run, "no device memory for array %s (%s)", array->name,
              pacc_bytes(mirror->size, text));
    free(mirror);
    return NULL;
  }
  mirror->address = mirror->block->address + shift;
  mirror->next = run->span->mirrors;
  run->span->mirrors = mirror;
  return mirror;
}

/* A copy of what the host has, and on the device the same. */
static bool fill_with_copy(struct pacc_run *run, struct pacc_mirror *mirror) {
  if (pacc_pool_take(&run->device->staging, mirror->size, &mirror->before)) {
    char text[24];
    mirror->before = NULL;
    FAIL_HERE(run, "out of host memory for the old values of %s (%s)",
              mirror->name, pacc_bytes(mirror->size, text));
    return false;
  }
  char *before = (char *)(uintptr_t)mirror->before->address;
  pacc_copy_rows(before, mirror->size, mirror->start, mirror->size,
                 mirror->size, 1);
  pacc_run_copy_in(run, mirror->name, mirror->address, mirror->size, before,
                   mirror->size, mirror->size, 1, true);
  mirror->filled = !run->failed;
  return mirror->filled;
}

/* The larger mirror takes over what the smaller one has. */
static void take_over(struct pacc_run *run, struct pacc_mirror *mirror,
                      struct pacc_mirror *old) {
  uint64_t offset = (uint64_t)(old->start - mirror->start);
  old->retired = true;
  if (!old->filled)
    return;
  if (old->dirty_lo < old->dirty_hi) {
    bool first = mirror->dirty_lo == mirror->dirty_hi;
    uint64_t lo = offset + old->dirty_lo, hi = offset + old->dirty_hi;
    if (first || lo < mirror->dirty_lo)
      mirror->dirty_lo = lo;
    if (first || hi > mirror->dirty_hi)
      mirror->dirty_hi = hi;
  }
  if (old->before)
    pacc_copy_rows((char *)(uintptr_t)mirror->before->address + offset,
                   old->size, (const void *)(uintptr_t)old->before->address,
                   old->size, old->size, 1);
  struct pacc_device *device = run->device;
  int status = device->backend->copy_within(device->handle, run->thread->stream,
                                            mirror->address + offset,
                                            old->address, old->size);
  if (status)
    FAIL(run, status, "array %s can't be copied on the device", mirror->name);
}

static bool overlaps(const struct pacc_mirror *mirror, const char *start,
                     const char *end) {
  return !mirror->retired && mirror->start < end &&
         start < mirror->start + mirror->size;
}

/* One mirror for [start, end) and all that overlap it. */
static struct pacc_mirror *enlarge(struct pacc_run *run,
                                   const struct pacc_array *array, char *start,
                                   char *end) {
  struct pacc_mirror *olds = run->span->mirrors;
  bool filled = false;
  for (struct pacc_mirror *old = olds; old; old = old->next) {
    if (!overlaps(old, start, end))
      continue;
    /* The region has an address in it already. */
    if (old->user == run) {
      FAIL_HERE(run, "arrays %s and %s overlap", old->name, array->name);
      return NULL;
    }
    filled |= old->filled;
    if (old->start < start)
      start = old->start;
    if (old->start + old->size > end)
      end = old->start + old->size;
  }
  struct pacc_mirror *mirror = add_mirror(run, array, start, end);
  if (!mirror || (filled && !fill_with_copy(run, mirror)))
    return NULL;
  for (struct pacc_mirror *old = olds; old && !run->failed; old = old->next)
    if (overlaps(old, start, end))
      take_over(run, mirror, old);
  return run->failed ? NULL : mirror;
}

void pacc_mirror_place(struct pacc_run *run, struct pacc_array *array) {
  char *start = (char *)((uintptr_t)array->host + (uintptr_t)array->lo);
  char *end = (char *)((uintptr_t)array->host + (uintptr_t)array->hi);
  struct pacc_mirror *mirror = run->span->mirrors;
  while (mirror && !(overlaps(mirror, start, end) && mirror->start <= start &&
                     end <= mirror->start + mirror->size))
    mirror = mirror->next;
  if (!mirror)
    mirror = enlarge(run, array, start, end);
  if (!mirror)
    return;
  mirror->user = run;
  array->mirror = mirror;
  array->address = mirror->address + ((uint64_t)(uintptr_t)array->host -
                                      (uint64_t)(uintptr_t)mirror->start);
}

static bool is_all_dirty(const struct pacc_mirror *mirror) {
  return mirror->dirty_lo == 0 && mirror->dirty_hi == mirror->size;
}

void pacc_mirror_want(struct pacc_mirror *mirror, uint32_t direction,
                      const char *from, uint64_t span, uint64_t bytes) {
  mirror->wanted += bytes;
  if (direction & PACC_COPY_MAYBE)
    mirror->wants_check = true;
  if (direction & PACC_COPY_IN)
    mirror->wants_contents = true;
  if (!(direction & PACC_COPY_OUT) || (is_all_dirty(mirror) && !mirror->before))
    return;
  uint64_t lo = (uint64_t)(from - mirror->start), hi = lo + span;
  bool clean = mirror->dirty_lo == mirror->dirty_hi;
  if (direction & PACC_COPY_CHANGES || bytes < mirror->size)
    mirror->wants_before = true;
  if (clean || lo < mirror->dirty_lo)
    mirror->dirty_lo = lo;
  if (clean || hi > mirror->dirty_hi)
    mirror->dirty_hi = hi;
}

static bool is_sparse(const struct pacc_mirror *mirror) {
  return mirror->size > LARGE && mirror->wanted < mirror->size / SPARSE;
}

static void prepare(struct pacc_run *run, struct pacc_mirror *mirror) {
  bool with_copy = mirror->wants_before && !mirror->before;
  bool contents = with_copy || (mirror->wants_contents && !mirror->filled);
  if (mirror->wants_check && !pacc_memory_readable(mirror->start, mirror->size))
    FAIL_HERE(run,
              "array %s is accessed under conditions only, and not all of what "
              "that could reach is memory",
              mirror->name);
  else if (contents && is_sparse(mirror))
    FAIL_HERE(run, "only a small part of array %s is accessed", mirror->name);
  else if (with_copy)
    fill_with_copy(run, mirror);
  else if (contents)
    pacc_run_copy_in(run, mirror->name, mirror->address, mirror->size,
                     mirror->start, mirror->size, mirror->size, 1, false);
  mirror->filled |= contents || is_all_dirty(mirror);
  mirror->wants_contents = mirror->wants_before = mirror->wants_check = false;
  mirror->wanted = 0;
}

void pacc_mirror_prepare(struct pacc_run *run) {
  for (unsigned i = 0; i < run->n_arrays && !run->failed; i++)
    if (run->arrays[i].mirror && run->arrays[i].mirror->user == run) {
      prepare(run, run->arrays[i].mirror);
      run->arrays[i].mirror->user = NULL;
    }
}

void pacc_mirror_collect(struct pacc_open_span *span) {
  struct pacc_run *run = span->run;
  for (struct pacc_mirror *mirror = span->mirrors; mirror;
       mirror = mirror->next) {
    if (mirror->retired || mirror->dirty_lo == mirror->dirty_hi)
      continue;
    struct pacc_result *result = pacc_run_add_result(run);
    if (!result) {
      FAIL_HERE(run, "out of host memory for array %s", mirror->name);
      return;
    }
    *result = (struct pacc_result){
        .name = mirror->name,
        .host = mirror->start + mirror->dirty_lo,
        .device = mirror->address + mirror->dirty_lo,
        .width = mirror->dirty_hi - mirror->dirty_lo,
        .count = 1,
        .pitch = mirror->dirty_hi - mirror->dirty_lo,
    };
    if (mirror->before)
      result->before =
          (const char *)(uintptr_t)mirror->before->address + mirror->dirty_lo;
  }
}

static void free_block(struct pacc_pool *pool, struct pacc_block *block,
                       bool lost) {
  if (block && lost)
    pacc_pool_abandon(pool, block);
  else if (block)
    pacc_pool_give(pool, block);
}

void pacc_mirror_free_all(struct pacc_open_span *span,
                          struct pacc_device *device) {
  bool lost = atomic_load(&device->lost);
  while (span->mirrors) {
    struct pacc_mirror *mirror = span->mirrors;
    span->mirrors = mirror->next;
    free_block(&device->memory, mirror->block, lost);
    free_block(&device->staging, mirror->before, lost);
    free(mirror);
  }
}
