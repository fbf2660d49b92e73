/* rank.c: the candidate block shapes of a kernel and their order: by estimated
 * time, by the paper's rule, as the CUDA API suggests, or one fixed shape. */
#include "model_private.h"
#include "pacc/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Strides and offsets beyond this would overflow sums of addresses. */
static const int64_t MAX_STRIDE = INT64_C(1) << 48;

static uint64_t distance(int64_t value) {
  return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/*===-- What all candidates share ----------------------------------------===*/

static bool valid_access(const struct pacc_access *a) {
  bool valid = a->size > 0 && a->size <= 1024 && a->count >= 0 &&
               a->count < 1e18 && distance(a->offset) <= (uint64_t)MAX_STRIDE &&
               distance(a->seq) <= (uint64_t)MAX_STRIDE;
  for (unsigned d = 0; d < 3; d++)
    valid = valid && distance(a->stride[d]) <= (uint64_t)MAX_STRIDE;
  return valid;
}

/* Comparisons are written so that a NaN is refused. */
static bool valid_work(const struct pacc_work *w) {
  if (w->dims < 1 || w->dims > 3 || (w->n_accesses && !w->accesses))
    return false;
  double threads = 1;
  for (unsigned d = 0; d < 3; d++) {
    if (w->extent[d] < 1 || (d >= w->dims && w->extent[d] != 1))
      return false;
    threads *= (double)w->extent[d];
  }
  const double amounts[] = {w->fp64, w->fp32,  w->special,
                            w->ints, w->chain, w->ahead};
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
    if (!(amounts[i] >= 0 && amounts[i] < 1e18))
      return false;
  if (!(threads < 1e18) || !(w->active > 0 && w->active <= 1) ||
      !(w->seq_trip >= 1 && w->seq_trip < 1e15))
    return false;
  for (size_t i = 0; i < w->n_accesses; i++)
    if (!valid_access(&w->accesses[i]))
      return false;
  return true;
}

static bool same_group(const struct pacc_access *a,
                       const struct pacc_access *b) {
  return a->array == b->array && a->size == b->size && a->write == b->write &&
         a->gather == b->gather && a->seq == b->seq && a->count == b->count &&
         memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

static double access_bytes(const struct pacc_work *work,
                           const struct pacc_access *a) {
  return a->footprint
             ? (double)a->footprint
             : pacc_access_span(a, work->extent, pacc_access_trip(work, a));
}

/* Distinct bytes of all arrays. An array counts by the access that touches most
 * of it; once more if `traffic` and it is both read and written. */
static double total_bytes(const struct pacc_work *work, bool traffic) {
  double sum = 0;
  for (size_t i = 0; i < work->n_accesses; i++) {
    const struct pacc_access *a = &work->accesses[i];
    double largest = 0;
    bool seen = false;
    for (size_t j = 0; j < work->n_accesses && !seen; j++) {
      const struct pacc_access *b = &work->accesses[j];
      if (a->array != b->array || (traffic && a->write != b->write))
        continue;
      seen = j < i;
      double bytes = access_bytes(work, b);
      largest = bytes > largest ? bytes : largest;
    }
    if (!seen)
      sum += largest;
  }
  return sum;
}

enum pacc_model_status pacc_rank_context_init(struct pacc_rank_context *context,
                                              const struct pacc_gpu *gpu,
                                              const struct pacc_work *work) {
  memset(context, 0, sizeof *context);
  if (!gpu || !work || !valid_work(work))
    return PACC_MODEL_INVALID;
  context->gpu = gpu;
  context->work = work;
  size_t n = work->n_accesses;
  if (n == 0)
    return PACC_MODEL_OK;
  context->groups = calloc(n, sizeof *context->groups);
  context->member_storage = calloc(n, sizeof *context->member_storage);
  bool *grouped = calloc(n, sizeof *grouped);
  if (!context->groups || !context->member_storage || !grouped) {
    free(grouped);
    return PACC_MODEL_NOMEM;
  }
  size_t used = 0, largest = 0;
  for (size_t i = 0; i < n; i++) {
    if (grouped[i])
      continue;
    struct pacc_group *group = &context->groups[context->n_groups++];
    group->members = &context->member_storage[used];
    for (size_t j = i; j < n; j++)
      if (!grouped[j] && same_group(&work->accesses[i], &work->accesses[j])) {
        group->members[group->n++] = j;
        grouped[j] = true;
      }
    used += group->n;
    largest = group->n > largest ? group->n : largest;
  }
  free(grouped);
  /* Footprints are of the threads of an SM, and of at most two iterations
   * whose sectors are apart. */
  context->n_runs = 2 * (size_t)gpu->threads_sm * largest;
  context->runs = calloc(context->n_runs, sizeof *context->runs);
  if (!context->runs)
    return PACC_MODEL_NOMEM;
  context->footprint = total_bytes(work, false);
  context->least_traffic = total_bytes(work, true);
  return PACC_MODEL_OK;
}

void pacc_rank_context_free(struct pacc_rank_context *context) {
  free(context->groups);
  free(context->member_storage);
  free(context->runs);
  memset(context, 0, sizeof *context);
}

/*===-- Candidates -------------------------------------------------------===*/

/* Adds a shape whose resources fit. */
static enum pacc_model_status add_shape(const struct pacc_rank_context *context,
                                        const uint32_t block[3],
                                        struct pacc_ranking *ranking,
                                        size_t *capacity) {
  const struct pacc_work *work = context->work;
  struct pacc_block_score score = {
      .block = {block[0], block[1], block[2]},
      .threads = block[0] * block[1] * block[2],
  };
  struct pacc_resources resources = {.regs = work->regs,
                                     .carveout = PACC_CARVEOUT_DEFAULT,
                                     .barriers = work->barriers ? 1 : 0};
  if (work->smem)
    resources.smem_static = work->smem(block, work->smem_user);
  enum pacc_model_status status =
      pacc_occupancy(context->gpu, &resources, score.threads, &score.occupancy);
  if (status != PACC_MODEL_OK || score.occupancy.blocks == 0)
    return status;
  if (ranking->n == *capacity) {
    size_t more = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(ranking->scores, more * sizeof *ranking->scores);
    if (!grown)
      return PACC_MODEL_NOMEM;
    ranking->scores = grown;
    *capacity = more;
  }
  pacc_estimate(context, &score);
  ranking->scores[ranking->n++] = score;
  return PACC_MODEL_OK;
}

static enum pacc_model_status
add_candidates(const struct pacc_rank_context *context,
               struct pacc_ranking *ranking) {
  size_t capacity = 0;
  uint32_t block[3] = {0, 0, 0};
  const struct pacc_work *work = context->work;
  const uint32_t warp = 32;
  const uint32_t unit = work->combine && work->extent[0] >= warp ? warp : 1;
  while (pacc_shape_next(block, work->dims, work->extent, PACC_MAX_THREADS)) {
    if (block[0] % unit)
      continue;
    enum pacc_model_status status =
        add_shape(context, block, ranking, &capacity);
    if (status != PACC_MODEL_OK)
      return status;
  }
  return PACC_MODEL_OK;
}

/*===-- Orders -----------------------------------------------------------===*/

static int three_way(double a, double b) { return (a > b) - (a < b); }

/* Ties: fewer threads, then the longer x, then the longer y. */
static int compare_shapes(const struct pacc_block_score *a,
                          const struct pacc_block_score *b) {
  int order = three_way(a->threads, b->threads);
  if (!order)
    order = three_way(b->block[0], a->block[0]);
  return order ? order : three_way(b->block[1], a->block[1]);
}

static int compare_time(const void *l, const void *r) {
  const struct pacc_block_score *a = l, *b = r;
  int order = three_way(a->time, b->time);
  return order ? order : compare_shapes(a, b);
}

/* The paper's rule: most active warps first; among these the smaller blocks if
 * the small-block rule holds, the larger ones otherwise. */
static int compare_paper(const void *l, const void *r) {
  const struct pacc_block_score *a = l, *b = r;
  int order = three_way(b->occupancy.warps, a->occupancy.warps);
  if (order)
    return order;
  order = three_way(a->threads, b->threads);
  if (order)
    return a->small_rule ? order : -order;
  return compare_shapes(a, b);
}

static enum pacc_model_status api_shape(const struct pacc_gpu *gpu,
                                        const struct pacc_work *work,
                                        uint32_t block[3]) {
  struct pacc_resources resources = {.regs = work->regs,
                                     .carveout = PACC_CARVEOUT_DEFAULT,
                                     .barriers = work->barriers ? 1 : 0};
  if (work->smem) {
    const uint32_t warp[3] = {PACC_WARP, 1, 1};
    resources.smem_static = work->smem(warp, work->smem_user);
  }
  uint32_t grid;
  block[1] = block[2] = 1;
  return pacc_occupancy_suggest(gpu, &resources, NULL, NULL, &block[0], &grid);
}

/* One shape that is not the model's choice. */
static enum pacc_model_status add_given(const struct pacc_rank_context *context,
                                        const struct pacc_rank_options *options,
                                        struct pacc_ranking *ranking) {
  uint32_t block[3];
  memcpy(block, options->fixed, sizeof block);
  if (options->mode == PACC_RANK_API) {
    enum pacc_model_status status =
        api_shape(context->gpu, context->work, block);
    if (status != PACC_MODEL_OK)
      return status;
  }
  uint64_t threads = 1;
  for (unsigned d = 0; d < 3; d++) {
    if (block[d] == 0 || block[d] > PACC_MAX_THREADS)
      return PACC_MODEL_INVALID;
    threads *= block[d];
  }
  if (threads > PACC_MAX_THREADS || block[2] > PACC_MAX_BLOCK_Z)
    return PACC_MODEL_INVALID;
  size_t capacity = 0;
  return add_shape(context, block, ranking, &capacity);
}

enum pacc_model_status pacc_rank_blocks(const struct pacc_gpu *gpu,
                                        const struct pacc_work *work,
                                        const struct pacc_rank_options *options,
                                        struct pacc_ranking *ranking) {
  if (!ranking)
    return PACC_MODEL_INVALID;
  memset(ranking, 0, sizeof *ranking);
  const struct pacc_rank_options automatic = {.mode = PACC_RANK_AUTO};
  if (!options)
    options = &automatic;
  struct pacc_rank_context context;
  enum pacc_model_status status = pacc_rank_context_init(&context, gpu, work);
  if (status == PACC_MODEL_OK) {
    ranking->sync = work->sync || work->barriers > 0;
    for (size_t i = 0; i < work->n_accesses; i++)
      ranking->complex_access |= pacc_access_complex(&work->accesses[i]);
    if (options->mode == PACC_RANK_FIXED || options->mode == PACC_RANK_API)
      status = add_given(&context, options, ranking);
    else
      status = add_candidates(&context, ranking);
  }
  pacc_rank_context_free(&context);
  if (status != PACC_MODEL_OK)
    return status;
  if (ranking->n == 0)
    return PACC_MODEL_NO_FIT;

  bool paper = options->mode == PACC_RANK_PAPER;
  for (size_t i = 0; i < ranking->n; i++)
    ranking->scores[i].small_rule =
        paper && (ranking->complex_access || ranking->sync);
  qsort(ranking->scores, ranking->n, sizeof *ranking->scores,
        paper ? compare_paper : compare_time);
  return PACC_MODEL_OK;
}

void pacc_ranking_free(struct pacc_ranking *ranking) {
  if (!ranking)
    return;
  free(ranking->scores);
  memset(ranking, 0, sizeof *ranking);
}

char *pacc_block_print(const uint32_t block[3], char *text, size_t size) {
  if (block[2] > 1)
    snprintf(text, size, "%ux%ux%u", block[0], block[1], block[2]);
  else if (block[1] > 1)
    snprintf(text, size, "%ux%u", block[0], block[1]);
  else
    snprintf(text, size, "%u", block[0]);
  return text;
}
