/* test_threads.c: several host threads in regions at the same time. */
#include "support.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>

enum { MAX_THREADS = 8, ROUNDS = 40, IMAGES = 3 };

static struct pacc_image images[IMAGES];
static struct pacc_region regions[IMAGES];
static pthread_barrier_t barrier;
static atomic_uint done;

static void start(unsigned n_threads) {
  setenv("PACC_DEVICE", "cuda", 1);
  for (int i = 0; i < IMAGES; i++) {
    init_image(&images[i]);
    regions[i] = (struct pacc_region){
        .image = &images[i], .name = "region", .location = "test.c:1"};
  }
  pthread_barrier_init(&barrier, NULL, n_threads);
}

static void *work(void *argument) {
  unsigned number = *(unsigned *)argument;
  pthread_barrier_wait(&barrier);
  for (unsigned i = 0; i < ROUNDS; i++)
    done += (unsigned)run_region(&regions[(number + i) % IMAGES], number + i);
  CHECK(fake_cuda_current() == NULL);
  return NULL;
}

static void run_threads(unsigned n_threads, void *(*body)(void *)) {
  pthread_t threads[MAX_THREADS];
  unsigned numbers[MAX_THREADS];
  for (unsigned i = 0; i < n_threads; i++) {
    numbers[i] = i;
    CHECK(pthread_create(&threads[i], NULL, body, &numbers[i]) == 0);
  }
  for (unsigned i = 0; i < n_threads; i++)
    CHECK(pthread_join(threads[i], NULL) == 0);
}

static void all_threads(void *argument) {
  unsigned n_threads = *(unsigned *)argument;
  struct fake_cuda_live live;
  start(n_threads);
  run_threads(n_threads, work);
  CHECK(done == n_threads * ROUNDS);
  /* Each image is loaded once, each thread has one stream. */
  CHECK(fake_cuda_calls("cuModuleLoadDataEx") == IMAGES);
  CHECK(fake_cuda_calls("cuStreamCreate") == n_threads);
  CHECK(fake_cuda_calls("cuInit") == 1);
  fake_cuda_live(&live);
  CHECK(live.streams == 0 && live.modules == IMAGES && live.contexts == 1);
  /* And they are taken down again. */
  pacc_rt_release();
  fake_cuda_live(&live);
  CHECK(live.modules == 0 && live.allocations == 0);
  CHECK(live.host_allocations == 0);
}

static void one_load_and_a_stream_each(void **state) {
  (void)state;
  for (unsigned n_threads = 2; n_threads <= MAX_THREADS; n_threads *= 2)
    assert_string_equal(expect_success(all_threads, &n_threads), "");
}

static void *release_work(void *argument) {
  unsigned number = *(unsigned *)argument;
  pthread_barrier_wait(&barrier);
  for (unsigned i = 0; i < ROUNDS; i++) {
    done += (unsigned)run_region(&regions[(number + i) % IMAGES], i);
    if (i % 4 == number % 4)
      pacc_rt_release();
  }
  return NULL;
}

static void all_release(void *argument) {
  (void)argument;
  start(4);
  run_threads(4, release_work);
  CHECK(done == 4 * ROUNDS);
}

static void release_beside_regions(void **state) {
  (void)state;
  assert_string_equal(expect_success(all_release, NULL), "");
}

/* Some regions fail in some threads: the others go on. */
static void some_fail(void *argument) {
  (void)argument;
  start(4);
  fake_cuda_fail("cuLaunchKernel", 50, 20, 2);
  run_threads(4, work);
  CHECK(done < 4 * ROUNDS && done >= 4 * ROUNDS - 20);
}

static void failures_stay_in_their_regions(void **state) {
  (void)state;
  const char *text = expect_success(some_fail, NULL);
  assert_true(count_text(text, " failed (grid ") >= 1);
}

static void lose(void *argument) {
  (void)argument;
  start(4);
  fake_cuda_fail("*", 500, UINT32_MAX, 719);
  run_threads(4, work);
  CHECK(done < 4 * ROUNDS);
}

static void a_lost_device_in_several_threads(void **state) {
  (void)state;
  const char *text = expect_success(lose, NULL);
  assert_true(count_text(text, "the original loops run instead") >= 1);
  assert_true(count_text(text, "failed for good") <= 1);
}

static void profile(void *argument) {
  (void)argument;
  setenv("PACC_PROFILE", "/dev/null", 1);
  setenv("PACC_LOG", "info", 1);
  start(4);
  run_threads(4, work);
  CHECK(done == 4 * ROUNDS);
}

static void profiles_of_several_threads(void **state) {
  (void)state;
  const char *text = expect_success(profile, NULL);
  assert_int_equal(count_text(text, "\n"), 4 * ROUNDS + 1);
  assert_int_equal(count_text(text, "pacc: region (test.c:1): 3 launches"),
                   4 * ROUNDS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_load_and_a_stream_each),
      cmocka_unit_test(release_beside_regions),
      cmocka_unit_test(failures_stay_in_their_regions),
      cmocka_unit_test(a_lost_device_in_several_threads),
      cmocka_unit_test(profiles_of_several_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
