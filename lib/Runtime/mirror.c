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
  mirror->unit = 8;
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

static bool fill(struct pacc_run *run, struct pacc_mirror *mirror) {
  pacc_run_copy_in(run, mirror->name, mirror->address, mirror->size,
                   mirror->start, mirror->size, mirror->size, 1, false);
  mirror->filled = !run->failed;
  return mirror->filled;
}

/* ---- what regions write ------------------------------------------------ */

static uint64_t box_span(const struct pacc_box *box) {
  return (box->count - 1) * box->pitch + box->width;
}

static bool is_within(const struct pacc_box *part, const struct pacc_box *all) {
  if (part->lo < all->lo)
    return false;
  uint64_t offset = part->lo - all->lo;
  if (all->count == 1)
    return offset + box_span(part) <= all->width;
  return (part->count == 1 || part->pitch == all->pitch) &&
         offset % all->pitch + part->width <= all->width &&
         offset / all->pitch + part->count <= all->count;
}

static bool is_written(const struct pacc_mirror *mirror,
                       const struct pacc_box *box) {
  for (unsigned i = 0; i < mirror->n_boxes; i++)
    if (is_within(box, &mirror->boxes[i]))
      return true;
  return false;
}

static void widen_hull(struct pacc_mirror *mirror, uint64_t lo, uint64_t hi) {
  bool clean = mirror->dirty_lo == mirror->dirty_hi;
  if (clean || lo < mirror->dirty_lo)
    mirror->dirty_lo = lo;
  if (clean || hi > mirror->dirty_hi)
    mirror->dirty_hi = hi;
}

/* The box, and no other that lies within it. */
static void add_box(struct pacc_run *run, struct pacc_mirror *mirror,
                    const struct pacc_box *box) {
  widen_hull(mirror, box->lo, box->lo + box_span(box));
  if (mirror->before || is_written(mirror, box))
    return;
  unsigned kept = 0;
  for (unsigned i = 0; i < mirror->n_boxes; i++)
    if (!is_within(&mirror->boxes[i], box))
      mirror->boxes[kept++] = mirror->boxes[i];
  mirror->n_boxes = kept;
  if (kept == PACC_MAX_BOXES)
    FAIL_HERE(run, "too many different parts of array %s are written",
              mirror->name);
  else
    mirror->boxes[mirror->n_boxes++] = *box;
}

/* ---- larger mirrors ---------------------------------------------------- */

static void copy_within(struct pacc_run *run, struct pacc_mirror *mirror,
                        const struct pacc_mirror *old, uint64_t from,
                        uint64_t size) {
  const struct pacc_device *device = run->device;
  uint64_t to = mirror->address + (uint64_t)(old->start - mirror->start) + from;
  int status = device->backend->copy_within(device->handle, run->thread->stream,
                                            to, old->address + from, size);
  if (status)
    FAIL(run, status, "array %s can't be copied on the device", mirror->name);
}

/* The larger mirror takes over what regions have written. The rest is the
 * host's, and was brought anew. */
