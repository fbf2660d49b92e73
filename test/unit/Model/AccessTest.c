/* AccessTest: sectors, lines and L1 clocks of warp requests, worked out by hand
 * for the walks that loops make, and footprints against plain enumeration. */
#include "ModelTest.h"

#include "../../../lib/Model/model_private.h"

#include <string.h>

static const uint32_t LINE_SHAPE[3] = {32, 1, 1};
static const uint32_t TALL[3] = {4, 8, 1};

static struct pacc_request request(uint32_t size, int64_t x, int64_t y,
                                   int64_t offset, const uint32_t block[3]) {
  struct pacc_access a = {
      .size = size, .stride = {x, y, 0}, .offset = offset, .count = 1};
  return pacc_access_request(&a, block);
}

static void check(struct pacc_request r, double sectors, double lines,
                  double cycles) {
  assert_true(r.sectors == sectors);
  assert_true(r.lines == lines);
  assert_true(r.cycles == cycles);
  assert_true(r.lanes == 32);
}

/* A thread per row, x to the next row. */
static void row_walk(void **state) {
  (void)state;
  /* Rows of 2,000 doubles: all lanes in the same two banks. */
  check(request(8, 16000, 0, 0, LINE_SHAPE), 32, 32, 32);
  /* Rows of 2,001: banks differ, 16 lanes' lines at 4 per clock, twice. */
  check(request(8, 16008, 0, 0, LINE_SHAPE), 32, 32, 8);
  /* Rows of 1,300: 32 bytes on in the banks each row. */
  check(request(8, 10400, 0, 0, LINE_SHAPE), 32, 32, 8);
  check(request(4, 8000, 0, 0, LINE_SHAPE), 32, 32, 16);
}

/* A thread per column, x to the next element. */
static void column_walk(void **state) {
  (void)state;
  check(request(8, 8, 16000, 0, LINE_SHAPE), 8, 2, 2);
  check(request(4, 4, 12800, 0, LINE_SHAPE), 4, 1, 1);
  /* Rows that end in the middle of a line: every other one is split. */
  check(request(4, 4, 8000, 0, LINE_SHAPE), 4, 1.5, 1);
  check(request(1, 1, 0, 0, LINE_SHAPE), 1, 1, 1);
  check(request(8, -8, 0, 1024 * 8, LINE_SHAPE), 9, 3, 2);
}

static void broadcast(void **state) {
  (void)state;
  check(request(8, 0, 16000, 0, LINE_SHAPE), 1, 1, 2);
  check(request(4, 0, 8000, 0, LINE_SHAPE), 1, 1, 1);
}

/* Neighbours of a stencil begin in another sector, at no other cost in L1. */
static void stencil(void **state) {
  (void)state;
  check(request(8, 8, 12800, 8, LINE_SHAPE), 9, 3, 2);
  check(request(8, 8, 12800, 128 - 8, LINE_SHAPE), 9, 3, 2);
  check(request(8, 8, 12800, 24, LINE_SHAPE), 9, 3, 2);
}

/* Eight rows of four elements: a sector each if the rows are aligned. */
static void tall_block(void **state) {
  (void)state;
  check(request(8, 8, 12800, 0, TALL), 8, 8, 8);
  /* Transposed: four rows of eight elements. */
  check(request(8, 12800, 8, 0, TALL), 8, 4, 8);
  /* The same with rows that end in the middle of a line: fewer meet. */
  check(request(8, 8, 10400, 0, TALL), 8, 8, 2);
}

static void narrow_warps(void **state) {
  (void)state;
  const uint32_t half[3] = {16, 1, 1};
  struct pacc_request r = request(8, 8, 0, 0, half);
  assert_true(r.sectors == 4 && r.lines == 1 && r.cycles == 1);
  assert_true(r.lanes == 16);
  /* Two warps of which the second has 16 lanes. */
  const uint32_t odd[3] = {48, 1, 1};
  r = request(4, 4, 0, 0, odd);
  assert_true(r.lanes == 24);
}

static void gather(void **state) {
  (void)state;
  struct pacc_access a = {.size = 8, .gather = true, .count = 1};
  struct pacc_request r = pacc_access_request(&a, LINE_SHAPE);
  assert_true(r.sectors == 32 && r.lines == 32);
  assert_true(r.cycles > 2 && r.cycles < 32);
}

