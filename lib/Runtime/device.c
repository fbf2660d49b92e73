/* device.c: chooses and opens the device (PACC_DEVICE), and closes the door
 * at a fork and at the end of the process.
 */
#include "device_private.h"
#include "guard_private.h"
#include "module_private.h"
#include "profile_private.h"
#include "sweep_private.h"
#include "thread_private.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum choice { CHOOSE_AUTO, CHOOSE_CUDA, CHOOSE_CPU, CHOOSE_HOST };

enum state { UNOPENED, OPEN, ON_HOST };

static struct pacc_device the_device;
static _Atomic(enum state) state = UNOPENED;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool exiting;

/* Set in a child whose parent had a device open: a driver does not survive
 * a fork. */
static atomic_bool forked;
static atomic_flag fork_said = ATOMIC_FLAG_INIT;

/* ---- memory of the pools ---------------------------------------------- */

static int device_alloc(void *context, uint64_t size, uint64_t *address,
                        int *tag) {
  struct pacc_device *device = context;
  (void)tag;
  return device->backend->alloc(device->handle, size, address);
}

static void device_free(void *context, uint64_t address, int tag) {
  struct pacc_device *device = context;
  (void)tag;
  device->backend->free(device->handle, address);
}

enum { PINNED, PLAIN };

/* Pinned memory is scarce; a copy to plain memory is only slower. */
static int staging_alloc(void *context, uint64_t size, uint64_t *address,
                         int *tag) {
  struct pacc_device *device = context;
  void *memory = NULL;
  *tag = PINNED;
  if (device->backend->host_alloc(device->handle, size, &memory)) {
    *tag = PLAIN;
    memory = malloc(size);
  }
  *address = (uintptr_t)memory;
  return memory ? 0 : PACC_POOL_NO_HOST_MEMORY;
}

static void staging_free(void *context, uint64_t address, int tag) {
  struct pacc_device *device = context;
  void *memory = (void *)(uintptr_t)address;
  if (tag == PINNED)
    device->backend->host_free(device->handle, memory);
  else
    free(memory);
}

static void init_pools(struct pacc_device *device) {
  static const struct pacc_pool_source device_source = {device_alloc,
                                                        device_free};
  static const struct pacc_pool_source staging_source = {staging_alloc,
                                                         staging_free};
  long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
  uint64_t host_memory =
      pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : 0;
  /* The CPU device has guard pages behind each allocation, which are only
   * useful behind exactly what was asked for. */
  bool exact = device->info.cc == 0;
  pacc_pool_init(&device->memory, &device_source, device,
                 device->info.memory / 2, exact);
  pacc_pool_init(&device->staging, &staging_source, device, host_memory / 4,
                 false);
}

/* ---- choice ----------------------------------------------------------- */

/* Reads PACC_DEVICE. False if it is none of the documented words. *called: how
 * the GPU is called if not by its number, else NULL. */
static bool read_choice(enum choice *choice, int *ordinal,
                        const char **called) {
  const char *value = pacc_env("PACC_DEVICE");
  char end;
  *ordinal = 0;
  *called = NULL;
  *choice = CHOOSE_AUTO;
  if (!value || strcmp(value, "auto") == 0)
    return true;
  if (strcmp(value, "host") == 0)
    *choice = CHOOSE_HOST;
  else if (strcmp(value, "cpu") == 0)
    *choice = CHOOSE_CPU;
  else if (strcmp(value, "cuda") == 0 ||
           (sscanf(value, "cuda:%6d%c", ordinal, &end) == 1 && *ordinal >= 0))
    *choice = CHOOSE_CUDA;
  else if (strncmp(value, "cuda:", 5) == 0 &&
           isalpha((unsigned char)value[5])) {
    *choice = CHOOSE_CUDA;
    *called = value + 5;
  } else {
    pacc_log(PACC_LOG_ERROR,
             "PACC_DEVICE=%s is unknown: use auto, cuda, cuda:N, cuda:NAME, "
             "cuda:UUID, cpu or host; "
             "the original loops run",
             value);
    return false;
  }
  return true;
}

static pthread_once_t optional_once = PTHREAD_ONCE_INIT;
static bool optional;

static void read_optional(void) {
  const char *value = pacc_env("PACC_DEVICE");
  optional = !value || strcmp(value, "auto") == 0;
}

bool pacc_device_is_optional(void) {
  pthread_once(&optional_once, read_optional);
  return optional &&
         atomic_load_explicit(&state, memory_order_acquire) != ON_HOST;
}

static void log_device(const struct pacc_device *device) {
  const struct pacc_device_info *info = &device->info;
  char memory[24];
  pacc_bytes(info->memory, memory);
  if (info->cc == 0)
    pacc_log(PACC_LOG_INFO, "using %s (%s)", info->name, memory);
  else
    pacc_log(PACC_LOG_INFO,
             "using %s (%s:%d, compute capability %u.%u, %u multiprocessors, "
             "%s, driver %u.%u)",
             info->name, device->backend->name, device->ordinal, info->cc / 10,
             info->cc % 10, info->sm_count, memory, info->driver / 1000,
             info->driver % 1000 / 10);
}

static void say_unusable(const struct pacc_backend *backend, int status,
                         bool asked_for) {
  struct pacc_error error;
  bool quiet = !asked_for && pacc_cuda_absent(status);
  pacc_error_set(&error, backend, NULL, status, "no %s device", backend->name);
  pacc_log(quiet ? PACC_LOG_INFO : PACC_LOG_ERROR, "%s; the original loops run",
           error.text);
}

