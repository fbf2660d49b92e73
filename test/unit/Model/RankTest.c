/* RankTest: the order of block shapes where it is known, the modes, what must
 * hold for any kernel on any GPU (random ones), and bad input. */
#include "ModelTest.h"
#include "SweepKernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct pacc_gpu *hopper(void) { return pacc_gpu_find("sm_90"); }

static struct pacc_ranking ranked(const struct pacc_work *work,
                                  enum pacc_rank_mode mode) {
  const struct pacc_rank_options options = {.mode = mode};
  struct pacc_ranking ranking;
  assert_int_equal(pacc_rank_blocks(hopper(), work, &options, &ranking),
                   PACC_MODEL_OK);
  assert_true(ranking.n > 0);
  return ranking;
}

static const struct pacc_block_score *
score_of(const struct pacc_ranking *ranking, uint32_t x, uint32_t y) {
  const uint32_t block[3] = {x, y, 1};
  for (size_t i = 0; i < ranking->n; i++)
    if (memcmp(ranking->scores[i].block, block, sizeof block) == 0)
      return &ranking->scores[i];
  fail_msg("%ux%u is no candidate", x, y);
  return NULL;
}

static void describe(const char *name, struct sweep_kernel *kernel) {
  assert_true(sweep_kernel_get(name, 0, 32, kernel));
}

/*===-- Known orders -----------------------------------------------------===*/

/* 2,000 threads that walk rows: one warp per SM, since a warp's request takes
 * 32 clocks of its SM's L1. */
static void spreads_row_walks(void **state) {
  (void)state;
  struct sweep_kernel kernel;
  describe("row_walk", &kernel);
  struct pacc_ranking ranking = ranked(&kernel.work, PACC_RANK_AUTO);
  assert_int_equal(ranking.scores[0].threads, 32);
  assert_true(ranking.complex_access);
  assert_false(ranking.sync);
  const struct pacc_block_score *wide = score_of(&ranking, 256, 1);
  assert_true(wide->time > 2 * ranking.scores[0].time);
  assert_string_equal(pacc_score_bound(wide), "l1");
  assert_int_equal(wide->blocks, 8);
  assert_true(fabs(wide->busy - 8 / 132.0) < 1e-12);
  assert_true(fabs(wide->idle_threads - 48 / 2048.0) < 1e-12);
  pacc_ranking_free(&ranking);
}

/* A stencil wants rows of whole lines and blocks of middle size. */
static void keeps_stencils_wide(void **state) {
  (void)state;
  struct sweep_kernel kernel;
  describe("jacobi_2d", &kernel);
  struct pacc_ranking ranking = ranked(&kernel.work, PACC_RANK_AUTO);
  assert_true(ranking.scores[0].block[0] >= 32);
  assert_true(ranking.scores[0].threads >= 128);
  assert_true(ranking.scores[0].threads <= 512);
  assert_false(ranking.complex_access);
  /* Threads along y read rows of their neighbours: fewer bytes than 256x1. */
  assert_true(score_of(&ranking, 32, 8)->l2_bytes <
              0.7 * score_of(&ranking, 256, 1)->l2_bytes);
  /* 32-thread blocks fill half of the warps and start too many blocks. */
  const struct pacc_block_score *small = score_of(&ranking, 32, 1);
  assert_int_equal(small->occupancy.warps, 32);
  assert_int_equal(small->occupancy.limits, PACC_LIMIT_BLOCKS);
  assert_string_equal(pacc_score_bound(small), "blocks");
  pacc_ranking_free(&ranking);
}

/* Rows of both operands: a half warp of 4 x 4 threads meets in 4 + 4 rows. */
static void squares_products_of_rows(void **state) {
  (void)state;
  struct sweep_kernel kernel;
  describe("syr2k", &kernel);
  struct pacc_ranking ranking = ranked(&kernel.work, PACC_RANK_AUTO);
  assert_int_equal(ranking.scores[0].block[0], 4);
  assert_true(score_of(&ranking, 32, 8)->time > 1.8 * ranking.scores[0].time);
  assert_true(score_of(&ranking, 8, 32)->time <
              score_of(&ranking, 16, 16)->time);
  pacc_ranking_free(&ranking);
}

static void transposes(void **state) {
  (void)state;
  struct sweep_kernel kernel;
  describe("transpose", &kernel);
  struct pacc_ranking ranking = ranked(&kernel.work, PACC_RANK_AUTO);
  assert_true(ranking.scores[0].block[0] >= 4);
  assert_true(ranking.scores[0].block[0] <= 16);
  assert_true(score_of(&ranking, 256, 1)->time > 1.15 * ranking.scores[0].time);
  pacc_ranking_free(&ranking);
}

