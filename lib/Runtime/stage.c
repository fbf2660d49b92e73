/* stage.c: large copies to the device. The driver copies from ordinary memory
 * with one thread, at a sixth of what PCIe gives. Here a few threads bring the
 * bytes into pinned memory, piece after piece, and the device fetches them from
 * there meanwhile.
 */
#include "copy_private.h"
#include "run_private.h"

#include <sched.h>

/* Copies of less than LEAST bytes are left to the driver. */
enum { PIECE = 1 << 20, LEAST = 2 << 20, MAX_HELPERS = 8 };

/* A copy in pieces of `per_piece` rows of `width` bytes. A single row is taken
 * as rows of one byte. Pieces are numbered on from the stage's earlier copies.
 * first    number of the first piece; end: past the last
 * next     the first one that nobody has taken
 * allowed  pieces below have a free slot
 * done     by slot: number of the last piece brought there, plus 1
 */
struct job {
  struct pacc_run *run;
  const char *from;
  uint64_t width, count, from_pitch, per_piece;
  uint64_t first, end;
  _Atomic uint64_t next, allowed;
  _Atomic uint64_t done[PACC_STAGE_SLOTS];
};

bool pacc_stage_pays(const struct pacc_run *run, uint64_t width,
                     uint64_t count) {
  return run->device->info.cc != 0 && width * count >= LEAST &&
         (count == 1 || width <= PIECE);
}

static char *slot_of(const struct job *job, uint64_t piece) {
  return (char *)(uintptr_t)job->run->stage.block->address +
         piece % PACC_STAGE_SLOTS * PIECE;
}

/* Where in the rows the piece begins. */
static uint64_t first_row(const struct job *job, uint64_t piece) {
  return (piece - job->first) * job->per_piece;
}

static uint64_t rows_of(const struct job *job, uint64_t piece) {
  uint64_t left = job->count - first_row(job, piece);
  return left < job->per_piece ? left : job->per_piece;
}

/* Brings one piece into its slot. False: there is none to take now. */
static bool bring_one(struct job *job) {
  uint64_t piece = atomic_load(&job->next);
  do
    if (piece >= job->end || piece >= atomic_load(&job->allowed))
      return false;
  while (!atomic_compare_exchange_weak(&job->next, &piece, piece + 1));
  const char *from = job->from + first_row(job, piece) * job->from_pitch;
  uint64_t rows = rows_of(job, piece);
  if (job->width == job->from_pitch)
    pacc_copy_rows(slot_of(job, piece), 0, from, 0, job->width * rows, 1);
  else
    pacc_copy_rows(slot_of(job, piece), job->width, from, job->from_pitch,
                   job->width, rows);
  atomic_store(&job->done[piece % PACC_STAGE_SLOTS], piece + 1);
  return true;
}

static void *help(void *argument) {
  struct job *job = argument;
  while (atomic_load(&job->next) < job->end)
    if (!bring_one(job))
      sched_yield();
  return NULL;
}

/* Waits until the device has fetched every piece below `piece`. */
static int wait_below(struct pacc_run *run, uint64_t piece) {
  struct pacc_device *device = run->device;
  if (piece == 0)
    return 0;
  return device->backend->event_wait(
      device->handle, run->stage.events[(piece - 1) % PACC_STAGE_SLOTS]);
}

/* Has the device fetch a piece. */
static int send(struct job *job, uint64_t piece, uint64_t to,
                uint64_t to_pitch) {
  struct pacc_run *run = job->run;
  struct pacc_device *device = run->device;
  uint64_t rows = rows_of(job, piece);
  bool dense = job->width == to_pitch;
  int status = device->backend->copy_in(
      device->handle, run->thread->stream,
      to + first_row(job, piece) * to_pitch, to_pitch, slot_of(job, piece),
      job->width, dense ? job->width * rows : job->width, dense ? 1 : rows);
  if (!status)
    status = device->backend->event_record(
        device->handle, run->thread->stream,
        run->stage.events[piece % PACC_STAGE_SLOTS]);
  return status;
}

/* Sends the pieces in their order. A slot is free again when the piece half a
 * round later is sent, and the wait for it is short then. */
static int send_all(struct job *job, uint64_t to, uint64_t to_pitch) {
  enum { HALF = PACC_STAGE_SLOTS / 2 };
  int status = 0;
  for (uint64_t piece = job->first; piece < job->end && !status; piece++) {
    uint64_t fetched = piece < HALF ? 0 : piece - HALF;
    status = wait_below(job->run, fetched);
    atomic_store(&job->allowed, fetched + PACC_STAGE_SLOTS);
    while (!status &&
           atomic_load(&job->done[piece % PACC_STAGE_SLOTS]) != piece + 1)
      if (!bring_one(job))
        sched_yield();
    if (!status)
      status = send(job, piece, to, to_pitch);
  }
  /* After a failure nobody waits for a slot any more. */
  atomic_store(&job->next, job->end);
  return status;
}

/* Pinned memory and events, or false. */
static bool set_up(struct pacc_run *run) {
  struct pacc_stage *stage = &run->stage;
  if (stage->block)
    return stage->events[PACC_STAGE_SLOTS - 1];
  if (pacc_pool_take(&run->device->staging, PACC_STAGE_SLOTS * PIECE,
                     &stage->block)) {
    stage->block = NULL;
    return false;
  }
  for (unsigned i = 0; i < PACC_STAGE_SLOTS; i++)
    if (!(stage->events[i] = pacc_thread_take_event(run->thread, run->device)))
      return false;
  return true;
}

int pacc_stage_copy_in(struct pacc_run *run, uint64_t to, uint64_t to_pitch,
                       const char *from, uint64_t from_pitch, uint64_t width,
                       uint64_t count) {
  struct pacc_device *device = run->device;
  if (!set_up(run))
    return device->backend->copy_in(device->handle, run->thread->stream, to,
                                    to_pitch, from, from_pitch, width, count);
  if (count == 1) {
    count = width;
    width = to_pitch = from_pitch = 1;
  }
  struct job job = {.run = run,
                    .from = from,
                    .width = width,
                    .count = count,
                    .from_pitch = from_pitch,
                    .per_piece = PIECE / width,
                    .first = run->stage.pieces};
  job.end = job.first + (count - 1) / job.per_piece + 1;
  job.next = job.first;
  run->stage.pieces = job.end;
  pthread_t threads[MAX_HELPERS];
  unsigned helpers = pacc_copy_helpers();
  if (helpers > MAX_HELPERS)
    helpers = MAX_HELPERS;
  helpers = pacc_copy_start(threads, helpers, help, &job, 0);
  int status = send_all(&job, to, to_pitch);
  for (unsigned i = 0; i < helpers; i++)
    pthread_join(threads[i], NULL);
  return status;
}

void pacc_stage_free(struct pacc_run *run) {
  struct pacc_stage *stage = &run->stage;
  if (!stage->block)
    return;
  for (unsigned i = 0; i < PACC_STAGE_SLOTS; i++)
    pacc_thread_give_event(run->thread, run->device, stage->events[i]);
  if (atomic_load(&run->device->lost))
    pacc_pool_abandon(&run->device->staging, stage->block);
  else
    pacc_pool_give(&run->device->staging, stage->block);
}