static void take_over(struct pacc_run *run, struct pacc_mirror *mirror,
                      struct pacc_mirror *old) {
  uint64_t offset = (uint64_t)(old->start - mirror->start);
  old->retired = true;
  if (old->unit < mirror->unit)
    mirror->unit = old->unit;
  if (old->before) {
    pacc_copy_rows((char *)(uintptr_t)mirror->before->address + offset,
                   old->size, (const void *)(uintptr_t)old->before->address,
                   old->size, old->size, 1);
    widen_hull(mirror, offset + old->dirty_lo, offset + old->dirty_hi);
    copy_within(run, mirror, old, 0, old->size);
    return;
  }
  for (unsigned i = 0; i < old->n_boxes && !run->failed; i++) {
    struct pacc_box box = old->boxes[i];
    for (uint64_t row = 0; row < box.count && !run->failed; row++)
      copy_within(run, mirror, old, box.lo + row * box.pitch, box.width);
    box.lo += offset;
    if (!run->failed)
      add_box(run, mirror, &box);
  }
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
  bool filled = false, before = false;
  for (struct pacc_mirror *old = olds; old; old = old->next) {
    if (!overlaps(old, start, end))
      continue;
    /* The region has an address in it already. */
    if (old->user == run) {
      FAIL_HERE(run, "arrays %s and %s overlap", old->name, array->name);
      return NULL;
    }
    filled |= old->filled;
    before |= old->before != NULL;
    if (old->start < start)
      start = old->start;
    if (old->start + old->size > end)
      end = old->start + old->size;
  }
  struct pacc_mirror *mirror = add_mirror(run, array, start, end);
  if (!mirror ||
      (filled && !(before ? fill_with_copy(run, mirror) : fill(run, mirror))))
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

void pacc_mirror_want(struct pacc_run *run, struct pacc_mirror *mirror,
                      uint32_t direction, const char *from, uint64_t width,
                      uint64_t count, uint64_t pitch) {
  const struct pacc_box box = {(uint64_t)(from - mirror->start), width, count,
                               pitch};
  mirror->wanted += width * count;
  if (direction & PACC_COPY_MAYBE)
    mirror->wants_check = true;
  if (direction & PACC_COPY_IN)
    mirror->wants_contents = true;
  if (!(direction & PACC_COPY_OUT))
    return;
  uint32_t unit = pacc_copy_unit(direction);
  if (unit < mirror->unit)
    mirror->unit = unit;
  if (is_written(mirror, &box))
    return;
  if (!(direction & PACC_COPY_CHANGES))
    add_box(run, mirror, &box);
  else if (mirror->n_boxes > 0 && !mirror->before)
    FAIL_HERE(run,
              "array %s is written in part after it was written as a whole",
              mirror->name);
  else {
    mirror->wants_before = true;
    widen_hull(mirror, box.lo, box.lo + box_span(&box));
  }
}

/* Kernels write every byte, and read none that they did not write. */
static bool is_all_written(const struct pacc_mirror *mirror) {
  const struct pacc_box all = {0, mirror->size, 1, mirror->size};
  return is_written(mirror, &all);
}

static bool is_sparse(const struct pacc_mirror *mirror) {
  return mirror->size > LARGE && mirror->wanted < mirror->size / SPARSE;
}

static void prepare(struct pacc_run *run, struct pacc_mirror *mirror) {
  bool with_copy = mirror->wants_before && !mirror->before;
  bool contents =
      with_copy ||
      (!mirror->filled && (mirror->wants_contents || !is_all_written(mirror)));
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
    fill(run, mirror);
  mirror->filled = true;
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

/* Rows that are to go back. */
static bool add_result(struct pacc_run *run, const struct pacc_mirror *mirror,
                       const struct pacc_box *box) {
  struct pacc_result *result = pacc_run_add_result(run);
  if (!result) {
    FAIL_HERE(run, "out of host memory for array %s", mirror->name);
    return false;
  }
  *result = (struct pacc_result){.name = mirror->name,
                                 .host = mirror->start + box->lo,
                                 .device = mirror->address + box->lo,
                                 .width = box->width,
                                 .count = box->count,
                                 .pitch = box->pitch,
                                 .unit = mirror->unit};
  if (mirror->before)
    result->before = (const char *)(uintptr_t)mirror->before->address + box->lo;
  return true;
}

static bool collect(struct pacc_run *run, const struct pacc_mirror *mirror) {
  uint64_t size = mirror->dirty_hi - mirror->dirty_lo;
  const struct pacc_box hull = {mirror->dirty_lo, size, 1, size};
  if (mirror->before)
    return size == 0 || add_result(run, mirror, &hull);
  for (unsigned i = 0; i < mirror->n_boxes; i++)
    if (!add_result(run, mirror, &mirror->boxes[i]))
      return false;
  return true;
}

void pacc_mirror_collect(struct pacc_open_span *span) {
  for (struct pacc_mirror *mirror = span->mirrors; mirror;
       mirror = mirror->next)
    if (!mirror->retired && !collect(span->run, mirror))
      return;
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
