/* cuda.c: the backend over NVIDIA's driver. The device's primary context is
 * retained, as the CUDA runtime does, so that both can be used in one program.
 */
#include "cuda_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The capture mode that enter replaced, and how often enter nests. */
static _Thread_local int saved_mode;
static _Thread_local unsigned enter_depth;

/* ---- errors ----------------------------------------------------------- */

static const char *cuda_error_name(int status) {
  static _Thread_local char unknown[32];
  const char *name = NULL;
  switch (status) {
  case NO_LIBRARY:
    return "no NVIDIA driver";
  case MISSING_SYMBOL:
    return "libcuda.so.1 can't be used";
  case NO_HOST_MEMORY:
    return "out of host memory";
  default:
    if (pacc_cu.error_name && pacc_cu.error_name(status, &name) == 0 && name)
      return name;
    snprintf(unknown, sizeof unknown, "CUDA error %d", status);
    return unknown;
  }
}

static const char *cuda_error_detail(void *device) {
  (void)device;
  return pacc_cuda_detail;
}

/* ---- device ----------------------------------------------------------- */

static int describe(struct cuda_device *cuda, struct pacc_device_info *info) {
  int major = 0, minor = 0, sms = 0, pitch = 0, pageable = 0, status;
  size_t memory = 0;
  if ((status = CHECK(device_name, info->name, (int)sizeof info->name,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &major, PACC_CU_ATTRIBUTE_CC_MAJOR,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &minor, PACC_CU_ATTRIBUTE_CC_MINOR,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &sms, PACC_CU_ATTRIBUTE_SM_COUNT,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &pitch, PACC_CU_ATTRIBUTE_MAX_PITCH,
                      cuda->device)) ||
      (status = CHECK(device_attribute, &pageable,
                      PACC_CU_ATTRIBUTE_PAGEABLE_MEMORY, cuda->device)) ||
      (status = CHECK(device_attribute, &cuda->cooperative,
                      PACC_CU_ATTRIBUTE_COOPERATIVE_LAUNCH, cuda->device)) ||
      (status = CHECK(device_memory, &memory, cuda->device)))
    return status;
  cuda->max_pitch = (uint64_t)pitch;
  cuda->sm_count = sms;
  cuda->cc = 10 * major + minor;
  info->name[sizeof info->name - 1] = 0;
  info->cc = (uint32_t)cuda->cc;
  info->sm_count = (uint32_t)sms;
  info->memory = memory;
  info->host_memory = pageable > 0;
  info->driver = (uint32_t)cuda->driver;
  return 0;
}

/* "GPU-" or "MIG-" and the UUID, as nvidia-smi has it; "" if it can't be had.
 */
static void print_uuid(int device, const char *kind, char text[48]) {
  unsigned char uuid[16];
  text[0] = 0;
  if (!pacc_cu.device_uuid || pacc_cu.device_uuid(uuid, device))
    return;
  int used = snprintf(text, 48, "%.3s", kind);
  for (int i = 0; i < 16; i++)
    used += snprintf(text + used, 48 - (size_t)used, "%s%02x",
                     i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                     uuid[i]);
}

/* Is the device meant by the begin of its UUID, or by a part of its name? */
static bool is_called(int device, const char *wanted) {
  char name[128] = "", uuid[48];
  if (strncmp(wanted, "GPU-", 4) == 0 || strncmp(wanted, "MIG-", 4) == 0) {
    print_uuid(device, wanted, uuid);
    return strncasecmp(uuid, wanted, strlen(wanted)) == 0;
  }
  return pacc_cu.device_name(name, (int)sizeof name - 1, device) == 0 &&
         strcasestr(name, wanted);
}

int pacc_cuda_find(const char *wanted, int *ordinal) {
  int count = 0, device;
  int status = pacc_cuda_library();
  if (!status)
    status = CHECK(init, 0);
  if (!status)
    status = CHECK(device_count, &count);
  for (*ordinal = 0; !status && *ordinal < count; ++*ordinal) {
    status = CHECK(device_get, &device, *ordinal);
    if (!status && is_called(device, wanted))
      return 0;
  }
  if (status)
    return status;
  snprintf(pacc_cuda_detail, sizeof pacc_cuda_detail,
           "none of the %d is called %s", count, wanted);
  return PACC_CU_INVALID_DEVICE;
}

