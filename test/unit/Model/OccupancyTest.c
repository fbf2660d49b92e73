/* OccupancyTest: pacc_occupancy and pacc_occupancy_suggest are equal to
 * NVIDIA's calculator, whose header comes from the CUDA toolkit of whoever
 * runs the test, over random kernels on every architecture of the table.
 * Without a toolkit these tests are skipped; the others are known answers. */
#include "ModelTest.h"

#ifdef PACC_HAVE_CUDA_OCCUPANCY
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include <cuda_occupancy.h>
#pragma clang diagnostic pop
#endif

#include <limits.h>
#include <string.h>

enum { CASES = 10000 };

#ifdef PACC_HAVE_CUDA_OCCUPANCY
struct random_case {
  struct pacc_resources resources;
  uint32_t threads;
};

/* Small, middle and too large values of everything. */
static struct random_case draw(const struct pacc_gpu *gpu, uint64_t *seed) {
  struct random_case c = {0};
  struct pacc_resources *r = &c.resources;
  r->regs =
      draw_below(seed, 20) ? draw_below(seed, 257) : 250 + draw_below(seed, 20);
  uint32_t smem_range[] = {1, 2000, 50000, gpu->smem_sm + 4096};
  r->smem_static = draw_below(seed, smem_range[draw_below(seed, 3)]);
  r->smem_dynamic = draw_below(seed, smem_range[draw_below(seed, 4)]);
  if (draw_below(seed, 2))
    r->smem_limit = 1 + draw_below(seed, gpu->smem_block_optin);
  r->carveout = PACC_CARVEOUT_DEFAULT;
  if (draw_below(seed, 2))
    r->carveout = (int32_t)draw_below(seed, 101);
  r->barriers = draw_below(seed, 2) ? draw_below(seed, 17) : 1;
  if (draw_below(seed, 4) == 0)
    r->max_threads = 1 + draw_below(seed, 1024);
  c.threads = draw_below(seed, 2) ? 32 * (1 + draw_below(seed, 32))
                                  : 1 + draw_below(seed, 1100);
  return c;
}

static cudaOccDeviceProp properties_of(const struct pacc_gpu *gpu) {
  cudaOccDeviceProp p;
  memset(&p, 0, sizeof p);
  p.computeMajor = (int)(gpu->cc / 10);
  p.computeMinor = (int)(gpu->cc % 10);
  p.maxThreadsPerBlock = (int)gpu->threads_block;
  p.maxThreadsPerMultiprocessor = (int)gpu->threads_sm;
  p.regsPerBlock = (int)gpu->regs_sm;
  p.regsPerMultiprocessor = (int)gpu->regs_sm;
  p.warpSize = (int)gpu->warp_size;
  p.sharedMemPerBlock = gpu->smem_block;
  p.sharedMemPerMultiprocessor = gpu->smem_sm;
  p.numSms = (int)gpu->sm_count;
  p.sharedMemPerBlockOptin = gpu->smem_block_optin;
  p.reservedSharedMemPerBlock = gpu->smem_reserved;
  return p;
}

static cudaOccFuncAttributes attributes_of(const struct pacc_resources *r) {
  cudaOccFuncAttributes a;
  memset(&a, 0, sizeof a);
  a.maxThreadsPerBlock = r->max_threads ? (int)r->max_threads : INT_MAX;
  a.numRegs = (int)r->regs;
  a.sharedSizeBytes = r->smem_static;
  a.partitionedGCConfig = PARTITIONED_GC_OFF;
  a.shmemLimitConfig =
      r->smem_limit ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
  a.maxDynamicSharedSizeBytes = r->smem_limit;
  a.numBlockBarriers = (int)r->barriers;
  return a;
}

/* The calculator leaves the launch bound to its caller for one block size; a
 * launch beyond it fails, which is 0 blocks. */
static bool beyond_bound(const struct random_case *c) {
  return c->resources.max_threads && c->threads > c->resources.max_threads;
}

static void check_case(const struct pacc_gpu *gpu,
                       const struct random_case *c) {
  cudaOccDeviceProp properties = properties_of(gpu);
  cudaOccFuncAttributes attributes = attributes_of(&c->resources);
  cudaOccDeviceState state = {CACHE_PREFER_NONE, c->resources.carveout};
  cudaOccResult expected;
  assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(
                       &expected, &properties, &attributes, &state,
                       (int)c->threads, c->resources.smem_dynamic),
                   CUDA_OCC_SUCCESS);
  struct pacc_occupancy_info info;
  assert_int_equal(pacc_occupancy(gpu, &c->resources, c->threads, &info),
                   PACC_MODEL_OK);

  assert_int_equal(info.by_regs, expected.blockLimitRegs);
  assert_int_equal(info.by_smem, expected.blockLimitSharedMem);
  assert_int_equal(info.by_blocks, expected.blockLimitBlocks);
  assert_int_equal(info.by_barriers, expected.blockLimitBarriers);
  assert_int_equal(info.regs_block, expected.allocatedRegistersPerBlock);
  assert_int_equal(info.smem_block, expected.allocatedSharedMemPerBlock);
  if (beyond_bound(c)) {
    assert_int_equal(info.blocks, 0);
    return;
  }
  assert_int_equal(info.by_warps, expected.blockLimitWarps);
  assert_int_equal(info.blocks, expected.activeBlocksPerMultiprocessor);
  /* The calculator adds the barriers' bit last and keeps those of the limits
   * that were reached before; ours are those that hold in the end. */
  uint32_t bits = expected.limitingFactors & 0x1fu;
  if (expected.blockLimitBarriers == info.blocks) {
    assert_true(bits & OCC_LIMIT_BARRIERS);
    assert_true(info.limits & PACC_LIMIT_BARRIERS);
    assert_int_equal(info.limits & ~bits, 0);
  } else {
    assert_int_equal(info.limits, bits);
  }
}
#endif

