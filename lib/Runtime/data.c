/* data.c: memory that the program keeps its hands off (pacc_data_begin).
 * Regions find the device's copy; it goes back to the host when original loops
 * run or the program asks for it.
 *
 * One lock guards everything: copies of this kind are few.
 */
#include "data_private.h"
#include "guard_private.h"

#include "pacc/runtime.h"

#include <stdlib.h>

/* block      of the device; NULL before the first region
 * on_host, on_device  where the bytes are right; nowhere: they are lost
 * writer     the run whose kernels may write them
 * wanted     by that run's arrays: directions of copies
 * backup     what the device had before that run, once it is backed_up
 */
struct pacc_data {
  char *start;
  uint64_t size;
  struct pacc_block *block;
  bool on_host, on_device, backed_up;
  const struct pacc_run *writer;
  struct pacc_block *backup;
  struct pacc_data *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pacc_data *list;
static atomic_uint n_data;

bool pacc_data_exists(void) { return atomic_load(&n_data) > 0; }

static struct pacc_data *find(const char *start, const char *end) {
  struct pacc_data *data = list;
  while (data && !(data->start < end && start < data->start + data->size))
    data = data->next;
  return data;
}

/* ---- the device, outside of regions ----------------------------------- */

/* One copy on a stream of its own. */
static int copy_now(struct pacc_device *device, const struct pacc_data *data,
                    uint64_t offset, uint64_t size, bool to_host) {
  const struct pacc_backend *backend = device->backend;
  char *host = data->start + offset;
  uint64_t address = data->block->address + offset;
  void *stream;
  int status = backend->stream_create(device->handle, &stream);
  if (status)
    return status;
  status = to_host ? backend->copy_out(device->handle, stream, host, size,
                                       address, size, size, 1)
                   : backend->copy_in(device->handle, stream, address, size,
                                      host, size, size, 1);
  int waited = backend->sync(device->handle, stream);
  backend->stream_destroy(device->handle, stream);
  return status ? status : waited;
}

/* False, and a message, if the bytes can't be copied. */
static bool copy(const struct pacc_data *data, uint64_t offset, uint64_t size,
                 bool to_host) {
  struct pacc_device *device = pacc_device_peek();
  struct pacc_error error = {.text = "the device can't be used any more"};
  bool ok = false;
  if (device && pacc_device_hold(device)) {
    int status = device->backend->enter(device->handle);
    if (!status) {
      status = copy_now(device, data, offset, size, to_host);
      device->backend->leave(device->handle);
    }
    if (status)
      pacc_error_set(&error, device->backend, device->handle, status,
                     "a copy %s the device failed", to_host ? "from" : "to");
    pacc_device_unhold(device);
    ok = status == 0;
  }
  if (!ok)
    pacc_log(PACC_LOG_ERROR, "data of pacc_data_begin (%p): %s",
             (void *)data->start, error.text);
  return ok;
}

static bool bring_to_host(struct pacc_data *data) {
  if (!data->on_host && data->on_device)
    data->on_host = copy(data, 0, data->size, true);
  return data->on_host;
}

static void free_block(struct pacc_block **block) {
  struct pacc_device *device = pacc_device_peek();
  if (*block && device && pacc_device_hold(device)) {
    if (device->backend->enter(device->handle) == 0) {
      pacc_pool_give(&device->memory, *block);
      device->backend->leave(device->handle);
    }
    pacc_device_unhold(device);
  }
  *block = NULL;
}

/* ---- regions ---------------------------------------------------------- */

bool pacc_data_place(struct pacc_run *run, struct pacc_array *array) {
  if (!pacc_data_exists())
    return false;
  char *start = (char *)((uintptr_t)array->host + (uintptr_t)array->lo);
  char *end = (char *)((uintptr_t)array->host + (uintptr_t)array->hi);
  pthread_mutex_lock(&lock);
  struct pacc_data *data = find(start, end);
  char text[24];
  if (data && (start < data->start || data->start + data->size < end))
    FAIL_HERE(run,
              "array %s lies only partly in the memory of a pacc_data_begin",
              array->name);
  else if (data && !data->block &&
           pacc_pool_take(&run->device->memory, data->size, &data->block)) {
    data->block = NULL;
    FAIL_HERE(run, "no device memory for data (%s) of pacc_data_begin",
              pacc_bytes(data->size, text));
  } else if (data) {
    array->data = data;
    array->address = data->block->address + ((uint64_t)(uintptr_t)array->host -
                                             (uint64_t)(uintptr_t)data->start);
  }
  pthread_mutex_unlock(&lock);
  return data != NULL;
}

void pacc_data_want(struct pacc_data *data, const struct pacc_run *run,
                    uint32_t direction) {
  if (!(direction & PACC_COPY_OUT))
    return;
  pthread_mutex_lock(&lock);
  data->writer = run;
  pthread_mutex_unlock(&lock);
}

/* Other threads' streams use it as soon as it is marked: waits. */
static void fill(struct pacc_run *run, struct pacc_data *data) {
  struct pacc_device *device = run->device;
  if (!data->on_host) {
    FAIL_HERE(run, "data of a pacc_data_begin were lost with the device");
    return;
  }
  pacc_run_copy_in(run, "data", data->block->address, data->size, data->start,
                   data->size, data->size, 1, false);
  if (run->failed)
    return;
  int status = device->backend->sync(device->handle, run->thread->stream);
  if (status)
    FAIL(run, status, "the device failed in a kernel or copy");
  else
    data->on_device = true;
}

static void back_up(struct pacc_run *run, struct pacc_data *data) {
  struct pacc_device *device = run->device;
  char text[24];
  int status = pacc_pool_take(&device->memory, data->size, &data->backup);
  if (status) {
    data->backup = NULL;
    FAIL_HERE(run, "no device memory for a copy of data (%s)",
              pacc_bytes(data->size, text));
    return;
  }
  status = device->backend->copy_within(device->handle, run->thread->stream,
                                        data->backup->address,
                                        data->block->address, data->size);
  if (status)
    FAIL(run, status, "data can't be copied on the device");
  data->backed_up = !status;
}

void pacc_data_prepare(struct pacc_run *run) {
  if (!pacc_data_exists())
    return;
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < run->n_arrays && !run->failed; i++) {
    struct pacc_data *data = run->arrays[i].data;
    if (data && !data->on_device)
      fill(run, data);
    if (data && !run->failed && data->writer == run && !data->backup)
      back_up(run, data);
  }
  pthread_mutex_unlock(&lock);
}

