/* loop.c: a loop of launches as one kernel (pacc/abi.h): whether, and with how
 * many blocks.
 */
#include "count_private.h"
#include "loop_private.h"
#include "run_private.h"

#include "pacc/runtime.h"

#include <stdio.h>

/* Seconds on an H200 (polybench/results): between the starts of two launches of
 * small kernels, and of a barrier over a grid, or over its only block. */
static const double LAUNCH = 2.3e-6;
static const double BARRIER = 1.3e-6;
static const double BARRIER_BLOCK = 0.1e-6;

/* The gain must be this share of what the launches take: the estimates are
 * rough, and phases that fill the device run better with blocks of their own.
 */
static const double LEAST_GAIN = 0.15;

/* An instance in a thread that waits for its memory, and on a multiprocessor
 * that has enough threads: those of guard.c. */
static const double INSTANCE_WAITING = 50e-9;
static const double INSTANCE_PER_SM = 1.3e-9;

/* Seconds of all launches of a phase, without what starts them, on that many
 * multiprocessors with that many threads in all. */
static double phase_seconds(const struct pacc_size *phase, double sms,
                            double threads) {
  if (!(phase->launches > 0 && phase->threads > 0))
    return 0;
  double rounds = phase->threads / phase->launches / threads;
  double waiting =
      phase->instances / phase->threads * INSTANCE_WAITING * phase->launches;
  double busy = phase->instances * INSTANCE_PER_SM / sms;
  waiting *= rounds > 1 ? rounds : 1;
  return waiting > busy ? waiting : busy;
}

/* The blocks that the average launch of the largest phase has. */
static double blocks_of(const struct pacc_loop_facts *facts) {
  double most = 1;
  for (uint32_t i = 0; i < facts->n_phases; i++) {
    const struct pacc_size *phase = &facts->sizes[i];
    double threads = phase->launches > 0 ? phase->threads / phase->launches : 0;
    if (threads / facts->block_threads > most)
      most = threads / facts->block_threads;
  }
  return most;
}

uint32_t pacc_loop_blocks(const struct pacc_loop_facts *facts) {
  if (facts->resident == 0)
    return 0;
  if (!facts->sizes)
    return facts->always ? facts->resident : 0;
  double needed = blocks_of(facts);
  uint32_t blocks =
      needed < facts->resident ? (uint32_t)(needed + 0.999) : facts->resident;
  double one_threads = facts->block_threads;
  double all_threads = one_threads * facts->resident;
  double barriers = 0, launches = 0, phases = 0, in_one = 0;
  for (uint32_t i = 0; i < facts->n_phases; i++) {
    const struct pacc_size *phase = &facts->sizes[i];
    launches += phase->launches;
    barriers += facts->phases[i].waits ? phase->launches : 0;
    phases += phase_seconds(phase, facts->sm_count, all_threads);
    in_one += phase_seconds(phase, 1, one_threads);
  }
  double with_all = phases + barriers * BARRIER;
  double with_one = in_one + barriers * BARRIER_BLOCK;
  if (with_one < with_all)
    blocks = 1;
  double best = with_one < with_all ? with_one : with_all;
  double apart = phases + launches * LAUNCH;
  bool pays = facts->is_gpu && apart - best > LEAST_GAIN * apart;
  return facts->always || pays ? blocks : 0;
}

/* The word of this thread's barriers; 0 after a failure. */
static uint64_t barrier_word(struct pacc_run *run) {
  static const uint32_t zero;
  struct pacc_thread *thread = run->thread;
  struct pacc_device *device = run->device;
  int status = 0;
  if (!thread->barrier)
    status =
        device->backend->alloc(device->handle, sizeof zero, &thread->barrier);
  if (!status && !thread->barrier_is_zero)
    status = device->backend->copy_in(device->handle, thread->stream,
                                      thread->barrier, sizeof zero, &zero,
                                      sizeof zero, sizeof zero, 1);
  if (status)
    FAIL(run, status, "no memory for a barrier");
  thread->barrier_is_zero = !status;
  return status ? 0 : thread->barrier;
}

/* "k0 k1 ...": the launches that the kernel stands for. */
static void log_phases(const struct pacc_run *run,
                       const struct pacc_loop *loop) {
  char text[PACC_MESSAGE_SIZE / 2];
  size_t used = 0;
  if (!pacc_log_on(PACC_LOG_LAUNCH))
    return;
  text[0] = 0;
  for (uint32_t i = 0; i < loop->n_phases && used < sizeof text; i++)
    if (loop->phases[i].kernel != PACC_NO_KERNEL)
      used += (size_t)snprintf(
          text + used, sizeof text - used, " %s",
          run->region->image->kernels[loop->phases[i].kernel].name);
  pacc_log(PACC_LOG_LAUNCH, "%s: one kernel runs the loop of%s",
           pacc_region_name(run->region), text);
}

PACC_RT_API int32_t __pacc_rt_loop(void *handle, const struct pacc_loop *loop,
                                   const struct pacc_size *sizes,
                                   void **params) {
  struct pacc_run *run = handle;
  struct pacc_device *device = run->device;
  if (run->failed)
    return 1;
  const struct pacc_kernel *kernel = &run->region->image->kernels[loop->kernel];
  struct pacc_loop_facts facts = {
      .is_gpu = device->info.cc != 0,
      .always = loop->always,
      .sm_count = device->info.sm_count,
      .block_threads = kernel->block[0] * kernel->block[1] * kernel->block[2],
      .n_phases = loop->n_phases,
      .phases = loop->phases,
      .sizes = sizes};
  /* A device that can't tell can't do it. */
  if (device->backend->resident(device->handle,
                                run->module->kernels[loop->kernel], kernel,
                                &facts.resident))
    facts.resident = 0;
  uint32_t grid[3] = {pacc_loop_blocks(&facts), 1, 1};
  if (grid[0] == 0)
    return 0;
  uint64_t word = 0;
  if (loop->barrier != PACC_NO_BARRIER) {
    word = barrier_word(run);
    params[loop->barrier] = &word;
  }
  if (!run->failed)
    log_phases(run, loop);
  pacc_run_launch_resident(run, loop->kernel, grid, params);
  /* Blocks that did not get to the last barrier leave it as it is. */
  if (run->failed)
    run->thread->barrier_is_zero = false;
  return 1;
}
