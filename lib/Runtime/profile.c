/* profile.c: times of the operations of a run. */
#include "run_private.h"

#include <stdlib.h>
#include <time.h>

enum { MAX_WAITING = 1024 };

uint64_t pacc_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool record(struct pacc_run *run, void *event) {
  const struct pacc_device *device = run->device;
  return event && device->backend->event_record(
                      device->handle, run->thread->stream, event) == 0;
}

void pacc_profile_begin(struct pacc_run *run) {
  if (!pacc_profile_on())
    return;
  struct pacc_device *device = run->device;
  void *event = pacc_thread_take_event(run->thread, device);
  /* The stream is idle now, so the event happens at once. */
  if (record(run, event) &&
      device->backend->sync(device->handle, run->thread->stream) == 0) {
    run->profile.base = event;
    run->profile.base_ns = pacc_clock();
  } else {
    pacc_thread_give_event(run->thread, device, event);
  }
}

static void drop_op(struct pacc_run *run, struct pacc_profile_op *op) {
  pacc_thread_give_event(run->thread, run->device, op->from);
  pacc_thread_give_event(run->thread, run->device, op->to);
}

bool pacc_profile_before(struct pacc_run *run,
                         const struct pacc_profile_op *op) {
  struct pacc_profile_run *profile = &run->profile;
  if (!profile->base)
    return false;
  if (profile->n_ops == profile->capacity) {
    unsigned capacity = profile->capacity * 2 + 64;
    struct pacc_profile_op *ops = realloc(profile->ops, capacity * sizeof *ops);
    if (!ops)
      return false;
    profile->ops = ops;
    profile->capacity = capacity;
  }
  struct pacc_profile_op *added = &profile->ops[profile->n_ops];
  *added = *op;
  added->from = pacc_thread_take_event(run->thread, run->device);
  added->to = pacc_thread_take_event(run->thread, run->device);
  if (!added->to || !record(run, added->from)) {
    drop_op(run, added);
    return false;
  }
  profile->n_ops++;
  return true;
}

void pacc_profile_after(struct pacc_run *run) {
  struct pacc_profile_run *profile = &run->profile;
  struct pacc_profile_op *op = &profile->ops[profile->n_ops - 1];
  if (record(run, op->to))
    return;
  drop_op(run, op);
  profile->n_ops--;
}

bool pacc_profile_full(const struct pacc_run *run) {
  return run->profile.n_ops >= MAX_WAITING;
}

static uint64_t ms_to_ns(float ms) {
  return ms > 0 ? (uint64_t)((double)ms * 1e6) : 0;
}

void pacc_profile_collect(struct pacc_run *run) {
  struct pacc_profile_run *profile = &run->profile;
  const struct pacc_backend *backend = run->device->backend;
  void *device = run->device->handle;
  for (unsigned i = 0; i < profile->n_ops; i++) {
    struct pacc_profile_op *op = &profile->ops[i];
    float start, duration;
    if (backend->event_elapsed(device, profile->base, op->from, &start) == 0 &&
        backend->event_elapsed(device, op->from, op->to, &duration) == 0) {
      struct pacc_profile_row row = {
          .kind = op->kind,
          .name = op->name,
          .label = op->label,
          .thread = run->thread->number,
          .start_ns = profile->base_ns + ms_to_ns(start),
          .duration_ns = ms_to_ns(duration),
          .bytes = op->bytes,
          .grid = {op->grid[0], op->grid[1], op->grid[2]},
          .block = {op->block[0], op->block[1], op->block[2]},
          .on_device = true,
          .ok = true};
      pacc_profile_write(&row);
    }
    drop_op(run, op);
  }
  profile->n_ops = 0;
}

void pacc_profile_host(struct pacc_run *run, enum pacc_profile_kind kind,
                       const char *name, uint64_t start_ns, uint64_t bytes) {
  if (!pacc_profile_on())
    return;
  struct pacc_profile_row row = {.kind = kind,
                                 .name = name,
                                 .label = run->region->location,
                                 .thread = run->thread->number,
                                 .start_ns = start_ns,
                                 .duration_ns = pacc_clock() - start_ns,
                                 .bytes = bytes,
                                 .ok = true};
  pacc_profile_write(&row);
}

void pacc_profile_end(struct pacc_run *run, bool ok) {
  struct pacc_profile_run *profile = &run->profile;
  if (!pacc_profile_on())
    return;
  for (unsigned i = 0; i < profile->n_ops; i++)
    drop_op(run, &profile->ops[i]);
  profile->n_ops = 0;
  if (profile->base)
    pacc_thread_give_event(run->thread, run->device, profile->base);
  profile->base = NULL;
  struct pacc_profile_row row = {.kind = PACC_PROFILE_REGION,
                                 .name = run->region->name,
                                 .label = run->region->location,
                                 .thread = run->thread->number,
                                 .start_ns = run->start_ns,
                                 .duration_ns = pacc_clock() - run->start_ns,
                                 .bytes = run->bytes_in + run->bytes_out,
                                 .ok = ok};
  pacc_profile_write(&row);
  pacc_profile_flush();
}