/*===-- Modes ------------------------------------------------------------===*/

static void follows_the_paper(void **state) {
  (void)state;
  struct sweep_kernel kernel;
  describe("jacobi_2d", &kernel);
  struct pacc_ranking ranking = ranked(&kernel.work, PACC_RANK_PAPER);
  assert_int_equal(ranking.scores[0].occupancy.warps, 64);
  assert_int_equal(ranking.scores[0].threads, 1024);
  assert_false(ranking.scores[0].small_rule);
  pacc_ranking_free(&ranking);

  kernel.work.sync = true;
  ranking = ranked(&kernel.work, PACC_RANK_PAPER);
  assert_int_equal(ranking.scores[0].occupancy.warps, 64);
  assert_int_equal(ranking.scores[0].threads, 64);
  assert_true(ranking.scores[0].small_rule);
  assert_true(ranking.sync);
  pacc_ranking_free(&ranking);

  describe("syrk", &kernel);
  ranking = ranked(&kernel.work, PACC_RANK_PAPER);
  assert_true(ranking.complex_access);
  assert_int_equal(ranking.scores[0].threads, 64);
  pacc_ranking_free(&ranking);
}

static void follows_the_api(void **state) {
  (void)state;
  struct sweep_kernel kernel;
  describe("gemm", &kernel);
  kernel.work.regs = 40;
  struct pacc_ranking ranking = ranked(&kernel.work, PACC_RANK_API);
  assert_int_equal(ranking.n, 1);
  assert_int_equal(ranking.scores[0].block[0], 768);
  assert_int_equal(ranking.scores[0].block[1], 1);
  assert_true(ranking.scores[0].time > 0);
  pacc_ranking_free(&ranking);
}

static uint32_t doubles_of_block(const uint32_t block[3], void *user) {
  return block[0] * block[1] * block[2] * *(const uint32_t *)user;
}

