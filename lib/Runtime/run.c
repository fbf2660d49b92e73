/* run.c: the memory of runs. */
#include "run_private.h"

#include <stdlib.h>

struct pacc_run *pacc_run_take(struct pacc_thread *thread) {
  struct pacc_run *run = thread->free_runs;
  if (run)
    thread->free_runs = run->next;
  else if (!(run = calloc(1, sizeof *run)))
    return NULL;
  *run = (struct pacc_run){
      .thread = thread,
      .arrays = run->arrays,
      .arrays_capacity = run->arrays_capacity,
      .results = run->results,
      .results_capacity = run->results_capacity,
      .profile = {.ops = run->profile.ops, .capacity = run->profile.capacity}};
  return run;
}

void pacc_run_give(struct pacc_run *run) {
  run->next = run->thread->free_runs;
  run->thread->free_runs = run;
}

void pacc_run_free_all(struct pacc_run *runs) {
  while (runs) {
    struct pacc_run *run = runs;
    runs = run->next;
    free(run->arrays);
    free(run->results);
    free(run->profile.ops);
    free(run);
  }
}

/* Makes room for one more element of `size` bytes. */
static bool grow(void **elements, unsigned used, unsigned *capacity,
                 size_t size) {
  if (used < *capacity)
    return true;
  unsigned wanted = *capacity * 2 + 8;
  void *grown = realloc(*elements, wanted * size);
  if (!grown)
    return false;
  *elements = grown;
  *capacity = wanted;
  return true;
}

struct pacc_array *pacc_run_add_array(struct pacc_run *run) {
  void *arrays = run->arrays;
  bool grown =
      grow(&arrays, run->n_arrays, &run->arrays_capacity, sizeof *run->arrays);
  run->arrays = arrays;
  if (!grown)
    return NULL;
  struct pacc_array *array = &run->arrays[run->n_arrays++];
  *array = (struct pacc_array){0};
  return array;
}

struct pacc_result *pacc_run_add_result(struct pacc_run *run) {
  void *results = run->results;
  bool grown = grow(&results, run->n_results, &run->results_capacity,
                    sizeof *run->results);
  run->results = results;
  if (!grown)
    return NULL;
  struct pacc_result *result = &run->results[run->n_results++];
  *result = (struct pacc_result){0};
  return result;
}

void pacc_run_collect_if_full(struct pacc_run *run) {
  if (!pacc_profile_full(run))
    return;
  struct pacc_device *device = run->device;
  int status = device->backend->sync(device->handle, run->thread->stream);
  if (status)
    FAIL(run, status, "the device failed in a kernel or copy");
  else
    pacc_profile_collect(run);
}

const char *pacc_region_name(const struct pacc_region *region) {
  return region->name ? region->name : "region";
}
