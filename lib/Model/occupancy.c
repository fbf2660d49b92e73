/* occupancy.c: how many blocks of a kernel an SM holds, and the block size
 * that gives the most active threads. The allocation rules are those that the
 * CUDA programming guide and the CUDA occupancy calculator publish; the unit
 * test compares with the calculator of the installed toolkit. */
#include "pacc/model.h"

#include <stdio.h>
#include <string.h>

static uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

static int32_t min_limit(int32_t a, int32_t b) { return a < b ? a : b; }

static int32_t limit_of(uint64_t blocks) {
  return blocks < PACC_UNLIMITED ? (int32_t)blocks : PACC_UNLIMITED;
}

/* The smallest size, of those that shared memory can be set to, that holds
 * `bytes`. */
static uint32_t carveout_for(const struct pacc_gpu *gpu, uint64_t bytes) {
  for (uint32_t i = 0; i < gpu->n_carveouts; i++)
    if (bytes <= gpu->carveouts[i])
      return gpu->carveouts[i];
  return gpu->smem_sm;
}

/* A warp's registers lie in one partition of the SM. */
static int32_t limit_regs(const struct pacc_gpu *gpu, uint32_t regs,
                          uint32_t warps, uint32_t *regs_block) {
  uint64_t per_warp = round_up((uint64_t)regs * gpu->warp_size, gpu->reg_unit);
  *regs_block = (uint32_t)(per_warp * warps);
  if (regs > gpu->regs_thread)
    return 0;
  if (per_warp == 0)
    return PACC_UNLIMITED;
  uint64_t per_partition = gpu->regs_sm / gpu->partitions / per_warp;
  return limit_of(per_partition * gpu->partitions / warps);
}

static int32_t limit_smem(const struct pacc_gpu *gpu,
                          const struct pacc_resources *r,
                          uint32_t *smem_block) {
  uint64_t fixed = (uint64_t)r->smem_static + gpu->smem_reserved;
  uint64_t bytes = round_up(fixed + r->smem_dynamic, gpu->smem_unit);
  *smem_block = (uint32_t)bytes;

  uint64_t per_block = gpu->smem_block;
  if (r->smem_limit) {
    if (r->smem_dynamic > r->smem_limit)
      return 0;
    if (fixed + r->smem_limit > per_block)
      per_block = gpu->smem_block_optin;
  }
  if (bytes > per_block + gpu->smem_reserved)
    return 0;
  if (bytes == 0)
    return PACC_UNLIMITED;

  uint64_t preferred = gpu->smem_sm;
  if (r->carveout != PACC_CARVEOUT_DEFAULT)
    preferred = (uint64_t)r->carveout * gpu->smem_sm / 100;
  uint32_t per_sm = carveout_for(gpu, preferred);
  /* A preference too small for one block gives way. */
  if (per_sm < bytes)
    per_sm = carveout_for(gpu, bytes);
  return limit_of(per_sm / bytes);
}

enum pacc_model_status pacc_occupancy(const struct pacc_gpu *gpu,
                                      const struct pacc_resources *resources,
                                      uint32_t threads,
                                      struct pacc_occupancy_info *info) {
  const struct pacc_resources *r = resources;
  if (!gpu || !r || !info || threads == 0 ||
      r->carveout < PACC_CARVEOUT_DEFAULT || r->carveout > 100)
    return PACC_MODEL_INVALID;

  memset(info, 0, sizeof *info);
  uint32_t max_threads = gpu->threads_block;
  if (r->max_threads && r->max_threads < max_threads)
    max_threads = r->max_threads;
  uint32_t warps = (threads - 1) / gpu->warp_size + 1;
  uint32_t warps_sm = gpu->threads_sm / gpu->warp_size;

  info->warps_max = (int32_t)warps_sm;
  info->by_warps = threads > max_threads ? 0 : limit_of(warps_sm / warps);
  info->by_regs = limit_regs(gpu, r->regs, warps, &info->regs_block);
  info->by_smem = limit_smem(gpu, r, &info->smem_block);
  info->by_blocks = (int32_t)gpu->blocks_sm;
  info->by_barriers = gpu->barriers_sm && r->barriers
                          ? limit_of(gpu->barriers_sm / r->barriers)
                          : PACC_UNLIMITED;

  const struct {
    int32_t blocks;
    enum pacc_limit bit;
  } limits[] = {
      {info->by_warps, PACC_LIMIT_WARPS},
      {info->by_regs, PACC_LIMIT_REGS},
      {info->by_smem, PACC_LIMIT_SMEM},
      {info->by_blocks, PACC_LIMIT_BLOCKS},
      {info->by_barriers, PACC_LIMIT_BARRIERS},
  };
  info->blocks = PACC_UNLIMITED;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    info->blocks = min_limit(info->blocks, limits[i].blocks);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (limits[i].blocks == info->blocks)
      info->limits |= (uint32_t)limits[i].bit;
  info->warps = info->blocks * (int32_t)warps;
  return PACC_MODEL_OK;
}

enum pacc_model_status
pacc_occupancy_suggest(const struct pacc_gpu *gpu,
                       const struct pacc_resources *resources,
                       pacc_smem_of_threads *smem, void *user,
                       uint32_t *threads, uint32_t *min_grid) {
  if (!gpu || !resources || !threads || !min_grid)
    return PACC_MODEL_INVALID;
  struct pacc_resources r = *resources;
  uint32_t largest = gpu->threads_block;
  if (r.max_threads && r.max_threads < largest)
    largest = r.max_threads;

  uint64_t best = 0;
  *threads = 0;
  *min_grid = 0;
  uint32_t step = (uint32_t)round_up(largest, gpu->warp_size);
  for (; step > 0; step -= gpu->warp_size) {
    uint32_t size = step < largest ? step : largest;
    if (smem)
      r.smem_dynamic = smem(size, user);
    struct pacc_occupancy_info info;
    enum pacc_model_status status = pacc_occupancy(gpu, &r, size, &info);
    if (status != PACC_MODEL_OK)
      return status;
    uint64_t active = (uint64_t)info.blocks * size;
    if (active > best) {
      best = active;
      *threads = size;
      *min_grid = (uint32_t)info.blocks * gpu->sm_count;
    }
  }
  return best ? PACC_MODEL_OK : PACC_MODEL_NO_FIT;
}

char *pacc_limits_print(uint32_t limits, char *text, size_t size) {
  static const struct {
    enum pacc_limit bit;
    const char *name;
  } names[] = {
      {PACC_LIMIT_WARPS, "warps"},       {PACC_LIMIT_REGS, "registers"},
      {PACC_LIMIT_SMEM, "shared"},       {PACC_LIMIT_BLOCKS, "blocks"},
      {PACC_LIMIT_BARRIERS, "barriers"},
  };
  size_t used = 0;
  if (size)
    *text = '\0';
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!(limits & (uint32_t)names[i].bit) || used >= size)
      continue;
    int n = snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                     names[i].name);
    used += n > 0 ? (size_t)n : 0;
  }
  return text;
}
