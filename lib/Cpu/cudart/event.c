/* event.c: events of the host: the mark of their last record. */
#include "cudart_private.h"

#include <stdlib.h>

static struct pacc_event *event_of(cudaEvent_t handle) {
  return (struct pacc_event *)handle;
}

PACC_PUBLIC cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event,
                                                 unsigned flags) {
  PACC_CUDART_ENTER(device);
  (void)device;
  if (!event || flags & cudaEventInterprocess)
    return pacc_cudart_error(event ? cudaErrorNotSupported
                                   : cudaErrorInvalidValue);
  struct pacc_event *made = calloc(1, sizeof(*made));
  if (!made)
    return pacc_cudart_error(cudaErrorMemoryAllocation);
  made->flags = flags;
  *event = (cudaEvent_t)made;
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

PACC_PUBLIC cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (!event)
    return pacc_cudart_error(cudaErrorInvalidResourceHandle);
  pacc_mark_drop(event_of(event)->mark);
  free(event_of(event));
  return cudaSuccess;
}

/* An event that was never recorded is done. */
PACC_PUBLIC cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  PACC_CUDART_ENTER(device);
  if (!event)
    return pacc_cudart_error(cudaErrorInvalidResourceHandle);
  struct pacc_mark *mark = event_of(event)->mark;
  return mark
             ? pacc_cudart_finished(pacc_queue_finish_mark(device->queue, mark))
             : cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaEventQuery(cudaEvent_t event) {
  PACC_CUDART_ENTER(device);
  if (!event)
    return pacc_cudart_error(cudaErrorInvalidResourceHandle);
  struct pacc_mark *mark = event_of(event)->mark;
  if (!mark || pacc_mark_is_done(mark, NULL))
    return cudaSuccess;
  int status = pacc_queue_step(device->queue);
  if (status)
    return pacc_cudart_finished(status);
  return pacc_mark_is_done(mark, NULL) ? cudaSuccess : cudaErrorNotReady;
}

PACC_PUBLIC cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from,
                                             cudaEvent_t to) {
  double begin, end;
  if (!ms || !from || !to)
    return pacc_cudart_error(ms ? cudaErrorInvalidResourceHandle
                                : cudaErrorInvalidValue);
  const struct pacc_event *a = event_of(from), *b = event_of(to);
  if (!a->mark || !b->mark || (a->flags | b->flags) & cudaEventDisableTiming)
    return pacc_cudart_error(cudaErrorInvalidResourceHandle);
  if (!pacc_mark_is_done(a->mark, &begin) || !pacc_mark_is_done(b->mark, &end))
    return pacc_cudart_error(cudaErrorNotReady);
  *ms = (float)((end - begin) * 1e3);
  return cudaSuccess;
}
