/* model_private.h: what the files of lib/Model share: memory footprints of a
 * block (access.c) and the time of one block shape (estimate.c). */
#ifndef PACC_MODEL_PRIVATE_H
#define PACC_MODEL_PRIVATE_H

#include "pacc/model.h"

enum { PACC_MAX_RESIDENT = 32 };

/* A run of sectors, [lo, hi). */
struct pacc_run {
  int64_t lo, hi;
};

/* Accesses of one array that share strides, so that they may share sectors.
 * `first` is the smallest index of a member; members[] are indices into
 * pacc_work.accesses. */
struct pacc_group {
  size_t n;
  size_t *members;
};

/* What all candidates of one kernel share, made once.
 * runs        scratch for footprints, room for n_runs
 * footprint   distinct bytes that the kernel touches, all arrays
 * least_traffic  bytes to and from device memory if every byte goes once
 */
struct pacc_rank_context {
  const struct pacc_gpu *gpu;
  const struct pacc_work *work;
  size_t n_groups;
  struct pacc_group *groups;
  size_t *member_storage;
  size_t n_runs;
  struct pacc_run *runs;
  double footprint, least_traffic;
};

enum pacc_model_status pacc_rank_context_init(struct pacc_rank_context *context,
                                              const struct pacc_gpu *gpu,
                                              const struct pacc_work *work);
void pacc_rank_context_free(struct pacc_rank_context *context);

struct pacc_footprint {
  double sectors;
  double lines;
};

/* The blocks that an SM runs at a time: their first threads. */
struct pacc_resident {
  uint32_t block[3];
  uint32_t n;
  uint64_t origin[PACC_MAX_RESIDENT][3];
};

/* Distinct sectors and lines that a group's accesses touch from the resident
 * blocks during iterations [0, iterations) of the sequential loop, exactly for
 * a base that is aligned to a line. */
struct pacc_footprint
pacc_group_footprint(const struct pacc_rank_context *context,
                     const struct pacc_group *group,
                     const struct pacc_resident *resident, uint32_t iterations);

/* Distinct bytes, in whole sectors, that an access touches from a box of
 * extent threads over `trip` iterations; strides that overlap are counted
 * once. */
double pacc_access_span(const struct pacc_access *access,
                        const uint64_t extent[3], double trip);

/* Runs of the access per sequential iteration in which it is executed, and how
 * often all of them are repeated by other sequential loops. */
double pacc_access_trip(const struct pacc_work *work,
                        const struct pacc_access *access);
double pacc_access_repeats(const struct pacc_work *work,
                           const struct pacc_access *access);

/* Fills every field of `score` but small_rule for the shape score->block,
 * whose occupancy is set and not 0. */
void pacc_estimate(const struct pacc_rank_context *context,
                   struct pacc_block_score *score);

#endif
