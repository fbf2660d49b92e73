/* transfer.c: one copy between host and device, with its count, its line in
 * the log and its time.
 */
#include "count_private.h"
#include "run_private.h"

static void count_copy(struct pacc_run *run, const char *name,
                       const char *direction, uint64_t bytes) {
  char text[24];
  bool in = direction[0] == 'i';
  *(in ? &run->bytes_in : &run->bytes_out) += bytes;
  pacc_count(in ? &pacc_counts.copies_in : &pacc_counts.copies_out, 1);
  pacc_count(in ? &pacc_counts.bytes_in : &pacc_counts.bytes_out, bytes);
  if (pacc_log_on(PACC_LOG_LAUNCH))
    pacc_log(PACC_LOG_LAUNCH, "%s: copy %s %s, %s",
             pacc_region_name(run->region), direction, name,
             pacc_bytes(bytes, text));
}

void pacc_run_copy_in(struct pacc_run *run, const char *name, uint64_t to,
                      uint64_t to_pitch, const char *from, uint64_t from_pitch,
                      uint64_t width, uint64_t count, bool from_staging) {
  struct pacc_device *device = run->device;
  uint64_t bytes = width * count;
  struct pacc_profile_op op = {.kind = PACC_PROFILE_COPY_IN,
                               .name = name,
                               .label = run->region->name,
                               .bytes = bytes};
  bool timed = pacc_profile_before(run, &op);
  int status =
      !from_staging && pacc_stage_pays(run, width, count)
          ? pacc_stage_copy_in(run, to, to_pitch, from, from_pitch, width,
                               count)
          : device->backend->copy_in(device->handle, run->thread->stream, to,
                                     to_pitch, from, from_pitch, width, count);
  if (timed)
    pacc_profile_after(run);
  if (status) {
    char text[24];
    FAIL(run, status, "array %s (%s) can't be copied to the device", name,
         pacc_bytes(bytes, text));
    return;
  }
  count_copy(run, name, "in", bytes);
  pacc_run_collect_if_full(run);
}

void pacc_run_copy_out(struct pacc_run *run, const struct pacc_result *result) {
  struct pacc_device *device = run->device;
  uint64_t bytes = result->width * result->count;
  struct pacc_profile_op op = {.kind = PACC_PROFILE_COPY_OUT,
                               .name = result->name,
                               .label = run->region->name,
                               .bytes = bytes};
  bool timed = pacc_profile_before(run, &op);
  int status = device->backend->copy_out(
      device->handle, run->thread->stream, result->result, result->width,
      result->device, result->pitch, result->width, result->count);
  if (timed)
    pacc_profile_after(run);
  if (status) {
    char text[24];
    FAIL(run, status, "array %s (%s) can't be copied from the device",
         result->name, pacc_bytes(bytes, text));
    return;
  }
  count_copy(run, result->name, "out", bytes);
}
