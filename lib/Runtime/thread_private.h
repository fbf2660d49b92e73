/* thread_private.h: what each host thread keeps between regions. */
#ifndef PACC_THREAD_PRIVATE_H
#define PACC_THREAD_PRIVATE_H

#include "device_private.h"

struct pacc_run;

/* number     1, 2, ... in the order of the threads' first regions
 * stream     the thread's own; NULL before the first region
 * barrier    device memory of the word that kernels in the stream use for
 *            barriers over their grids; 0 before the first of them
 * barrier_is_zero
 *            the word is as the next kernel needs it
 * error      of the last failed region
 * free_runs  closed runs for reuse
 * events     free events for profiles
 */
struct pacc_thread {
  unsigned number;
  void *stream;
  uint64_t barrier;
  bool barrier_is_zero;
  struct pacc_error error;
  struct pacc_run *free_runs;
  void **events;
  unsigned n_events, events_capacity;
};

/* This thread's state, made by the first call. NULL: out of memory. */
struct pacc_thread *pacc_thread_get(void);

/* The same, or NULL if this thread had no region. */
struct pacc_thread *pacc_thread_peek(void);

/* An event of the device that this thread has entered; NULL: none to have. */
void *pacc_thread_take_event(struct pacc_thread *thread,
                             struct pacc_device *device);
void pacc_thread_give_event(struct pacc_thread *thread,
                            struct pacc_device *device, void *event);

/* Destroys the free events. */
void pacc_thread_free_events(struct pacc_thread *thread,
                             struct pacc_device *device);

/* Destroys this thread's stream and events on the device it has entered. */
void pacc_thread_release(struct pacc_device *device);

#endif