/* Every limit of pacc_occupancy, 10,000 random kernels per architecture. */
static void equals_cuda_occupancy(void **state) {
  (void)state;
#ifdef PACC_HAVE_CUDA_OCCUPANCY
  uint64_t seed = 20;
  for (size_t g = 0; pacc_gpu_at(g); g++)
    for (int i = 0; i < CASES; i++) {
      struct random_case c = draw(pacc_gpu_at(g), &seed);
      check_case(pacc_gpu_at(g), &c);
    }
#else
  print_message("skipped: this build found no cuda_occupancy.h\n");
  skip();
#endif
}

#ifdef PACC_HAVE_CUDA_OCCUPANCY
static uint32_t slope;

static size_t smem_for_cuda(int threads) {
  return (size_t)slope * (size_t)threads;
}

static uint32_t smem_for_us(uint32_t threads, void *user) {
  return *(const uint32_t *)user * threads;
}
#endif

/* The suggested size, with fixed shared memory and with shared memory that
 * grows with the block. */
static void suggests_what_cuda_suggests(void **state) {
  (void)state;
#ifdef PACC_HAVE_CUDA_OCCUPANCY
  uint64_t seed = 5;
  for (size_t g = 0; pacc_gpu_at(g); g++) {
    const struct pacc_gpu *gpu = pacc_gpu_at(g);
    cudaOccDeviceProp properties = properties_of(gpu);
    for (int i = 0; i < CASES; i++) {
      struct random_case c = draw(gpu, &seed);
      slope = draw_below(&seed, 100);
      bool grows = draw_below(&seed, 2);
      cudaOccFuncAttributes attributes = attributes_of(&c.resources);
      cudaOccDeviceState device = {CACHE_PREFER_NONE, c.resources.carveout};
      int grid = -1, block = -1;
      assert_int_equal(cudaOccMaxPotentialOccupancyBlockSize(
                           &grid, &block, &properties, &attributes, &device,
                           grows ? smem_for_cuda : NULL,
                           c.resources.smem_dynamic),
                       CUDA_OCC_SUCCESS);
      uint32_t our_grid = 1, our_block = 1;
      enum pacc_model_status status =
          pacc_occupancy_suggest(gpu, &c.resources, grows ? smem_for_us : NULL,
                                 &slope, &our_block, &our_grid);
      assert_int_equal(status, block ? PACC_MODEL_OK : PACC_MODEL_NO_FIT);
      assert_int_equal(our_block, block);
      assert_int_equal(our_grid, grid);
    }
  }
#else
  print_message("skipped: this build found no cuda_occupancy.h\n");
  skip();
#endif
}

/* Worked by hand from the tables: 40 registers are 1,280 per warp, 12 warps
 * per partition, 48 per SM. */
static void known_answers(void **state) {
  (void)state;
  const struct pacc_gpu *gpu = pacc_gpu_find("sm_90");
  struct pacc_resources r = {.regs = 40, .carveout = PACC_CARVEOUT_DEFAULT};
  struct pacc_occupancy_info info;
  assert_int_equal(pacc_occupancy(gpu, &r, 256, &info), PACC_MODEL_OK);
  assert_int_equal(info.blocks, 6);
  assert_int_equal(info.warps, 48);
  assert_int_equal(info.warps_max, 64);
  assert_int_equal(info.limits, PACC_LIMIT_REGS);
  assert_int_equal(info.regs_block, 8 * 1280);

  r.smem_static = 48 * 1024; /* 49 KB with the reserved one: 228 / 49 = 4 */
  assert_int_equal(pacc_occupancy(gpu, &r, 256, &info), PACC_MODEL_OK);
  assert_int_equal(info.blocks, 4);
  assert_int_equal(info.limits, PACC_LIMIT_SMEM);

  r.smem_static++;
  assert_int_equal(pacc_occupancy(gpu, &r, 256, &info), PACC_MODEL_OK);
  assert_int_equal(info.blocks, 0);

  r = (struct pacc_resources){.regs = 16, .carveout = PACC_CARVEOUT_DEFAULT};
  assert_int_equal(pacc_occupancy(gpu, &r, 32, &info), PACC_MODEL_OK);
  assert_int_equal(info.blocks, 32);
  assert_int_equal(info.limits, PACC_LIMIT_BLOCKS);

  r.barriers = 16; /* 64 per SM */
  assert_int_equal(pacc_occupancy(gpu, &r, 32, &info), PACC_MODEL_OK);
  assert_int_equal(info.blocks, 4);
  assert_int_equal(info.limits, PACC_LIMIT_BARRIERS);
}

