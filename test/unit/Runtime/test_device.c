/* test_device.c: which device PACC_DEVICE and the machine give, and what is
 * said about it.
 */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A machine and an environment, and what must come out.
 * device    PACC_DEVICE; NULL: unset
 * log       PACC_LOG
 * function  that fails from its first call on; NULL: none
 * name      of the device that is used; NULL: the original loops run
 * message   all of stderr, or its begin if it ends with "*" */
struct choice {
  const char *device;
  const char *log;
  int n_devices;
  const char *function;
  int status;
  const char *name;
  const char *message;
};

static const struct choice choices[] = {
    {NULL, NULL, 1, NULL, 0, "Fake GPU 0", ""},
    {"auto", NULL, 1, NULL, 0, "Fake GPU 0", ""},
    {"cuda", NULL, 2, NULL, 0, "Fake GPU 0", ""},
    {"cuda:0", NULL, 2, NULL, 0, "Fake GPU 0", ""},
    {"cuda:1", NULL, 2, NULL, 0, "Fake GPU 1", ""},
    {"host", NULL, 1, NULL, 0, NULL, ""},
    {"host", "info", 1, NULL, 0, NULL,
     "pacc: PACC_DEVICE=host: the original loops run\n"},
    {"cuda:2", NULL, 2, NULL, 0, NULL,
     "pacc: no cuda device: CUDA_ERROR_INVALID_DEVICE (device 2 was asked for, "
     "there are 2); the original loops run\n"},
    /* A machine without a GPU is a normal one, unless a GPU is asked for. */
    {NULL, NULL, 0, NULL, 0, NULL, ""},
    {NULL, NULL, 1, "cuInit", 100, NULL, ""},
    {NULL, NULL, 1, "cuInit", 34, NULL, ""},
    {NULL, "info", 0, NULL, 0, NULL,
     "pacc: no cuda device: CUDA_ERROR_NO_DEVICE (the driver found none); the "
     "original loops run\n"},
    {"cuda", NULL, 0, NULL, 0, NULL,
     "pacc: no cuda device: CUDA_ERROR_NO_DEVICE (the driver found none); the "
     "original loops run\n"},
    /* A broken one is not. */
    {NULL, NULL, 1, "cuInit", 803, NULL,
     "pacc: no cuda device: CUDA error 803 (cuInit); the original loops "
     "run\n"},
    {NULL, NULL, 1, "cuDevicePrimaryCtxRetain", 2, NULL,
     "pacc: no cuda device: CUDA_ERROR_OUT_OF_MEMORY "
     "(cuDevicePrimaryCtxRetain); the original loops run\n"},
    {"gpu", NULL, 1, NULL, 0, NULL,
     "pacc: PACC_DEVICE=gpu is unknown: use auto, cuda, cuda:N, cuda:NAME, "
     "cuda:UUID, cpu or host; "
     "the original loops run\n"},
    {"cuda:", NULL, 1, NULL, 0, NULL, "pacc: PACC_DEVICE=cuda: is unknown*"},
    {"cuda:x", NULL, 1, NULL, 0, NULL,
     "pacc: no cuda device: CUDA_ERROR_INVALID_DEVICE (none of the 1 is called "
     "x); the original loops run\n"},
    {"cuda:gpu 1", NULL, 3, NULL, 0, "Fake GPU 1", ""},
    {"cuda:fake", NULL, 3, NULL, 0, "Fake GPU 0", ""},
    {"cuda:GPU-02132435-4657", NULL, 3, NULL, 0, "Fake GPU 2", ""},
    {"cuda:GPU-02132435-4657-6879-8a9b-acbdcedff001", NULL, 3, NULL, 0,
     "Fake GPU 2", ""},
    {"cuda:MIG-01122334", NULL, 3, NULL, 0, "Fake GPU 1", ""},
    {"cuda:GPU-03", NULL, 3, NULL, 0, NULL, "pacc: no cuda device: *"},
    {"cuda:GPU-02", NULL, 3, "cuDeviceGetUuid_v2", 1, NULL,
     "pacc: no cuda device: *"},
    {"cuda:x", NULL, 3, "cuDeviceGet", 1, NULL, "pacc: no cuda device: *"},
    {"cuda:1x", NULL, 2, NULL, 0, NULL, "pacc: PACC_DEVICE=cuda:1x is *"},
    {"cuda:-1", NULL, 1, NULL, 0, NULL, "pacc: PACC_DEVICE=cuda:-1 is *"},
    {"cuda:99999999999", NULL, 1, NULL, 0, NULL, "pacc: PACC_DEVICE=cuda:999*"},
    {"CUDA", NULL, 1, NULL, 0, NULL, "pacc: PACC_DEVICE=CUDA is unknown*"},
    {"", NULL, 1, NULL, 0, "Fake GPU 0", ""},
    {NULL, "verbose", 1, NULL, 0, "Fake GPU 0",
     "pacc: PACC_LOG=verbose is unknown: use error, info or launch; error is "
     "taken\n"},
};

static void set(const char *name, const char *value) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