static void takes_fixed_shapes(void **state) {
  (void)state;
  struct sweep_kernel kernel;
  describe("gemm", &kernel);
  struct pacc_rank_options options = {.mode = PACC_RANK_FIXED,
                                      .fixed = {24, 5, 1}};
  struct pacc_ranking ranking;
  assert_int_equal(pacc_rank_blocks(hopper(), &kernel.work, &options, &ranking),
                   PACC_MODEL_OK);
  assert_int_equal(ranking.n, 1);
  assert_int_equal(ranking.scores[0].threads, 120);
  pacc_ranking_free(&ranking);

  static const uint32_t bad[][3] = {
      {0, 1, 1}, {1025, 1, 1}, {64, 32, 1}, {1, 1, 65}, {65536, 65536, 1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    memcpy(options.fixed, bad[i], sizeof bad[i]);
    assert_int_equal(
        pacc_rank_blocks(hopper(), &kernel.work, &options, &ranking),
        PACC_MODEL_INVALID);
    pacc_ranking_free(&ranking);
  }
  /* A shape that is legal but does not fit. */
  uint32_t bytes = 100;
  kernel.work.smem = doubles_of_block;
  kernel.work.smem_user = &bytes;
  memcpy(options.fixed, (uint32_t[3]){512, 1, 1}, sizeof options.fixed);
  assert_int_equal(pacc_rank_blocks(hopper(), &kernel.work, &options, &ranking),
                   PACC_MODEL_NO_FIT);
  pacc_ranking_free(&ranking);
}

/* H200: a port to L2 takes 48 bytes per clock, and 283 clocks to answer;
 * so 13.6 KB have to be under way. */
static void fills_the_wait(void **state) {
  (void)state;
  struct pacc_access read = {
      .size = 8, .stride = {8, 0, 0}, .seq = 16000, .count = 1000};
  struct pacc_work work = {.dims = 1,
                           .extent = {2000, 1, 1},
                           .active = 1,
                           .seq_trip = 1000,
                           .n_accesses = 1,
                           .accesses = &read};
  assert_int_equal(pacc_iterations_in_flight(hopper(), &work), 16);
  work.extent[0] = 132 * 128;
  assert_int_equal(pacc_iterations_in_flight(hopper(), &work), 8);
  work.extent[0] = 132 * 512;
  assert_int_equal(pacc_iterations_in_flight(hopper(), &work), 2);
  work.extent[0] = 10000000;
  assert_int_equal(pacc_iterations_in_flight(hopper(), &work), 1);
  /* What a warp shares is one word. */
  read.stride[0] = 0;
  assert_int_equal(pacc_iterations_in_flight(hopper(), &work), 16);
  read.write = true;
  assert_int_equal(pacc_iterations_in_flight(hopper(), &work), 1);
}

/* Shared memory that grows with the block: at most 48 KB. */
static void minds_shared_memory(void **state) {
  (void)state;
  struct sweep_kernel kernel;
  describe("gemm", &kernel);
  uint32_t bytes = 100;
  kernel.work.smem = doubles_of_block;
  kernel.work.smem_user = &bytes;
  struct pacc_ranking ranking = ranked(&kernel.work, PACC_RANK_AUTO);
  for (size_t i = 0; i < ranking.n; i++)
    assert_true(ranking.scores[i].threads * bytes <= 48 * 1024);
  pacc_ranking_free(&ranking);
  bytes = 10000;
  assert_int_equal(pacc_rank_blocks(hopper(), &kernel.work, NULL, &ranking),
                   PACC_MODEL_NO_FIT);
  pacc_ranking_free(&ranking);
}

/*===-- Any kernel -------------------------------------------------------===*/

struct random_work {
  struct pacc_work work;
  struct pacc_access accesses[6];
};

static void draw_work(uint64_t *seed, struct random_work *r) {
  memset(r, 0, sizeof *r);
  struct pacc_work *w = &r->work;
  w->dims = 1 + draw_below(seed, 3);
  for (unsigned d = 0; d < 3; d++)
    w->extent[d] = d < w->dims
                       ? 1 + draw_below(seed, draw_below(seed, 2) ? 100000 : 70)
                       : 1;
  w->active = draw_below(seed, 2) ? 1 : 0.25;
  w->regs = 1 + draw_below(seed, 255);
  w->seq_trip = draw_below(seed, 2) ? 1 : 1 + draw_below(seed, 5000);
  w->barriers = draw_below(seed, 4) ? 0 : draw_below(seed, 100);
  w->sync = draw_below(seed, 5) == 0;
  w->fp64 = draw_below(seed, 1000);
  w->fp32 = draw_below(seed, 1000);
  w->ints = draw_below(seed, 1000);
  w->special = draw_below(seed, 3);
  w->chain = draw_below(seed, 5);
  w->ahead = draw_below(seed, 9);
  w->n_accesses = draw_below(seed, 7);
  w->accesses = r->accesses;
  static const int64_t strides[] = {
      0, 1, 4, 8, -8, 16, 264, 16000, -(1 << 20), INT64_C(1) << 40};
  for (size_t i = 0; i < w->n_accesses; i++) {
    struct pacc_access *a = &r->accesses[i];
    a->array = draw_below(seed, 3);
    a->size = 1u << draw_below(seed, 5);
    a->write = draw_below(seed, 3) == 0;
    a->gather = draw_below(seed, 6) == 0;
    a->offset = (int64_t)draw_below(seed, 1000) - 500;
    for (unsigned d = 0; d < 3; d++)
      a->stride[d] = strides[draw_below(seed, 10)];
    a->seq = strides[draw_below(seed, 10)];
    a->count = draw_below(seed, 2) ? w->seq_trip : draw_below(seed, 3);
    a->footprint = draw_below(seed, 4) ? 0 : draw_below(seed, 1u << 30);
  }
}

static bool power_of_two(uint32_t n) { return n && (n & (n - 1)) == 0; }

static void check_score(const struct pacc_gpu *gpu,
                        const struct pacc_work *work,
                        const struct pacc_block_score *s) {
  assert_int_equal(s->threads, s->block[0] * s->block[1] * s->block[2]);
  assert_true(s->threads <= 1024 && s->threads % 32 == 0);
  assert_true(power_of_two(s->block[0]) || s->block[0] % 32 == 0);
  assert_true(power_of_two(s->block[1]) && power_of_two(s->block[2]));
  for (unsigned d = work->dims; d < 3; d++)
    assert_int_equal(s->block[d], 1);
  assert_true(s->occupancy.blocks > 0);
  assert_true(s->occupancy.warps <= s->occupancy.warps_max);
  const double terms[] = {s->t_issue, s->t_l1,      s->t_l2,
                          s->t_dram,  s->t_latency, s->t_blocks};
  double sum = 0, largest = 0;
  for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
    assert_true(isfinite(terms[i]) && terms[i] >= 0);
    sum += terms[i];
    largest = fmax(largest, terms[i]);
  }
  /* A block alone on its SM waits for its own work, too. */
  sum += s->t_issue + s->t_l1 + s->t_l2 + s->t_dram;
  assert_true(s->time >= largest * (1 - 1e-9) && s->time <= sum * (1 + 1e-9));
  assert_true(s->time > 0);
  assert_true(s->tail >= 0 && s->tail < 1);
  assert_true(s->busy > 0 && s->busy <= 1);
  assert_true(s->idle_threads >= 0 && s->idle_threads < 1);
  assert_true(s->waves > 0);
  assert_true((double)s->blocks * s->threads >= (double)work->extent[0] *
                                                    (double)work->extent[1] *
                                                    (double)work->extent[2]);
  assert_true(s->sectors >= 0 && s->sectors <= 64);
  /* As many blocks as work for the busiest SM. */
  assert_true(s->busy * gpu->sm_count <= (double)s->blocks + 1e-6);
}

