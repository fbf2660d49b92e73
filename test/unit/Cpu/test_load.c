/* test_load.c: opening the device and loading modules, good and bad. */
#include "support.h"

#include <pthread.h>

static int load(struct gpu *gpu, const struct pacc_image *image) {
  void *module = NULL;
  int status = gpu->backend->load(gpu->device, image, &module);
  if (!status)
    gpu->backend->unload(gpu->device, module);
  return status;
}

static void *read_kernels(const char *name, size_t *size) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s.bc", KERNELS, name);
  return read_file(path, size);
}

static void test_table(void **state) {
  (void)state;
  const struct pacc_backend *backend = pacc_cpu_backend();
  assert_int_equal(backend->version, PACC_BACKEND_VERSION);
  assert_string_equal(backend->name, "cpu");
  assert_string_equal(backend->error_name(0), "PACC_CPU_SUCCESS");
  assert_string_equal(backend->error_name(9), "PACC_CPU_ERROR_OUT_OF_BOUNDS");
  assert_string_equal(backend->error_name(12345), "PACC_CPU_ERROR_UNKNOWN");
}

static void test_open(void **state) {
  (void)state;
  struct gpu gpu = {.backend = pacc_cpu_backend()};
  struct pacc_device_info info;
  unsetenv("PACC_CPU_SEED");
  setenv("PACC_CPU_MEMORY", "3M", 1);
  setenv("PACC_CPU_THREADS", "5", 1);
  assert_ok(&gpu, gpu.backend->open(0, &gpu.device, &info));
  assert_string_equal(info.name, "CPU device");
  assert_int_equal(info.cc, 0);
  assert_int_equal(info.sm_count, 5);
  assert_int_equal(info.memory, 3 << 20);
  gpu.backend->close(gpu.device);
  assert_error(&gpu, gpu.backend->open(1, &gpu.device, &info), "NO_DEVICE",
               "one CPU device, number 0, and no number 1", NULL);
  static const struct {
    const char *name, *value, *text;
  } bad[] = {
      {"PACC_CPU_SEED", "twelve", "PACC_CPU_SEED=twelve is not a whole number"},
      {"PACC_CPU_SEED", "-1", "PACC_CPU_SEED=-1 is not"},
      {"PACC_CPU_SEED", "99999999999999999999", "is not a whole number"},
      {"PACC_CPU_CHECK", "2", "PACC_CPU_CHECK=2 is more than the largest"},
      {"PACC_CPU_THREADS", "1000", "the largest value, 256"},
      {"PACC_CPU_MEMORY", "3X", "PACC_CPU_MEMORY=3X is not"},
      {"PACC_CPU_MEMORY", "3MB", "PACC_CPU_MEMORY=3MB is not"},
      {"PACC_CPU_MEMORY", "99999999999G", "PACC_CPU_MEMORY=99999999999G"},
  };
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    setenv(bad[i].name, bad[i].value, 1);
    assert_error(&gpu, gpu.backend->open(0, &gpu.device, &info),
                 "INVALID_VALUE", bad[i].text, NULL);
    unsetenv(bad[i].name);
  }
}

static void test_bad_images(void **state) {
  (void)state;
  struct gpu gpu = gpu_open(NULL, 0, 1, 1);
  size_t size;
  unsigned char *bytes = read_kernels("launch", &size);
  struct pacc_image image = make_image(bytes, size);
  assert_ok(&gpu, load(&gpu, &image));
  image.bitcode_hash++;
  assert_error(&gpu, load(&gpu, &image), "INVALID_IMAGE",
               "the bitcode of test.c is damaged", NULL);
  image = make_image(NULL, 0);
  assert_error(&gpu, load(&gpu, &image), "NO_BITCODE", "embed-bitcode=on",
               NULL);
  /* Cut off at several lengths, with a hash that fits. */
  for (size_t cut = 1; cut < size; cut = cut * 3 + 4) {
    image = make_image(bytes, cut);
    assert_error(&gpu, load(&gpu, &image), "INVALID_IMAGE",
                 "cannot read the bitcode", NULL);
  }
  static const char text[] = "this is no bitcode, though long enough for it";
  image = make_image(text, sizeof(text));
  assert_error(&gpu, load(&gpu, &image), "INVALID_IMAGE",
               "cannot read the bitcode", NULL);
  free(bytes);
  gpu_close(&gpu);
}

static void test_other_targets(void **state) {
  (void)state;
  struct gpu gpu = gpu_open(NULL, 0, 1, 1);
  static const char *const names[] = {"host", "undefined"};
  static const char *const texts[] = {
      "the bitcode is for 'x86_64-unknown-linux-gnu', not for nvptx64",
      "the bitcode uses the variable 'missing' and does not define it"};
  for (int i = 0; i < 2; i++) {
    size_t size;
    void *bytes = read_kernels(names[i], &size);
    struct pacc_image image = make_image(bytes, size);
    assert_error(&gpu, load(&gpu, &image), "INVALID_IMAGE", texts[i], NULL);
    free(bytes);
  }
  gpu_close(&gpu);
}

static void test_unknown_kernel(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("launch", 0, 1, 1);
  void *kernel;
  assert_error(&gpu,
               gpu.backend->kernel(gpu.device, gpu.module, "nothing", &kernel),
               "NO_KERNEL", "the module has no kernel 'nothing'", NULL);
  gpu_close(&gpu);
}

/* Modules come and go; each thread has its own, compiled at the same time. */
static void *load_often(void *arg) {
  const struct pacc_image *image = arg;
  for (int i = 0; i < 3; i++) {
    struct gpu gpu = gpu_open("launch", 0, 1, 1);
    double a[4] = {1, 2, 3, 4};
    int n = 4;
    uint64_t x = gpu_upload(&gpu, a, sizeof(a));
    assert_ok(&gpu, load(&gpu, image));
    RUN(&gpu, "add", dim(1), dim(32), 0, PARAMS(P(x), P(x), P(n)));
    gpu_download(&gpu, a, x, sizeof(a));
    for (int k = 0; k < 4; k++)
      assert_true(a[k] == 2 * (k + 1));
    gpu_close(&gpu);
  }
  return NULL;
}

static void test_at_once(void **state) {
  (void)state;
  pthread_t threads[2];
  size_t size;
  void *bytes = read_kernels("sync", &size);
  struct pacc_image image = make_image(bytes, size);
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, load_often, &image), 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_open),
      cmocka_unit_test(test_bad_images),
      cmocka_unit_test(test_other_targets),
      cmocka_unit_test(test_unknown_kernel),
      cmocka_unit_test(test_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
