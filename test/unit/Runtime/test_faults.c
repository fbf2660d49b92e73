/* test_faults.c: all or nothing. Every driver function fails at every one of
 * its calls, once and for good: a region either has the right results, or
 * has changed nothing and the original loops run.
 */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

/* Sanitizers make children slow: they see every third failure. */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { STEP = 3 };
#else
enum { STEP = 1 };
#endif

enum { REGIONS = 4 };

struct fault {
  const char *function;
  unsigned call, count;
  int status;
  bool profile;
  unsigned *n_done; /* shared with the parent */
};

/* What each child does: regions, caches given back, more regions. */
static void run_regions(const struct fault *fault) {
  if (fault->profile)
    setenv("PACC_PROFILE", "/dev/null", 1);
  setenv("PACC_DEVICE", "cuda", 1);
  init_image(&test_image);
  fake_cuda_fail(fault->function, fault->call, fault->count, fault->status);
  for (unsigned i = 0; i < REGIONS; i++) {
    if (i == 2)
      pacc_rt_release();
    int done = run_region(&test_region, i + 1);
    CHECK(done || pacc_rt_last_error()[0] ||
          pacc_rt_device_info(&(struct pacc_rt_device){0},
                              sizeof(struct pacc_rt_device)) == 0);
    *fault->n_done += (unsigned)done;
  }
  CHECK(fake_cuda_current() == NULL);
}

static void count_calls(void *argument) {
  struct fault *fault = argument;
  unsigned *calls = fault->n_done;
  unsigned n_done = 0;
  fault->n_done = &n_done;
  run_regions(fault);
  CHECK(n_done == REGIONS);
  for (unsigned i = 0; fake_cuda_function(i); i++)
    calls[i] = fake_cuda_calls(fake_cuda_function(i));
}

static void fail_and_leave(void *argument) {
  run_regions(argument);
  /* The exit handlers of 1,000 children are not what is tested here. */
  _exit(0);
}

/* A failure of these may go unnoticed: cleaning up, and what there is another
 * way for. */
static bool harmless(const char *function) {
  static const char *const names[] = {
      "cuCtxPopCurrent_v2",  "cuModuleUnload",
      "cuStreamDestroy_v2",  "cuMemFree_v2",
      "cuMemHostUnregister", "cuMemHostRegister_v2",
      "cuEventCreate",       "cuEventDestroy_v2",
      "cuEventRecord",       "cuEventElapsedTime",
      "cuFuncSetAttribute",  "cuThreadExchangeStreamCaptureMode",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], function) == 0)
      return true;
  return false;
}

static void fail_everywhere(bool profile) {
  unsigned *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(shared, MAP_FAILED);
  struct fault fault = {.profile = profile, .n_done = shared};
  expect_success(count_calls, &fault);
  unsigned calls[64];
  memcpy(calls, shared, sizeof calls);
  for (unsigned i = 0; fake_cuda_function(i); i++) {
    for (unsigned call = 1; call <= calls[i]; call += STEP) {
      for (int forever = 0; forever < 2; forever++) {
        *shared = 0;
        fault = (struct fault){.function = fake_cuda_function(i),
                               .call = call,
                               .count = forever ? UINT32_MAX : 1,
                               .status = 719,
                               .profile = profile,
                               .n_done = shared};
        const char *text = expect_success(fail_and_leave, &fault);
        bool told = strstr(text, "the original loops run") != NULL;
        if (*shared < REGIONS && !told)
          fail_msg("call %u of %s fails, nobody says so", call, fault.function);
        if (*shared == REGIONS && told)
          fail_msg("call %u of %s: all regions ran, and yet: %s", call,
                   fault.function, text);
        if (forever && call == 1 && !harmless(fault.function))
          assert_int_equal(*shared, 0);
      }
    }
  }
  munmap(shared, 4096);
}

static void each_function_at_each_call(void **state) {
  (void)state;
  fail_everywhere(false);
}

static void each_function_while_profiling(void **state) {
  (void)state;
  fail_everywhere(true);
}

/* The device is lost at any point: every later call of the driver fails. */
static void lost_at_each_call(void **state) {
  (void)state;
  unsigned n_done = 0, total;
  unsigned *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(shared, MAP_FAILED);
  struct fault fault = {.n_done = shared};
  expect_success(count_calls, &fault);
  total = 0;
  for (unsigned i = 0; fake_cuda_function(i); i++)
    total += shared[i];
  assert_true(total > 50);
  for (unsigned call = 1; call <= total; call += STEP) {
    *shared = 0;
    fault = (struct fault){.function = "*",
                           .call = call,
                           .count = UINT32_MAX,
                           .status = 719,
                           .n_done = shared};
    expect_success(fail_and_leave, &fault);
    /* The later it is lost, the more regions are done. */
    assert_true(*shared >= n_done && *shared <= REGIONS);
    n_done = *shared;
  }
  assert_true(n_done >= REGIONS - 1);
  munmap(shared, 4096);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_function_at_each_call),
      cmocka_unit_test(each_function_while_profiling),
      cmocka_unit_test(lost_at_each_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
