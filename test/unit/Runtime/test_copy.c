/* test_copy.c: copies in host memory, against byte by byte ones. */
#include "copy_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Rows of a copy whose bytes differ from the old ones at every `step`-th byte,
 * from `first` on. `misaligned`: where the rows start. */
struct example {
  uint64_t width, count, to_pitch, misaligned;
  uint32_t unit;
  uint64_t first, step;
};

enum { OTHERS = 0x55 };

static unsigned char old_byte(uint64_t i) { return (unsigned char)(i * 7); }

/* What the copy leaves in `to`, in which other threads have written meanwhile:
 * whole units that changed, and nothing else. */
static void check(const struct example *e) {
  uint64_t size = e->misaligned + e->count * e->to_pitch;
  unsigned char *memory = aligned_alloc(64, (size + 63) & ~UINT64_C(63));
  unsigned char *from = malloc(e->width * e->count);
  unsigned char *before = malloc(e->width * e->count);
  assert_true(memory && from && before);
  memset(memory, OTHERS, size);
  for (uint64_t i = 0; i < e->width * e->count; i++) {
    before[i] = from[i] = old_byte(i);
    if (i >= e->first && (i - e->first) % e->step == 0)
      from[i] ^= 0x80;
  }
  unsigned char *to = memory + e->misaligned;
  pacc_copy_changes(to, e->to_pitch, from, before, e->width, e->width, e->count,
                    e->unit);

  bool aligned = e->misaligned % e->unit == 0 && e->width % e->unit == 0 &&
                 (e->count == 1 || e->to_pitch % e->unit == 0);
  uint64_t unit = aligned ? e->unit : 1;
  for (uint64_t row = 0; row < e->count; row++)
    for (uint64_t i = 0; i < e->to_pitch; i++) {
      unsigned char expected = OTHERS;
      uint64_t start = row * e->width + i / unit * unit;
      if (i < e->width && memcmp(from + start, before + start, unit) != 0)
        expected = from[row * e->width + i];
      if (to[row * e->to_pitch + i] != expected)
        fail_msg("row %lu, byte %lu: %u, expected %u", (unsigned long)row,
                 (unsigned long)i, to[row * e->to_pitch + i], expected);
    }
  free(memory);
  free(from);
  free(before);
}

static void only_changed_units_are_written(void **state) {
  (void)state;
  for (uint32_t unit = 1; unit <= 8; unit *= 2) {
    check(&(struct example){800, 1, 800, 0, unit, 3, 40});
    check(&(struct example){800, 1, 800, 0, unit, 0, 1});
    check(&(struct example){800, 5, 1000, 16, unit, 790, 97});
    check(&(struct example){8, 300, 24, 8, unit, 0, 3});
  }
}

static void rows_that_are_not_aligned(void **state) {
  (void)state;
  for (uint32_t unit = 2; unit <= 8; unit *= 2) {
    check(&(struct example){800, 1, 800, 1, unit, 0, 5});
    check(&(struct example){803, 1, 803, 0, unit, 0, 5});
    check(&(struct example){800, 3, 801, 0, unit, 0, 5});
  }
}

/* Large enough for several threads. */
static void large_ones(void **state) {
  (void)state;
  const uint64_t large = (9 << 20) + 8;
  for (uint32_t unit = 1; unit <= 8; unit *= 8) {
    check(&(struct example){large, 1, large, 0, unit, 5, 11});
    check(&(struct example){4096, 2304, 4104, 8, unit, 5, 1001});
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_changed_units_are_written),
      cmocka_unit_test(rows_that_are_not_aligned),
      cmocka_unit_test(large_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
