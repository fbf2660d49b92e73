/* stream.c: streams of the host. A handle is the address of a stream. */
#include "cudart_private.h"

#include <pthread.h>
#include <stdlib.h>

/* Streams that the program made, to tell their handles from others. `id` is the
 * one that cudaStreamGetId gives, `flags` and `priority` what it asked for. */
struct handle {
  struct handle *next;
  struct pacc_stream *stream;
  unsigned long long id;
  unsigned flags;
  int priority;
};
static struct handle *handles;
static unsigned long long last_id = 2; /* of the two that are always there */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local struct pacc_stream *own_stream;

enum { LOWEST_PRIORITY = 0, HIGHEST_PRIORITY = -5 };

/* The link to a handle, NULL if it is none. With the lock held. */
static struct handle **find(cudaStream_t stream) {
  for (struct handle **h = &handles; *h; h = &(*h)->next)
    if ((*h)->stream == (struct pacc_stream *)stream)
      return h;
  return NULL;
}

struct pacc_stream *pacc_cudart_stream(struct pacc_cudart *device,
                                       cudaStream_t handle, int per_thread) {
  if (!handle)
    handle = per_thread ? cudaStreamPerThread : cudaStreamLegacy;
  if (handle == cudaStreamLegacy)
    return pacc_queue_legacy(device->queue);
  if (handle == cudaStreamPerThread) {
    if (!own_stream)
      own_stream = pacc_stream_create(device->queue, PACC_STREAM_BLOCKING);
    if (!own_stream)
      pacc_cudart_error(cudaErrorMemoryAllocation);
    return own_stream;
  }
  pthread_mutex_lock(&lock);
  int known = find(handle) != NULL;
  pthread_mutex_unlock(&lock);
  if (known)
    return (struct pacc_stream *)handle;
  pacc_cudart_error(cudaErrorInvalidResourceHandle);
  return NULL;
}

PACC_PUBLIC cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream,
                                                     unsigned flags,
                                                     int priority) {
  PACC_CUDART_ENTER(device);
  if (!stream || flags & ~(unsigned)cudaStreamNonBlocking)
    return pacc_cudart_error(cudaErrorInvalidValue);
  struct handle *handle = calloc(1, sizeof(*handle));
  if (!handle || !(handle->stream = pacc_stream_create(
                       device->queue, flags ? PACC_STREAM_INDEPENDENT
                                            : PACC_STREAM_BLOCKING))) {
    free(handle);
    return pacc_cudart_error(cudaErrorMemoryAllocation);
  }
  handle->flags = flags;
  handle->priority = priority > LOWEST_PRIORITY    ? LOWEST_PRIORITY
                     : priority < HIGHEST_PRIORITY ? HIGHEST_PRIORITY
                                                   : priority;
  pthread_mutex_lock(&lock);
  handle->id = ++last_id;
  handle->next = handles;
  handles = handle;
  pthread_mutex_unlock(&lock);
  *stream = (cudaStream_t)handle->stream;
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream,
                                                  unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, LOWEST_PRIORITY);
}

PACC_PUBLIC cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

PACC_PUBLIC cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  pthread_mutex_lock(&lock);
  struct handle **link = find(stream), *handle = link ? *link : NULL;
  if (handle)
    *link = handle->next;
  pthread_mutex_unlock(&lock);
  if (!handle)
    return pacc_cudart_error(cudaErrorInvalidResourceHandle);
  pacc_stream_destroy(handle->stream);
  free(handle);
  return cudaSuccess;
}

PACC_PUBLIC cudaError_t cudaDeviceGetStreamPriorityRange(int *least,
                                                         int *greatest) {
  if (least)
    *least = LOWEST_PRIORITY;
  if (greatest)
    *greatest = HIGHEST_PRIORITY;
  return cudaSuccess;
}

cudaError_t pacc_cudart_stream_attributes(cudaStream_t stream, unsigned *flags,
                                          int *priority,
                                          unsigned long long *id) {
  struct handle fixed = {.id = stream == cudaStreamPerThread ? 2 : 1};
  pthread_mutex_lock(&lock);
  struct handle **link = find(stream);
  struct handle found = link ? **link : fixed;
  pthread_mutex_unlock(&lock);
  int known = link || !stream || stream == cudaStreamLegacy ||
              stream == cudaStreamPerThread;
  if (!known)
    return pacc_cudart_error(cudaErrorInvalidResourceHandle);
  if (flags)
    *flags = found.flags;
  if (priority)
    *priority = found.priority;
  if (id)
    *id = found.id;
  return cudaSuccess;
}
