/* test_pool.c: size classes, reuse, limits and the order of eviction. */
#include "pool_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* A source that counts. Addresses are numbers. */
struct source {
  uint64_t next, available;
  unsigned allocs, frees;
  uint64_t freed[64];
  uint64_t last_size;
};

static int source_alloc(void *context, uint64_t size, uint64_t *address,
                        int *tag) {
  struct source *source = context;
  source->last_size = size;
  if (size > source->available)
    return 2;
  source->available -= size;
  source->allocs++;
  *address = source->next += 1000;
  *tag = (int)size;
  return 0;
}

static void source_free(void *context, uint64_t address, int tag) {
  struct source *source = context;
  source->available += (uint64_t)tag;
  source->freed[source->frees++ % 64] = address;
}

static const struct pacc_pool_source functions = {source_alloc, source_free};

static uint64_t take(struct pacc_pool *pool, uint64_t size,
                     struct pacc_block **block) {
  assert_int_equal(pacc_pool_take(pool, size, block), 0);
  assert_true((*block)->size >= size);
  return (*block)->address;
}

static void class_sizes(void **state) {
  (void)state;
  uint64_t last = 0;
  for (uint64_t size = 1; size < (uint64_t)1 << 62; size += size / 50 + 1) {
    uint64_t class_size = pacc_pool_class_size(size);
    assert_true(class_size >= size && class_size >= last);
    assert_int_equal(pacc_pool_class_size(class_size), class_size);
    assert_true(class_size - size < PACC_POOL_GRAIN ||
                class_size - size <= size / PACC_POOL_STEPS);
    last = class_size;
  }
  assert_int_equal(pacc_pool_class_size(256), 256);
  assert_int_equal(pacc_pool_class_size(257), 512);
  assert_int_equal(pacc_pool_class_size(8193), 8192 + 256);
  assert_int_equal(pacc_pool_class_size(((uint64_t)1 << 63) + 1),
                   ((uint64_t)1 << 63) + ((uint64_t)1 << 58));
  assert_int_equal(pacc_pool_class_size(UINT64_MAX), 0);
}

static void blocks_come_back(void **state) {
  (void)state;
  static struct pacc_pool pool;
  struct source source = {.available = 1 << 20};
  struct pacc_block *a, *b, *c;
  pacc_pool_init(&pool, &functions, &source, 1 << 20, false);
  uint64_t at_a = take(&pool, 5000, &a), at_b = take(&pool, 5000, &b);
  assert_int_not_equal(at_a, at_b);
  pacc_pool_give(&pool, a);
  /* A little smaller fits, much smaller does not waste it. */
  assert_int_equal(take(&pool, 4800, &a), at_a);
  pacc_pool_give(&pool, a);
  assert_int_not_equal(take(&pool, 600, &c), at_a);
  assert_int_equal(source.allocs, 3);
  assert_int_equal(pool.used, b->size + c->size);
  pacc_pool_give(&pool, b);
  pacc_pool_give(&pool, c);
  assert_int_equal(pool.used, 0);
  assert_int_equal(source.frees, 0);
  assert_true(pacc_pool_trim(&pool, 0) > 0);
  assert_int_equal(source.frees, 3);
  assert_int_equal(source.available, 1 << 20);
  assert_int_equal(pacc_pool_trim(&pool, 0), 0);
}