static int cuda_open(int ordinal, void **device,
                     struct pacc_device_info *info) {
  int status = pacc_cuda_library();
  if (status)
    return status;
  struct cuda_device *cuda = calloc(1, sizeof *cuda);
  if (!cuda)
    return pacc_cuda_check(NO_HOST_MEMORY, "device");
  int count = 0;
  status = CHECK(init, 0);
  if (!status)
    status = CHECK(driver_version, &cuda->driver);
  if (!status)
    status = CHECK(device_count, &count);
  if (!status && count == 0)
    status = pacc_cuda_check(PACC_CU_NO_DEVICE, "the driver found none");
  if (!status && ordinal >= count) {
    status = PACC_CU_INVALID_DEVICE;
    snprintf(pacc_cuda_detail, sizeof pacc_cuda_detail,
             "device %d was asked for, there %s %d", ordinal,
             count == 1 ? "is" : "are", count);
  }
  if (!status)
    status = CHECK(device_get, &cuda->device, ordinal);
  if (!status)
    status = describe(cuda, info);
  if (!status)
    status = CHECK(context_retain, &cuda->context, cuda->device);
  if (status) {
    free(cuda);
    return status;
  }
  *device = cuda;
  return 0;
}

static void cuda_close(void *device) {
  struct cuda_device *cuda = device;
  pacc_cu.context_release(cuda->device);
  free(cuda);
}

bool pacc_cuda_has_no_library(void) {
  return pacc_cuda_library() == NO_LIBRARY;
}

bool pacc_cuda_absent(int status) {
  return status == NO_LIBRARY || status == PACC_CU_NO_DEVICE ||
         status == PACC_CU_STUB_LIBRARY;
}

static int cuda_enter(void *device) {
  struct cuda_device *cuda = device;
  int status = CHECK(context_push, cuda->context);
  if (status)
    return status;
  /* A program that captures a graph on this thread must not have its capture
   * broken by our allocations, which are no part of it. */
  if (enter_depth++ == 0 && pacc_cu.capture_mode) {
    saved_mode = PACC_CU_CAPTURE_RELAXED;
    if (pacc_cu.capture_mode(&saved_mode))
      saved_mode = PACC_CU_CAPTURE_RELAXED;
  }
  return 0;
}

static void cuda_leave(void *device) {
  (void)device;
  void *context;
  if (--enter_depth == 0 && pacc_cu.capture_mode &&
      saved_mode != PACC_CU_CAPTURE_RELAXED)
    pacc_cu.capture_mode(&saved_mode);
  pacc_cu.context_pop(&context);
}

/* ---- streams and events ----------------------------------------------- */

static int cuda_stream_create(void *device, void **stream) {
  (void)device;
  /* Not ordered with the program's own work in the default stream. */
  return CHECK(stream_create, stream, PACC_CU_STREAM_NON_BLOCKING);
}

static void cuda_stream_destroy(void *device, void *stream) {
  (void)device;
  pacc_cu.stream_destroy(stream);
}

static int cuda_sync(void *device, void *stream) {
  (void)device;
  return CHECK(stream_sync, stream);
}

static int cuda_event_create(void *device, void **event) {
  (void)device;
  return CHECK(event_create, event, 0);
}

static void cuda_event_destroy(void *device, void *event) {
  (void)device;
  pacc_cu.event_destroy(event);
}

static int cuda_event_record(void *device, void *stream, void *event) {
  (void)device;
  return CHECK(event_record, event, stream);
}

static int cuda_event_wait(void *device, void *event) {
  (void)device;
  return CHECK(event_sync, event);
}

static int cuda_event_elapsed(void *device, void *from, void *to, float *ms) {
  (void)device;
  return CHECK(event_elapsed, ms, from, to);
}

const struct pacc_backend *pacc_cuda_backend(void) {
  static const struct pacc_backend backend = {
      .version = PACC_BACKEND_VERSION,
      .name = "cuda",
      .open = cuda_open,
      .close = cuda_close,
      .enter = cuda_enter,
      .leave = cuda_leave,
      .load = pacc_cuda_load,
      .unload = pacc_cuda_unload,
      .kernel = pacc_cuda_kernel,
      .stream_create = cuda_stream_create,
      .stream_destroy = cuda_stream_destroy,
      .sync = cuda_sync,
      .alloc = pacc_cuda_alloc,
      .free = pacc_cuda_free,
      .host_alloc = pacc_cuda_host_alloc,
      .host_free = pacc_cuda_host_free,
      .copy_in = pacc_cuda_copy_in,
      .copy_out = pacc_cuda_copy_out,
      .copy_within = pacc_cuda_copy_within,
      .launch = pacc_cuda_launch,
      .resident = pacc_cuda_resident,
      .launch_resident = pacc_cuda_launch_resident,
      .event_create = cuda_event_create,
      .event_destroy = cuda_event_destroy,
      .event_record = cuda_event_record,
      .event_wait = cuda_event_wait,
      .event_elapsed = cuda_event_elapsed,
      .error_name = cuda_error_name,
      .error_detail = cuda_error_detail,
  };
  return &backend;
}
