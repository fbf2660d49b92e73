/* output.c: the table and the JSON of pacc-occupancy. */
#include "output.h"

#include <inttypes.h>
#include <stdio.h>

enum { BAR = 32 };

/* The block sizes that are asked for: next after `threads`, 0 at the end. */
static uint32_t next_size(const struct occ_options *options, uint32_t threads) {
  if (options->block)
    return threads ? 0 : options->block;
  uint32_t next = threads + options->gpu->warp_size;
  return next <= options->gpu->threads_block ? next : 0;
}

static double share(const struct pacc_occupancy_info *info) {
  return (double)info->warps / info->warps_max;
}

static void print_bar(double part) {
  int full = (int)(part * (double)BAR + 0.5);
  putchar('|');
  for (int i = 0; i < BAR; i++)
    putchar(i < full ? '#' : ' ');
  putchar('|');
}

int occ_print_table(const struct occ_options *options,
                    const struct occ_suggestion *suggestion) {
  const struct pacc_gpu *gpu = options->gpu;
  const struct pacc_resources *r = &options->resources;
  printf("%s: %" PRIu32 " threads, %" PRIu32 " blocks, %" PRIu32
         " registers, %" PRIu32 " KB shared memory per multiprocessor\n",
         gpu->arch, gpu->threads_sm, gpu->blocks_sm, gpu->regs_sm,
         gpu->smem_sm / 1024);
  printf("kernel: %" PRIu32 " registers per thread, %" PRIu32 " + %" PRIu32
         " bytes of shared memory per block, %" PRIu32 " %s\n\n",
         r->regs, r->smem_static, r->smem_dynamic, r->barriers,
         r->barriers == 1 ? "barrier" : "barriers");
  printf("threads  blocks  warps  occupancy %*s limited by\n", BAR + 2, "");
  for (uint32_t t = next_size(options, 0); t; t = next_size(options, t)) {
    struct pacc_occupancy_info info;
    if (pacc_occupancy(gpu, r, t, &info) != PACC_MODEL_OK)
      return 1;
    char limits[64];
    printf("%7" PRIu32 "  %6" PRId32 "  %5" PRId32 "  %7.1f %%  ", t,
           info.blocks, info.warps, 100 * share(&info));
    print_bar(share(&info));
    printf(" %s%s\n", pacc_limits_print(info.limits, limits, sizeof limits),
           t == suggestion->threads ? "  <- API" : "");
  }
  if (suggestion->threads)
    printf("\nThe CUDA occupancy API suggests %" PRIu32
           " threads per block and at least %" PRIu32
           " blocks to fill one %s (%" PRIu32 " multiprocessors).\n",
           suggestion->threads, suggestion->min_grid, gpu->product,
           gpu->sm_count);
  return 0;
}

static void json_limit(const char *name, int32_t blocks) {
  if (blocks == PACC_UNLIMITED)
    printf(", \"by_%s\": null", name);
  else
    printf(", \"by_%s\": %" PRId32, name, blocks);
}

static void json_limits(uint32_t limits) {
  const char *separator = "";
  printf(", \"limited_by\": [");
  for (uint32_t bit = 1; bit <= PACC_LIMIT_BARRIERS; bit <<= 1) {
    char name[16];
    if (!(limits & bit))
      continue;
    printf("%s\"%s\"", separator, pacc_limits_print(bit, name, sizeof name));
    separator = ", ";
  }
  printf("]");
}

int occ_print_json(const struct occ_options *options,
                   const struct occ_suggestion *suggestion) {
  const struct pacc_gpu *gpu = options->gpu;
  const struct pacc_resources *r = &options->resources;
  printf("{\n  \"arch\": \"%s\",\n  \"product\": \"%s\",\n"
         "  \"registers\": %" PRIu32 ",\n  \"static_shared\": %" PRIu32
         ",\n  \"dynamic_shared\": %" PRIu32 ",\n  \"barriers\": %" PRIu32
         ",\n",
         gpu->arch, gpu->product, r->regs, r->smem_static, r->smem_dynamic,
         r->barriers);
  if (suggestion->threads)
    printf("  \"suggested\": {\"threads\": %" PRIu32 ", \"min_grid\": %" PRIu32
           "},\n",
           suggestion->threads, suggestion->min_grid);
  else
    printf("  \"suggested\": null,\n");
  printf("  \"blocks\": [");
  const char *separator = "\n";
  for (uint32_t t = next_size(options, 0); t; t = next_size(options, t)) {
    struct pacc_occupancy_info info;
    if (pacc_occupancy(gpu, r, t, &info) != PACC_MODEL_OK)
      return 1;
    printf("%s    {\"threads\": %" PRIu32 ", \"active_blocks\": %" PRId32
           ", \"active_warps\": %" PRId32 ", \"max_warps\": %" PRId32
           ", \"occupancy\": %.4f",
           separator, t, info.blocks, info.warps, info.warps_max, share(&info));
    json_limits(info.limits);
    json_limit("warps", info.by_warps);
    json_limit("registers", info.by_regs);
    json_limit("shared", info.by_smem);
    json_limit("blocks", info.by_blocks);
    json_limit("barriers", info.by_barriers);
    printf(", \"registers_per_block\": %" PRIu32
           ", \"shared_per_block\": %" PRIu32 "}",
           info.regs_block, info.smem_block);
    separator = ",\n";
  }
  printf("\n  ]\n}\n");
  return 0;
}