static void classes(void **state) {
  (void)state;
  struct pacc_access a = {.size = 8, .count = 1};
  static const struct {
    int64_t stride;
    enum pacc_access_class is;
    const char *name;
    bool complex;
  } cases[] = {
      {0, PACC_ACCESS_UNIFORM, "uniform", false},
      {8, PACC_ACCESS_CONTIGUOUS, "contiguous", false},
      {-8, PACC_ACCESS_CONTIGUOUS, "contiguous", false},
      {16, PACC_ACCESS_STRIDED, "strided", false},
      {24, PACC_ACCESS_STRIDED, "strided", true},
      {-16000, PACC_ACCESS_STRIDED, "strided", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    a.stride[0] = cases[i].stride;
    assert_int_equal(pacc_access_classify(&a), cases[i].is);
    assert_string_equal(pacc_access_class_name(pacc_access_classify(&a)),
                        cases[i].name);
    assert_int_equal(pacc_access_complex(&a), cases[i].complex);
  }
  a.gather = true;
  assert_int_equal(pacc_access_classify(&a), PACC_ACCESS_GATHER);
  assert_true(pacc_access_complex(&a));
}

/*===-- Footprints -------------------------------------------------------===*/

enum { SPACE = 1 << 16 };

/* Sectors and lines of a group by marking each byte's sector in a map. */
static struct pacc_footprint enumerate(const struct pacc_work *work,
                                       const struct pacc_resident *resident,
                                       uint32_t iterations) {
  static bool sectors[SPACE], lines[SPACE / 4];
  memset(sectors, 0, sizeof sectors);
  memset(lines, 0, sizeof lines);
  for (size_t i = 0; i < work->n_accesses; i++)
    for (uint32_t r = 0; r < resident->n; r++)
      for (uint32_t z = 0; z < resident->block[2]; z++)
        for (uint32_t y = 0; y < resident->block[1]; y++)
          for (uint32_t x = 0; x < resident->block[0]; x++)
            for (uint32_t s = 0; s < iterations; s++) {
              const struct pacc_access *a = &work->accesses[i];
              const uint64_t *o = resident->origin[r];
              int64_t address = a->offset + (int64_t)(o[0] + x) * a->stride[0] +
                                (int64_t)(o[1] + y) * a->stride[1] +
                                (int64_t)(o[2] + z) * a->stride[2] +
                                (int64_t)s * a->seq;
              for (uint32_t b = 0; b < a->size; b++) {
                size_t sector = (size_t)(address + b) / PACC_SECTOR;
                assert_true(sector < SPACE);
                sectors[sector] = lines[sector / 4] = true;
              }
            }
  struct pacc_footprint sum = {0, 0};
  for (size_t i = 0; i < SPACE; i++)
    sum.sectors += sectors[i];
  for (size_t i = 0; i < SPACE / 4; i++)
    sum.lines += lines[i];
  return sum;
}

/* Random groups with strides that are not negative: equal to enumeration. */
static void footprints_are_exact(void **state) {
  (void)state;
  uint64_t seed = 3;
  static const int64_t strides[] = {0, 4, 8, 16, 32, 40, 64, 100, 256, 1000};
  for (int i = 0; i < 3000; i++) {
    struct pacc_access a[3];
    uint32_t members = 1 + draw_below(&seed, 3);
    a[0] = (struct pacc_access){.size = 4u << draw_below(&seed, 2), .count = 4};
    for (unsigned d = 0; d < 3; d++)
      a[0].stride[d] = strides[draw_below(&seed, 10)];
    a[0].seq = strides[draw_below(&seed, 10)];
    a[1] = a[2] = a[0];
    for (unsigned m = 0; m < members; m++)
      a[m].offset = 4 * draw_below(&seed, 200);
    struct pacc_work work = {.dims = 3,
                             .extent = {64, 64, 64},
                             .active = 1,
                             .regs = 32,
                             .seq_trip = 4,
                             .n_accesses = members,
                             .accesses = a};
    struct pacc_rank_context context;
    assert_int_equal(
        pacc_rank_context_init(&context, pacc_gpu_find("sm_90"), &work),
        PACC_MODEL_OK);
    assert_int_equal(context.n_groups, 1);
    struct pacc_resident resident = {.block = {1u << draw_below(&seed, 6),
                                               1u << draw_below(&seed, 3),
                                               1u << draw_below(&seed, 2)},
                                     .n = 1 + draw_below(&seed, 3)};
    for (uint32_t r = 0; r < resident.n; r++)
      for (unsigned d = 0; d < 3; d++)
        resident.origin[r][d] = resident.block[d] * draw_below(&seed, 4);
    uint32_t iterations = 1 + draw_below(&seed, 2);
    struct pacc_footprint expected = enumerate(&work, &resident, iterations);
    struct pacc_footprint got = pacc_group_footprint(
        &context, &context.groups[0], &resident, iterations);
    assert_true(got.sectors == expected.sectors);
    assert_true(got.lines == expected.lines);
    pacc_rank_context_free(&context);
  }
}

/* Bytes that a whole kernel touches: rows of 100 doubles are 25 sectors. */
static void spans(void **state) {
  (void)state;
  const uint64_t square[3] = {100, 100, 1};
  struct pacc_access a = {.size = 8, .stride = {8, 800, 0}, .count = 1};
  assert_true(pacc_access_span(&a, square, 1) == 80000);
  /* Every other row, 801 to a row: rows are apart, 26 sectors' worth each. */
  a.stride[1] = 2 * 808;
  assert_true(pacc_access_span(&a, square, 1) == 100 * 800);
  /* The same elements for all y; the loop goes along rows. */
  a = (struct pacc_access){
      .size = 8, .stride = {800, 0, 0}, .seq = 8, .count = 100};
  assert_true(pacc_access_span(&a, square, 100) == 80000);
  /* A window that slides by one element. */
  a = (struct pacc_access){
      .size = 8, .stride = {8, 0, 0}, .seq = 8, .count = 101};
  const uint64_t line[3] = {100, 1, 1};
  assert_true(pacc_access_span(&a, line, 101) == 1600);
}

/* What the threads of a block and the iterations of their loop share. */
static void reuse(void **state) {
  (void)state;
  const uint32_t block[3] = {32, 8, 1};
  struct pacc_work work = {
      .dims = 2, .extent = {1024, 1024, 1}, .active = 1, .seq_trip = 64};
  /* Rows: a sector serves four iterations, and all 32 threads of a row. */
  struct pacc_access a = {
      .size = 8, .stride = {0, 8192, 0}, .seq = 8, .count = 64};
  struct pacc_access_use use = pacc_access_describe(&work, &a, block);
  assert_int_equal(use.class_of, PACC_ACCESS_UNIFORM);
  assert_true(use.bytes == 8 * 64 * 8);
  assert_true(use.reuse_threads == 256 * 8 / (8 * 32.0));
  assert_true(use.reuse_loop == 4);
  /* Columns: 8 rows of threads read the same 32 values. */
  struct pacc_access b = {
      .size = 8, .stride = {8, 0, 0}, .seq = 8192, .count = 64};
  use = pacc_access_describe(&work, &b, block);
  assert_int_equal(use.class_of, PACC_ACCESS_CONTIGUOUS);
  assert_true(use.bytes == 64 * 32 * 8);
  assert_true(use.reuse_threads == 8);
  assert_true(use.reuse_loop == 1);
  /* A quarter of each sector. */
  struct pacc_access c = {.size = 8, .stride = {8192, 0, 0}, .count = 1};
  use = pacc_access_describe(&work, &c, block);
  assert_true(use.request.sectors == 32);
  assert_true(use.reuse_threads == 256 * 8 / (32 * 32.0));
  char text[64];
  assert_string_equal(pacc_access_print(&c, text, sizeof text),
                      "strided by 8192 bytes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reuse),        cmocka_unit_test(row_walk),
      cmocka_unit_test(column_walk),  cmocka_unit_test(broadcast),
      cmocka_unit_test(stencil),      cmocka_unit_test(tall_block),
      cmocka_unit_test(narrow_warps), cmocka_unit_test(gather),
      cmocka_unit_test(classes),      cmocka_unit_test(footprints_are_exact),
      cmocka_unit_test(spans),
  };
  return cmocka_run_group_tests_name("Model/Access", tests, NULL, NULL);
}