void pacc_data_end_run(struct pacc_run *run, bool ok) {
  if (!pacc_data_exists())
    return;
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < run->n_arrays; i++) {
    struct pacc_data *data = run->arrays[i].data;
    if (!data || data->writer != run)
      continue;
    data->writer = NULL;
    if (ok) {
      data->on_host = false;
    } else if (data->backed_up) {
      struct pacc_block *written = data->block;
      data->block = data->backup;
      data->backup = written;
    }
    data->backed_up = false;
    free_block(&data->backup);
  }
  pthread_mutex_unlock(&lock);
}

void pacc_data_to_host(void) {
  if (!pacc_data_exists())
    return;
  pthread_mutex_lock(&lock);
  for (struct pacc_data *data = list; data; data = data->next)
    if (bring_to_host(data))
      data->on_device = false;
  pthread_mutex_unlock(&lock);
}

/* ---- pacc/runtime.h --------------------------------------------------- */

int pacc_data_begin(const void *start, size_t bytes) {
  char *first = (char *)(uintptr_t)start;
  struct pacc_data *made = bytes ? calloc(1, sizeof *made) : NULL;
  if (!made)
    return 0;
  pthread_mutex_lock(&lock);
  bool overlaps = find(first, first + bytes);
  if (!overlaps) {
    *made = (struct pacc_data){
        .start = first, .size = bytes, .on_host = true, .next = list};
    list = made;
    atomic_fetch_add(&n_data, 1);
    pacc_guard_ask_always(true);
  }
  pthread_mutex_unlock(&lock);
  if (overlaps)
    free(made);
  return !overlaps;
}

int pacc_data_end(const void *start) {
  pthread_mutex_lock(&lock);
  struct pacc_data **at = &list;
  while (*at && (*at)->start != start)
    at = &(*at)->next;
  struct pacc_data *data = *at;
  int ok = 1;
  if (data) {
    ok = bring_to_host(data);
    free_block(&data->block);
    *at = data->next;
    atomic_fetch_sub(&n_data, 1);
    pacc_guard_ask_always(false);
    free(data);
  }
  pthread_mutex_unlock(&lock);
  return ok;
}

/* The bytes [start, start + bytes) of the data that they are part of; NULL:
 * they are just the host's. */
static struct pacc_data *find_whole(const char *start, size_t bytes) {
  struct pacc_data *data = find(start, start + bytes);
  bool whole =
      data && data->start <= start && start + bytes <= data->start + data->size;
  return whole ? data : NULL;
}

int pacc_data_update_host(const void *start, size_t bytes) {
  const char *first = start;
  int ok = 1;
  pthread_mutex_lock(&lock);
  struct pacc_data *data = find_whole(first, bytes);
  if (data && !data->on_host) {
    ok = data->on_device &&
         copy(data, (uint64_t)(first - data->start), bytes, true);
    data->on_host = ok && bytes == data->size;
  }
  pthread_mutex_unlock(&lock);
  return ok;
}

int pacc_data_update_device(const void *start, size_t bytes) {
  const char *first = start;
  int ok = 1;
  pthread_mutex_lock(&lock);
  struct pacc_data *data = find_whole(first, bytes);
  /* What the host has right as a whole goes there when a region needs it. */
  if (data && data->on_host)
    data->on_device = false;
  else if (data)
    ok = data->on_device &&
         copy(data, (uint64_t)(first - data->start), bytes, false);
  pthread_mutex_unlock(&lock);
  return ok;
}