static void choose(void *argument) {
  const struct choice *choice = argument;
  set("PACC_DEVICE", choice->device);
  set("PACC_LOG", choice->log);
  init_image(&test_image);
  fake_cuda_configure(choice->n_devices, 80, 1 << 30, "");
  if (choice->function)
    fake_cuda_fail(choice->function, 1, UINT32_MAX, choice->status);
  for (unsigned i = 0; i < 3; i++)
    CHECK(run_region(&test_region, i) == (choice->name != NULL));
  struct pacc_rt_device device;
  int used = pacc_rt_device_info(&device, sizeof device);
  CHECK(used == (choice->name != NULL));
  CHECK(strcmp(device.backend, used ? "cuda" : "host") == 0);
  CHECK(strcmp(device.name, used ? choice->name : "") == 0);
  CHECK(device.cc == (used ? 80u : 0u));
  CHECK(device.sm_count == (used ? 4u : 0u));
  CHECK(device.driver == (used ? 12040u : 0u));
  CHECK(device.memory == (used ? 1u << 30 : 0u));
  struct pacc_rt_counters counters;
  pacc_rt_count(&counters, sizeof counters);
  CHECK(counters.regions == (used ? 3u : 0u));
  CHECK(counters.fallbacks == (used ? 0u : 3u));
}

static bool matches(const char *text, const char *pattern) {
  size_t size = strlen(pattern);
  if (size && pattern[size - 1] == '*')
    return strncmp(text, pattern, size - 1) == 0;
  return strcmp(text, pattern) == 0;
}

static void all_choices(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    const char *text = expect_success(choose, (void *)(uintptr_t)&choices[i]);
    if (!matches(text, choices[i].message))
      fail_msg("choice %zu: '%s' and not '%s'", i, text, choices[i].message);
  }
}

/* ---- the CPU device --------------------------------------------------- */

/* Which library PACC_CPU_LIBRARY names, and what must be said. */
struct library {
  const char *path;
  const char *message;
};

static void use_cpu(void *argument) {
  const struct library *library = argument;
  setenv("PACC_DEVICE", "cpu", 1);
  setenv("PACC_CPU_LIBRARY", library->path, 1);
  init_image(&test_image);
  for (unsigned i = 0; i < 2; i++)
    CHECK(run_region(&test_region, i) == 0);
  CHECK(fake_cuda_calls("cuInit") == 0);
}

static void unusable_cpu_libraries(void **state) {
  (void)state;
  static const struct library libraries[] = {
      {"./no such library.so",
       "pacc: the CPU device can't be opened: ./no such library.so: cannot "
       "open shared object file: No such file or directory; put libpacc_cpu.so "
       "beside libpacc_rt.so or name it in PACC_CPU_LIBRARY; the original "
       "loops run\n"},
      {"libm.so.6", "pacc: the CPU device can't be used: libm.so.6 exports no "
                    "pacc_cpu_backend; the original loops run\n"},
      {FAKE_CPU_OLD,
       "pacc: the CPU device can't be used: " FAKE_CPU_OLD
       " is of another version (99, not 3) than this runtime; install both "
       "from one build; the original loops run\n"},
      {FAKE_CPU, "pacc: test_scop0 (test.c:9): test.c has no code for the CPU "
                 "device: compile it with -polly-acc-embed-bitcode=on; the "
                 "original loops run instead\n"},
  };
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    assert_string_equal(
        expect_success(use_cpu, (void *)(uintptr_t)&libraries[i]),
        libraries[i].message);
}

static void run_on_cpu(void *argument) {
  (void)argument;
  static const char bitcode[] = "BC";
  setenv("PACC_DEVICE", "cpu", 1);
  setenv("PACC_CPU_LIBRARY", FAKE_CPU, 1);
  init_image(&test_image);
  test_image.bitcode = bitcode;
  test_image.bitcode_size = sizeof bitcode;
  test_image.bitcode_hash = test_hash(bitcode, sizeof bitcode);
  /* Only what the device uses is checked. */
  test_image.ptx = NULL;
  static char host[100];
  void *run = __pacc_rt_begin(&test_region);
  CHECK(run);
  /* The fake CPU device fills the array with its size when it is allocated:
   * the size that was asked for, so that its end can be guarded. */
  __pacc_rt_array(run, "x", host, 3, 80);
  __pacc_rt_copy(run, 0, PACC_COPY_OUT, 3, 77, 1, 0);
  CHECK(__pacc_rt_end(run) == 1);
  for (int i = 0; i < 100; i++)
    CHECK(host[i] == (i >= 3 && i < 80 ? 77 : 0));
  struct pacc_rt_device device;
  CHECK(pacc_rt_device_info(&device, sizeof device) == 1);
  CHECK(strcmp(device.backend, "cpu") == 0);
  struct pacc_rt_counters counters;
  pacc_rt_count(&counters, sizeof counters);
  CHECK(counters.device_memory == 0);
}

static void exact_memory_on_the_cpu_device(void **state) {
  (void)state;
  assert_string_equal(expect_success(run_on_cpu, NULL), "");
}

static void damaged_bitcode(void *argument) {
  (void)argument;
  setenv("PACC_DEVICE", "cpu", 1);
  setenv("PACC_CPU_LIBRARY", FAKE_CPU, 1);
  init_image(&test_image);
  test_image.bitcode = "BC";
  test_image.bitcode_size = 3;
  test_image.bitcode_hash = 5;
  CHECK(run_region(&test_region, 1) == 0);
  CHECK(strstr(pacc_rt_last_error(), "its bitcode has another checksum"));
}

static void damaged_bitcode_is_refused(void **state) {
  (void)state;
  expect_success(damaged_bitcode, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_choices),
      cmocka_unit_test(unusable_cpu_libraries),
      cmocka_unit_test(exact_memory_on_the_cpu_device),
      cmocka_unit_test(damaged_bitcode_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
