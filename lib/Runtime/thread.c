/* thread.c: per-thread state, and its end with the thread. */
#include "run_private.h"
#include "thread_private.h"

#include <stdlib.h>

static _Thread_local struct pacc_thread *self;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;
static atomic_uint n_threads;

void pacc_thread_free_events(struct pacc_thread *thread,
                             struct pacc_device *device) {
  while (thread->n_events)
    device->backend->event_destroy(device->handle,
                                   thread->events[--thread->n_events]);
  free(thread->events);
  thread->events = NULL;
  thread->events_capacity = 0;
}

static void destroy_stream(struct pacc_thread *thread,
                           struct pacc_device *device) {
  pacc_thread_free_events(thread, device);
  if (thread->stream)
    device->backend->stream_destroy(device->handle, thread->stream);
  thread->stream = NULL;
  if (thread->barrier)
    device->backend->free(device->handle, thread->barrier);
  thread->barrier = 0;
  thread->barrier_is_zero = false;
}

/* Runs when the thread ends. */
static void end_thread(void *value) {
  struct pacc_thread *thread = value;
  struct pacc_device *device = pacc_device_peek();
  self = NULL;
  if (device && thread->stream && pacc_device_hold(device)) {
    if (device->backend->enter(device->handle) == 0) {
      destroy_stream(thread, device);
      device->backend->leave(device->handle);
    }
    pacc_device_unhold(device);
  }
  pacc_run_free_all(thread->free_runs);
  free(thread->events);
  free(thread);
}

static void make_key(void) {
  key_made = pthread_key_create(&key, end_thread) == 0;
}

struct pacc_thread *pacc_thread_get(void) {
  if (self)
    return self;
  pthread_once(&key_once, make_key);
  struct pacc_thread *made = calloc(1, sizeof *made);
  if (!made || !key_made || pthread_setspecific(key, made)) {
    free(made);
    return NULL;
  }
  made->number = atomic_fetch_add(&n_threads, 1) + 1;
  self = made;
  return made;
}

struct pacc_thread *pacc_thread_peek(void) { return self; }

void *pacc_thread_take_event(struct pacc_thread *thread,
                             struct pacc_device *device) {
  void *event = NULL;
  if (thread->n_events)
    return thread->events[--thread->n_events];
  return device->backend->event_create(device->handle, &event) ? NULL : event;
}

void pacc_thread_give_event(struct pacc_thread *thread,
                            struct pacc_device *device, void *event) {
  if (!event)
    return;
  if (thread->n_events == thread->events_capacity) {
    unsigned capacity = thread->events_capacity * 2 + 64;
    void **events = realloc(thread->events, capacity * sizeof *events);
    if (!events) {
      device->backend->event_destroy(device->handle, event);
      return;
    }
    thread->events = events;
    thread->events_capacity = capacity;
  }
  thread->events[thread->n_events++] = event;
}

void pacc_thread_release(struct pacc_device *device) {
  if (self)
    destroy_stream(self, device);
}