static int by_shape(const void *l, const void *r) {
  const struct pacc_block_score *a = l, *b = r;
  return memcmp(a->block, b->block, sizeof a->block);
}

/* The same shapes, none faster: more of something cannot save time. */
static void check_not_faster(struct pacc_ranking *more,
                             struct pacc_ranking *less) {
  assert_int_equal(more->n, less->n);
  qsort(more->scores, more->n, sizeof *more->scores, by_shape);
  qsort(less->scores, less->n, sizeof *less->scores, by_shape);
  for (size_t i = 0; i < more->n; i++) {
    assert_memory_equal(more->scores[i].block, less->scores[i].block,
                        sizeof less->scores[i].block);
    assert_true(more->scores[i].time >= less->scores[i].time * (1 - 1e-9));
  }
}

static void holds_for_any_kernel(void **state) {
  (void)state;
  uint64_t seed = 11;
  size_t n_gpus = 0;
  while (pacc_gpu_at(n_gpus))
    n_gpus++;
  for (int i = 0; i < 150; i++) {
    struct random_work r;
    draw_work(&seed, &r);
    const struct pacc_gpu *gpu =
        pacc_gpu_at(draw_below(&seed, (uint32_t)n_gpus));
    struct pacc_ranking one, two;
    enum pacc_model_status status = pacc_rank_blocks(gpu, &r.work, NULL, &one);
    assert_int_equal(status, PACC_MODEL_OK);
    for (size_t k = 0; k < one.n; k++) {
      check_score(gpu, &r.work, &one.scores[k]);
      if (k)
        assert_true(one.scores[k - 1].time <= one.scores[k].time);
    }
    /* Twice the same question, twice the same answer. */
    assert_int_equal(pacc_rank_blocks(gpu, &r.work, NULL, &two), PACC_MODEL_OK);
    assert_int_equal(one.n, two.n);
    assert_memory_equal(one.scores, two.scores, one.n * sizeof *one.scores);
    pacc_ranking_free(&two);

    /* More arithmetic. */
    r.work.fp64 = 2 * r.work.fp64 + 100;
    assert_int_equal(pacc_rank_blocks(gpu, &r.work, NULL, &two), PACC_MODEL_OK);
    check_not_faster(&two, &one);
    pacc_ranking_free(&two);
    pacc_ranking_free(&one);
  }
}

/* Names, and the order in which accesses are listed, mean nothing. */
static void ignores_the_order_of_accesses(void **state) {
  (void)state;
  struct sweep_kernel kernel;
  describe("heat_3d", &kernel);
  struct pacc_ranking one = ranked(&kernel.work, PACC_RANK_AUTO);
  for (size_t i = 0; i < kernel.work.n_accesses / 2; i++) {
    struct pacc_access swap = kernel.accesses[i];
    size_t other = kernel.work.n_accesses - 1 - i;
    kernel.accesses[i] = kernel.accesses[other];
    kernel.accesses[other] = swap;
    kernel.accesses[i].name = "renamed";
  }
  struct pacc_ranking two = ranked(&kernel.work, PACC_RANK_AUTO);
  assert_int_equal(one.n, two.n);
  for (size_t i = 0; i < one.n; i++) {
    assert_memory_equal(one.scores[i].block, two.scores[i].block,
                        sizeof one.scores[i].block);
    assert_true(fabs(one.scores[i].time / two.scores[i].time - 1) < 1e-9);
  }
  pacc_ranking_free(&one);
  pacc_ranking_free(&two);
}