static void refuses_bad_input(void **state) {
  (void)state;
  const struct pacc_gpu *gpu = pacc_gpu_find("sm_80");
  struct pacc_resources r = {.regs = 32, .carveout = PACC_CARVEOUT_DEFAULT};
  struct pacc_occupancy_info info;
  uint32_t threads, grid;
  assert_int_equal(pacc_occupancy(NULL, &r, 32, &info), PACC_MODEL_INVALID);
  assert_int_equal(pacc_occupancy(gpu, &r, 0, &info), PACC_MODEL_INVALID);
  r.carveout = 101;
  assert_int_equal(pacc_occupancy(gpu, &r, 32, &info), PACC_MODEL_INVALID);
  assert_int_equal(pacc_occupancy_suggest(gpu, &r, NULL, NULL, &threads, &grid),
                   PACC_MODEL_INVALID);
  r.carveout = 0;
  r.regs = 300;
  assert_int_equal(pacc_occupancy_suggest(gpu, &r, NULL, NULL, &threads, &grid),
                   PACC_MODEL_NO_FIT);
  /* Sizes near 4 GiB must not wrap round to small ones. */
  r = (struct pacc_resources){.smem_static = UINT32_MAX,
                              .smem_dynamic = UINT32_MAX,
                              .smem_limit = UINT32_MAX};
  assert_int_equal(pacc_occupancy(gpu, &r, UINT32_MAX, &info), PACC_MODEL_OK);
  assert_int_equal(info.blocks, 0);
  assert_int_equal(info.by_smem, 0);
}

static void finds_architectures(void **state) {
  (void)state;
  static const char *const same[] = {"sm_90", "sm_90a", "compute_90", "9.0"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    assert_ptr_equal(pacc_gpu_find(same[i]), pacc_gpu_find("sm_90"));
  assert_int_equal(pacc_gpu_find("sm_90")->cc, 90);
  assert_int_equal(pacc_gpu_find("12.1")->cc, 121);
  assert_int_equal(pacc_gpu_find("sm_100f")->cc, 100);
  static const char *const none[] = {"",      "sm_",    "sm_9",   "sm_90x",
                                     "sm90",  "sm_ 90", "sm_-90", "9.",
                                     "9.0.1", "90",     "sm_900", "+9.0"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    assert_null(pacc_gpu_find(none[i]));
  assert_null(pacc_gpu_find(NULL));
}

/* What every row must keep for the code to be right. */
static void table_is_consistent(void **state) {
  (void)state;
  uint32_t last = 0;
  for (size_t g = 0; pacc_gpu_at(g); g++) {
    const struct pacc_gpu *gpu = pacc_gpu_at(g);
    assert_true(gpu->cc > last);
    last = gpu->cc;
    assert_ptr_equal(pacc_gpu_find(gpu->arch), gpu);
    assert_true(gpu->n_carveouts >= 1 &&
                gpu->n_carveouts <= PACC_MAX_CARVEOUTS);
    for (uint32_t i = 1; i < gpu->n_carveouts; i++)
      assert_true(gpu->carveouts[i - 1] < gpu->carveouts[i]);
    assert_int_equal(gpu->carveouts[gpu->n_carveouts - 1], gpu->smem_sm);
    assert_int_equal(gpu->smem_block_optin + gpu->smem_reserved, gpu->smem_sm);
    assert_true(gpu->smem_sm < gpu->l1_bytes);
    assert_int_equal(gpu->threads_sm % gpu->warp_size, 0);
    assert_true(gpu->sm_count > 0 && gpu->clock > 1e9 &&
                gpu->memory_bandwidth > 1e11 && gpu->l2_bytes > 0);
    assert_true(gpu->fp64_lanes > 0 && gpu->fp32_lanes >= gpu->fp64_lanes);
  }
  assert_true(last > 0);
}

static void prints_limits(void **state) {
  (void)state;
  char text[64];
  assert_string_equal(pacc_limits_print(PACC_LIMIT_REGS, text, sizeof text),
                      "registers");
  assert_string_equal(pacc_limits_print(PACC_LIMIT_WARPS | PACC_LIMIT_BARRIERS,
                                        text, sizeof text),
                      "warps, barriers");
  assert_string_equal(pacc_limits_print(0, text, sizeof text), "");
  assert_string_equal(pacc_limits_print(31, text, 8), "warps, ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equals_cuda_occupancy),
      cmocka_unit_test(suggests_what_cuda_suggests),
      cmocka_unit_test(known_answers),
      cmocka_unit_test(refuses_bad_input),
      cmocka_unit_test(finds_architectures),
      cmocka_unit_test(table_is_consistent),
      cmocka_unit_test(prints_limits),
  };
  return cmocka_run_group_tests_name("Model/Occupancy", tests, NULL, NULL);
}