/* Opens the backend's device, or says why it can't be opened. */
static bool open_backend(const struct pacc_backend *backend, int ordinal,
                         bool asked_for) {
  struct pacc_device *device = &the_device;
  int status = backend->open(ordinal, &device->handle, &device->info);
  if (status) {
    say_unusable(backend, status, asked_for);
    return false;
  }
  device->backend = backend;
  device->ordinal = ordinal;
  init_pools(device);
  pthread_rwlock_init(&device->holders, NULL);
  pthread_mutex_init(&device->modules_lock, NULL);
  log_device(device);
  if (!asked_for && !backend->enter(device->handle)) {
    pacc_guard_measure(device);
    backend->leave(device->handle);
  }
  return true;
}

static bool open_device(void) {
  enum choice choice;
  int ordinal;
  const char *called;
  struct pacc_error error;
  const struct pacc_backend *backend = NULL;
  if (!read_choice(&choice, &ordinal, &called))
    return false;
  switch (choice) {
  case CHOOSE_HOST:
    pacc_log(PACC_LOG_INFO, "PACC_DEVICE=host: the original loops run");
    return false;
  case CHOOSE_CPU:
    backend = pacc_cpu_open_library(&error);
    if (!backend) {
      pacc_log(PACC_LOG_ERROR, "%s; the original loops run", error.text);
      return false;
    }
    break;
  case CHOOSE_AUTO:
  case CHOOSE_CUDA:
    backend = pacc_cuda_backend();
    int status = called ? pacc_cuda_find(called, &ordinal) : 0;
    if (status) {
      say_unusable(backend, status, true);
      return false;
    }
    break;
  }
  return open_backend(backend, ordinal, choice != CHOOSE_AUTO);
}

/* ---- use -------------------------------------------------------------- */

static bool usable(const struct pacc_device *device) {
  if (atomic_load_explicit(&forked, memory_order_relaxed)) {
    if (!atomic_flag_test_and_set(&fork_said))
      pacc_log(PACC_LOG_ERROR,
               "this process was forked from one that uses the device, which "
               "can't be used here; the original loops run");
    return false;
  }
  return !atomic_load_explicit(&device->lost, memory_order_relaxed) &&
         !atomic_load_explicit(&exiting, memory_order_relaxed);
}

struct pacc_device *pacc_device_peek(void) {
  if (atomic_load_explicit(&state, memory_order_acquire) != OPEN)
    return NULL;
  return usable(&the_device) ? &the_device : NULL;
}

bool pacc_device_is_possible(void) {
  enum state now = atomic_load_explicit(&state, memory_order_acquire);
  return now == UNOPENED || (now == OPEN && usable(&the_device));
}

bool pacc_device_hold(struct pacc_device *device) {
  if (!usable(device))
    return false;
  pthread_rwlock_rdlock(&device->holders);
  if (usable(device))
    return true;
  pthread_rwlock_unlock(&device->holders);
  return false;
}

void pacc_device_unhold(struct pacc_device *device) {
  pthread_rwlock_unlock(&device->holders);
}

void pacc_device_lose(struct pacc_device *device) {
  if (!atomic_exchange(&device->lost, true))
    pacc_log(PACC_LOG_ERROR,
             "%s failed for good; every later region runs its original loops",
             device->info.name);
}

uint64_t pacc_device_trim(struct pacc_device *device) {
  return pacc_pool_trim(&device->memory, 0) +
         pacc_pool_trim(&device->staging, 0);
}

/* Gives back what is free; alone on the device, modules and this thread's
 * stream too. The device is held in either way. */
static void release(struct pacc_device *device, bool alone) {
  if (atomic_load(&device->lost) || device->backend->enter(device->handle))
    return;
  pacc_device_trim(device);
  if (alone) {
    pacc_module_unload_all(device);
    pacc_thread_release(device);
  }
  device->backend->leave(device->handle);
}

void pacc_device_release(struct pacc_device *device) {
  bool alone = pthread_rwlock_trywrlock(&device->holders) == 0;
  if (!alone && !pacc_device_hold(device))
    return;
  release(device, alone);
  pthread_rwlock_unlock(&device->holders);
}

/* ---- fork and exit ---------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&open_lock); }

static void after_fork_parent(void) { pthread_mutex_unlock(&open_lock); }

static void after_fork_child(void) {
  pthread_mutex_unlock(&open_lock);
  if (atomic_load(&state) == OPEN)
    atomic_store(&forked, true);
  pacc_profile_forget();
}

/* Registered after the driver was initialised, so it runs before the driver's
 * own exit handlers. Regions in later exit handlers run their loops. exit may
 * have been called by a signal handler inside a region: nothing here waits
 * for a lock. */
static void at_exit(void) {
  atomic_store(&exiting, true);
  if (atomic_load(&forked))
    return;
  pacc_profile_close();
  pacc_sweep_close();
  struct pacc_device *device = &the_device;
  if (atomic_load(&state) == OPEN &&
      pthread_rwlock_trywrlock(&device->holders) == 0) {
    release(device, true);
    pthread_rwlock_unlock(&device->holders);
  }
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void handle_forks(void) {
  pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

static struct pacc_device *open_first(void) {
  /* A fork while the device is being opened waits for that. */
  pthread_once(&fork_once, handle_forks);
  pthread_mutex_lock(&open_lock);
  if (atomic_load(&state) == UNOPENED) {
    bool opened = open_device();
    pacc_profile_open(opened ? the_device.info.name : "host");
    atexit(at_exit);
    atomic_store(&state, opened ? OPEN : ON_HOST);
  }
  enum state now = atomic_load(&state);
  pthread_mutex_unlock(&open_lock);
  return now == OPEN ? &the_device : NULL;
}

struct pacc_device *pacc_device_get(void) {
  enum state now = atomic_load_explicit(&state, memory_order_acquire);
  if (now == UNOPENED)
    return open_first();
  return now == OPEN ? &the_device : NULL;
}