static void the_oldest_goes_first(void **state) {
  (void)state;
  static struct pacc_pool pool;
  struct source source = {.available = 1 << 20};
  struct pacc_block *blocks[5];
  pacc_pool_init(&pool, &functions, &source, 4096 * 3, false);
  for (int i = 0; i < 5; i++)
    take(&pool, 4096, &blocks[i]);
  uint64_t first = blocks[2]->address, second = blocks[0]->address;
  pacc_pool_give(&pool, blocks[2]);
  pacc_pool_give(&pool, blocks[0]);
  pacc_pool_give(&pool, blocks[1]);
  assert_int_equal(source.frees, 0);
  pacc_pool_give(&pool, blocks[3]);
  pacc_pool_give(&pool, blocks[4]);
  assert_int_equal(source.frees, 2);
  assert_int_equal(source.freed[0], first);
  assert_int_equal(source.freed[1], second);
  /* Larger than all that is kept: not kept. */
  struct pacc_block *large;
  uint64_t at_large = take(&pool, 4096 * 4, &large);
  pacc_pool_give(&pool, large);
  assert_int_equal(source.freed[2], at_large);
  pacc_pool_trim(&pool, 4096);
  assert_int_equal(pool.cached, 4096);
  pacc_pool_trim(&pool, 0);
}

static void little_room(void **state) {
  (void)state;
  static struct pacc_pool pool;
  struct source source = {.available = 10000};
  struct pacc_block *a, *b;
  pacc_pool_init(&pool, &functions, &source, 1 << 20, false);
  take(&pool, 8000, &a);
  pacc_pool_give(&pool, a);
  /* The kept block makes room; then only the bare size fits. */
  take(&pool, 9990, &b);
  assert_int_equal(source.frees, 1);
  assert_int_equal(b->size, 9990);
  assert_int_equal(pacc_pool_take(&pool, 200, &a), 2);
  pacc_pool_give(&pool, b);
  assert_int_equal(source.frees, 2);
  assert_int_equal(pool.used + pool.cached, 0);
}

static void exact_pools_keep_nothing(void **state) {
  (void)state;
  static struct pacc_pool pool;
  struct source source = {.available = 10000};
  struct pacc_block *a;
  pacc_pool_init(&pool, &functions, &source, 1 << 20, true);
  take(&pool, 123, &a);
  assert_int_equal(source.last_size, 123);
  pacc_pool_give(&pool, a);
  assert_int_equal(source.frees, 1);
  take(&pool, 77, &a);
  pacc_pool_abandon(&pool, a);
  assert_int_equal(source.frees, 1);
  assert_int_equal(pool.used, 0);
  assert_ptr_equal(pool.abandoned, a);
  free(a);
}

/* Random use against the sums that must hold. */
static void random_use(void **state) {
  (void)state;
  enum { SLOTS = 40 };
  static struct pacc_pool pool;
  struct source source = {.available = 4 << 20};
  struct pacc_block *blocks[SLOTS] = {0};
  pacc_pool_init(&pool, &functions, &source, 1 << 20, false);
  srand(1);
  for (int i = 0; i < 20000; i++) {
    int slot = rand() % SLOTS;
    if (blocks[slot]) {
      pacc_pool_give(&pool, blocks[slot]);
      blocks[slot] = NULL;
    } else if (pacc_pool_take(&pool, 1 + (uint64_t)(rand() % 300000),
                              &blocks[slot])) {
      blocks[slot] = NULL;
    }
    uint64_t used = 0;
    for (int j = 0; j < SLOTS; j++) {
      used += blocks[j] ? blocks[j]->size : 0;
      for (int k = j + 1; k < SLOTS; k++)
        assert_true(!blocks[j] || !blocks[k] ||
                    blocks[j]->address != blocks[k]->address);
    }
    assert_int_equal(pool.used, used);
    assert_true(pool.cached <= pool.limit);
    assert_int_equal(source.available + pool.used + pool.cached, 4 << 20);
  }
  for (int j = 0; j < SLOTS; j++)
    if (blocks[j])
      pacc_pool_give(&pool, blocks[j]);
  pacc_pool_trim(&pool, 0);
  assert_int_equal(source.available, 4 << 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(class_sizes),
      cmocka_unit_test(blocks_come_back),
      cmocka_unit_test(the_oldest_goes_first),
      cmocka_unit_test(little_room),
      cmocka_unit_test(exact_pools_keep_nothing),
      cmocka_unit_test(random_use),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