/*===-- Bad input --------------------------------------------------------===*/

static void refuse(const struct pacc_work *work) {
  struct pacc_ranking ranking;
  assert_int_equal(pacc_rank_blocks(hopper(), work, NULL, &ranking),
                   PACC_MODEL_INVALID);
  assert_int_equal(ranking.n, 0);
  pacc_ranking_free(&ranking);
}

static void refuses_bad_input(void **state) {
  (void)state;
  struct sweep_kernel good, bad;
  describe("gemm", &good);
#define REFUSE(change)                                                         \
  do {                                                                         \
    bad = good;                                                                \
    bad.work.accesses = bad.accesses;                                          \
    change;                                                                    \
    refuse(&bad.work);                                                         \
  } while (0)
  REFUSE(bad.work.dims = 0);
  REFUSE(bad.work.dims = 4);
  REFUSE(bad.work.dims = 1);
  REFUSE(bad.work.extent[0] = 0);
  REFUSE(bad.work.extent[1] = UINT64_MAX);
  REFUSE(bad.work.active = 0);
  REFUSE(bad.work.active = 1.5);
  REFUSE(bad.work.active = NAN);
  REFUSE(bad.work.seq_trip = 0);
  REFUSE(bad.work.seq_trip = NAN);
  REFUSE(bad.work.fp64 = -1);
  REFUSE(bad.work.fp32 = INFINITY);
  REFUSE(bad.work.ahead = -1);
  REFUSE(bad.accesses[0].size = 0);
  REFUSE(bad.accesses[0].count = NAN);
  REFUSE(bad.accesses[1].stride[2] = INT64_MIN);
  REFUSE(bad.accesses[2].seq = INT64_MAX);
  REFUSE(bad.work.accesses = NULL);
#undef REFUSE
  refuse(NULL);
  struct pacc_ranking ranking;
  assert_int_equal(pacc_rank_blocks(NULL, &good.work, NULL, &ranking),
                   PACC_MODEL_INVALID);
  assert_int_equal(pacc_rank_blocks(hopper(), &good.work, NULL, NULL),
                   PACC_MODEL_INVALID);
  good.work.regs = 300;
  assert_int_equal(pacc_rank_blocks(hopper(), &good.work, NULL, &ranking),
                   PACC_MODEL_NO_FIT);
  pacc_ranking_free(&ranking);
  pacc_ranking_free(NULL);
}

/* Nothing but threads; one thread; a grid wider than 32 bits. */
static void takes_extremes(void **state) {
  (void)state;
  struct pacc_work work = {
      .dims = 1, .extent = {1, 1, 1}, .active = 1, .regs = 16, .seq_trip = 1};
  struct pacc_ranking ranking = ranked(&work, PACC_RANK_AUTO);
  assert_int_equal(ranking.n, 1);
  assert_int_equal(ranking.scores[0].threads, 32);
  pacc_ranking_free(&ranking);
  work.extent[0] = UINT64_C(1) << 50;
  ranking = ranked(&work, PACC_RANK_AUTO);
  assert_true(ranking.scores[0].threads >= 128);
  pacc_ranking_free(&ranking);
}

static void prints_shapes(void **state) {
  (void)state;
  char text[16];
  assert_string_equal(
      pacc_block_print((uint32_t[3]){64, 1, 1}, text, sizeof text), "64");
  assert_string_equal(
      pacc_block_print((uint32_t[3]){32, 8, 1}, text, sizeof text), "32x8");
  assert_string_equal(
      pacc_block_print((uint32_t[3]){32, 1, 4}, text, sizeof text), "32x1x4");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spreads_row_walks),
      cmocka_unit_test(keeps_stencils_wide),
      cmocka_unit_test(squares_products_of_rows),
      cmocka_unit_test(transposes),
      cmocka_unit_test(follows_the_paper),
      cmocka_unit_test(follows_the_api),
      cmocka_unit_test(takes_fixed_shapes),
      cmocka_unit_test(fills_the_wait),
      cmocka_unit_test(minds_shared_memory),
      cmocka_unit_test(holds_for_any_kernel),
      cmocka_unit_test(ignores_the_order_of_accesses),
      cmocka_unit_test(refuses_bad_input),
      cmocka_unit_test(takes_extremes),
      cmocka_unit_test(prints_shapes),
  };
  return cmocka_run_group_tests_name("Model/Rank", tests, NULL, NULL);
}
