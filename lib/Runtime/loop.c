/* loop.c: a loop of launches as one kernel (pacc/abi.h). */
#include "count_private.h"
#include "estimate_private.h"
#include "run_private.h"

#include "pacc/runtime.h"

#include <stdio.h>
#include <string.h>

/* What the program was compiled for, or what the environment says. */
static enum pacc_loop_mode mode_of(const struct pacc_loop *loop) {
  const char *value = pacc_env("PACC_PERSISTENT");
  if (value && strcmp(value, "off") == 0)
    return PACC_LOOP_NEVER;
  if (value && strcmp(value, "always") == 0)
    return PACC_LOOP_ALWAYS;
  if (value && strcmp(value, "auto") == 0)
    return PACC_LOOP_AUTO;
  if (value)
    pacc_log(PACC_LOG_ERROR,
             "PACC_PERSISTENT=%s is unknown: use auto, always or off", value);
  return loop->always ? PACC_LOOP_ALWAYS : PACC_LOOP_AUTO;
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
      .mode = mode_of(loop),
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
  uint32_t grid[3] = {pacc_loop_choose(&facts).blocks, 1, 1};
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
