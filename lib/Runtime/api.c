/* api.c: the functions of pacc/runtime.h. */
#include "count_private.h"
#include "pacc/runtime.h"
#include "thread_private.h"

#include <stdio.h>
#include <string.h>

const char *pacc_rt_version(void) { return PACC_VERSION; }

int pacc_rt_abi_version(void) { return PACC_ABI_SYMBOL; }

/* The caller may have been compiled with an older, shorter structure. */
static void hand_out(void *to, size_t to_size, const void *from,
                     size_t from_size) {
  memset(to, 0, to_size);
  memcpy(to, from, to_size < from_size ? to_size : from_size);
}

int pacc_rt_device_info(struct pacc_rt_device *device, size_t size) {
  struct pacc_rt_device found = {.backend = "host"};
  struct pacc_device *used = pacc_device_get() ? pacc_device_peek() : NULL;
  if (used) {
    snprintf(found.backend, sizeof found.backend, "%s", used->backend->name);
    snprintf(found.name, sizeof found.name, "%s", used->info.name);
    found.cc = used->info.cc;
    found.sm_count = used->info.sm_count;
    found.driver = used->info.driver;
    found.memory = used->info.memory;
  }
  hand_out(device, size, &found, sizeof found);
  return used != NULL;
}

const char *pacc_rt_last_error(void) {
  const struct pacc_thread *thread = pacc_thread_peek();
  return thread ? thread->error.text : "";
}

static uint64_t held(struct pacc_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  uint64_t bytes = pool->used + pool->cached;
  pthread_mutex_unlock(&pool->lock);
  return bytes;
}

void pacc_rt_count(struct pacc_rt_counters *counters, size_t size) {
  struct pacc_rt_counters now = {
      .regions = atomic_load(&pacc_counts.regions),
      .fallbacks = atomic_load(&pacc_counts.fallbacks),
      .launches = atomic_load(&pacc_counts.launches),
      .copies_in = atomic_load(&pacc_counts.copies_in),
      .bytes_in = atomic_load(&pacc_counts.bytes_in),
      .copies_out = atomic_load(&pacc_counts.copies_out),
      .bytes_out = atomic_load(&pacc_counts.bytes_out),
      .modules = atomic_load(&pacc_counts.modules)};
  struct pacc_device *device = pacc_device_peek();
  if (device) {
    now.device_memory = held(&device->memory);
    now.host_memory = held(&device->staging);
  }
  hand_out(counters, size, &now, sizeof now);
}

void pacc_rt_release(void) {
  struct pacc_device *device = pacc_device_peek();
  if (device)
    pacc_device_release(device);
}
