/* test_gpu.c: the runtime on a real GPU. Skipped (status 77) where there is
 * none. Not linked with the stand-in for the driver.
 */
#include "pacc/abi.h"
#include "pacc/runtime.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not true: %s (%s)\n", __FILE__, __LINE__,        \
              #condition, pacc_rt_last_error());                               \
      _exit(1);                                                                \
    }                                                                          \
  } while (0)

/* axpy(a, b, n): b[i] += 2 a[i].
 * poke(p): writes to *p.
 * reverse(p): block of 128 threads, reverses p[0..128) through the last 128
 * doubles of 64 KiB of dynamic shared memory. */
static const char ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry axpy(.param .u64 pa, .param .u64 pb, .param .u64 pn)\n"
    "{\n"
    "  .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f64 %fd<4>; .reg .pred %p;\n"
    "  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"
    "  mad.wide.u32 %rd0, %r0, %r1, 0;\n"
    "  cvt.u64.u32 %rd1, %r2; add.u64 %rd0, %rd0, %rd1;\n"
    "  ld.param.u64 %rd2, [pn]; setp.ge.s64 %p, %rd0, %rd2;\n"
    "  @%p bra DONE;\n"
    "  ld.param.u64 %rd3, [pa]; ld.param.u64 %rd4, [pb];\n"
    "  shl.b64 %rd5, %rd0, 3; add.u64 %rd3, %rd3, %rd5;\n"
    "  add.u64 %rd4, %rd4, %rd5;\n"
    "  ld.global.f64 %fd0, [%rd3]; ld.global.f64 %fd1, [%rd4];\n"
    "  add.f64 %fd0, %fd0, %fd0; add.f64 %fd1, %fd1, %fd0;\n"
    "  st.global.f64 [%rd4], %fd1;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n"
    ".visible .entry poke(.param .u64 pp)\n"
    "{\n"
    "  .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd0, [pp]; mov.u64 %rd1, 1; st.global.u64 [%rd0], %rd1;\n"
    "  ret;\n"
    "}\n"
    ".extern .shared .align 8 .b8 memory[];\n"
    ".visible .entry reverse(.param .u64 pp)\n"
    "{\n"
    "  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f64 %fd;\n"
    "  ld.param.u64 %rd0, [pp]; mov.u32 %r0, %tid.x;\n"
    "  mul.wide.u32 %rd1, %r0, 8; add.u64 %rd2, %rd0, %rd1;\n"
    "  ld.global.f64 %fd, [%rd2];\n"
    "  mov.u32 %r1, memory; shl.b32 %r2, %r0, 3; add.u32 %r3, %r1, %r2;\n"
    "  st.shared.f64 [%r3+64512], %fd;\n"
    "  bar.sync 0;\n"
    "  mov.u32 %r4, 1016; sub.u32 %r4, %r4, %r2; add.u32 %r4, %r4, %r1;\n"
    "  ld.shared.f64 %fd, [%r4+64512];\n"
    "  st.global.f64 [%rd2], %fd;\n"
    "  ret;\n"
    "}\n";

enum { AXPY, POKE, REVERSE, N_KERNELS };
static const uint32_t sizes[] = {8, 8, 8};
static const struct pacc_kernel kernels[N_KERNELS] = {
    [AXPY] = {.name = "axpy",
              .label = "gpu.c:1",
              .dims = 1,
              .block = {256, 1, 1},
              .n_params = 3,
              .param_sizes = sizes},
    [POKE] = {.name = "poke",
              .label = "",
              .block = {1, 1, 1},
              .n_params = 1,
              .param_sizes = sizes},
    [REVERSE] = {.name = "reverse",
                 .label = "",
                 .dims = 1,
                 .block = {128, 1, 1},
                 .shared = 64 * 1024,
                 .n_params = 1,
                 .param_sizes = sizes},
};
static struct pacc_image image;
static struct pacc_region region = {
    .image = &image, .name = "gpu_scop0", .location = "gpu.c:1"};

static uint64_t hash(const char *text) {
  uint64_t value = 14695981039346656037u;
  for (; *text; text++)
    value = (value ^ (uint8_t)*text) * 1099511628211u;
  return value;
}

static void init_image(const char *text) {
  image = (struct pacc_image){.abi = &PACC_ABI_SYMBOL,
                              .name = "gpu.c",
                              .arch = "sm_70",
                              .ptx = text,
                              .ptx_size = strlen(text),
                              .ptx_hash = hash(text),
                              .kernels = kernels,
                              .n_kernels = N_KERNELS};
}

/* b += 2 a over n doubles, on the device. */
static int axpy(const double *a, double *b, int64_t n) {
  int64_t bytes = n * (int64_t)sizeof *a;
  void *run = __pacc_rt_begin(&region);
  if (!run)
    return 0;
  uint64_t da = __pacc_rt_array(run, "a", (void *)(uintptr_t)a, 0, bytes);
  uint64_t db = __pacc_rt_array(run, "b", b, 0, bytes);
  __pacc_rt_copy(run, 0, PACC_COPY_IN, 0, bytes, 1, 0);
  __pacc_rt_copy(run, 1, PACC_COPY_IN | PACC_COPY_OUT, 0, bytes, 1, 0);
  __pacc_rt_launch(run, AXPY, n, 1, 1, (void *[]){&da, &db, &n});
  return __pacc_rt_end(run);
}

static void check_axpy(int64_t n) {
  double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
  for (int64_t i = 0; i < n; i++) {
    a[i] = (double)i;
    b[i] = 1;
  }
  CHECK(axpy(a, b, n) == 1);
  for (int64_t i = 0; i < n; i++)
    CHECK(b[i] == 1 + 2 * (double)i);
  free(a);
  free(b);
}

static void sizes_of_all_kinds(void) {
  static const int64_t counts[] = {1, 255, 256, 257, 100000, 3000001};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    check_axpy(counts[i]);
}

static void columns(void) {
  enum { ROWS = 100, PITCH = 77, WIDTH = 13, FIRST = 9 };
  static double m[ROWS][PITCH];
  const int64_t size = sizeof(double);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < PITCH; j++)
      m[i][j] = i + j;
  void *run = __pacc_rt_begin(&region);
  CHECK(run);
  uint64_t d = __pacc_rt_array(run, "m", m, 0, sizeof m);
  __pacc_rt_copy(run, 0, PACC_COPY_IN, 0, sizeof m, 1, 0);
  __pacc_rt_copy(run, 0, PACC_COPY_OUT, FIRST * size, WIDTH * size, ROWS,
                 PITCH * size);
  int64_t n = ROWS * PITCH;
  /* m += 2 m. */
  __pacc_rt_launch(run, AXPY, n, 1, 1, (void *[]){&d, &d, &n});
  CHECK(__pacc_rt_end(run) == 1);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < PITCH; j++)
      CHECK(m[i][j] == (j >= FIRST && j < FIRST + WIDTH ? 3 * (i + j) : i + j));
}

static void much_shared_memory(void) {
  double x[128];
  for (int i = 0; i < 128; i++)
    x[i] = i;
  void *run = __pacc_rt_begin(&region);
  CHECK(run);
  uint64_t d = __pacc_rt_array(run, "x", x, 0, sizeof x);
  __pacc_rt_copy(run, 0, PACC_COPY_IN | PACC_COPY_OUT, 0, sizeof x, 1, 0);
  __pacc_rt_launch(run, REVERSE, 128, 1, 1, (void *[]){&d});
  CHECK(__pacc_rt_end(run) == 1);
  for (int i = 0; i < 128; i++)
    CHECK(x[i] == 127 - i);
}

static void *thread(void *argument) {
  for (int i = 0; i < 20; i++)
    check_axpy(1000 + *(int *)argument);
  return NULL;
}

static void threads(void) {
  pthread_t all[8];
  int numbers[8];
  for (int i = 0; i < 8; i++) {
    numbers[i] = 1000 * i;
    CHECK(pthread_create(&all[i], NULL, thread, &numbers[i]) == 0);
  }
  for (int i = 0; i < 8; i++)
    CHECK(pthread_join(all[i], NULL) == 0);
}

static void release(void) {
  struct pacc_rt_counters counters;
  check_axpy(1000);
  pacc_rt_release();
  pacc_rt_count(&counters, sizeof counters);
  CHECK(counters.device_memory == 0 && counters.host_memory == 0);
  check_axpy(1000);
}

/* A child shares this process's pages for a while; what the device writes
 * must arrive here all the same. */
static void beside_a_child(void) {
  check_axpy(5000000);
  pid_t pid = fork();
  if (pid == 0) {
    pause();
    _exit(0);
  }
  for (int i = 0; i < 3; i++)
    check_axpy(5000000);
  kill(pid, SIGKILL);
  CHECK(waitpid(pid, NULL, 0) == pid);
}

/* More than the device has, after memory was kept for reuse. */
static void too_large(void) {
  struct pacc_rt_device device;
  CHECK(pacc_rt_device_info(&device, sizeof device) == 1);
  double x[8] = {0};
  check_axpy(1000000);
  void *run = __pacc_rt_begin(&region);
  CHECK(run);
  CHECK(__pacc_rt_array(run, "x", x, 0, (int64_t)device.memory * 2) == 0);
  CHECK(__pacc_rt_end(run) == 0);
  CHECK(strstr(pacc_rt_last_error(), "CUDA_ERROR_OUT_OF_MEMORY"));
  check_axpy(1000000);
}

/* Through a profile with its events. */
static void profiled(void) {
  char path[] = "/tmp/pacc-gpu-XXXXXX";
  int file = mkstemp(path);
  CHECK(file >= 0);
  setenv("PACC_PROFILE_CSV", path, 1);
  check_axpy(3000000);
  static char text[1 << 14];
  CHECK(read(file, text, sizeof text - 1) > 0);
  double start, duration;
  const char *kernel = strstr(text, "\nkernel,axpy,gpu.c:1,1,");
  CHECK(kernel && sscanf(kernel,
                         "\nkernel,axpy,gpu.c:1,1,%lf,%lf,0,"
                         "11719x1x1,256x1x1,ok",
                         &start, &duration) == 2);
  CHECK(start > 0 && duration > 1 && duration < 1e5);
  CHECK(strstr(text, "\ncopy-in,a,gpu_scop0,1,"));
  CHECK(strstr(text, "\nregion,gpu_scop0,gpu.c:1,1,"));
  close(file);
  remove(path);
}

/* A kernel writes where it may not. Nothing is changed, later regions run
 * their loops. */
static void illegal_address(void) {
  double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  check_axpy(1000);
  void *run = __pacc_rt_begin(&region);
  CHECK(run);
  uint64_t d = __pacc_rt_array(run, "x", x, 0, sizeof x), bad = 0x1000;
  __pacc_rt_copy(run, 0, PACC_COPY_IN | PACC_COPY_OUT, 0, sizeof x, 1, 0);
  int64_t n = 8;
  __pacc_rt_launch(run, AXPY, n, 1, 1, (void *[]){&d, &d, &n});
  __pacc_rt_launch(run, POKE, 1, 1, 1, (void *[]){&bad});
  CHECK(__pacc_rt_end(run) == 0);
  CHECK(strstr(pacc_rt_last_error(), "the device failed in a kernel or copy"));
  for (int i = 0; i < 8; i++)
    CHECK(x[i] == i + 1);
  CHECK(axpy(x, x, 8) == 0);
  CHECK(x[7] == 8);
  struct pacc_rt_device device;
  CHECK(pacc_rt_device_info(&device, sizeof device) == 0);
}

static void syntax_error(void) {
  static char text[sizeof ptx];
  strcpy(text, ptx);
  memcpy(strstr(text, "add.f64"), "odd.f64", 7);
  init_image(text);
  double x[1] = {1};
  CHECK(axpy(x, x, 1) == 0);
  CHECK(strstr(pacc_rt_last_error(), "CUDA_ERROR_INVALID_PTX"));
  CHECK(strstr(pacc_rt_last_error(), "odd"));
}

static void newer_ptx(void) {
  static char text[sizeof ptx];
  strcpy(text, ptx);
  memcpy(strstr(text, "7.0"), "9.9", 3);
  init_image(text);
  double x[1] = {1};
  CHECK(axpy(x, x, 1) == 0);
  CHECK(strstr(pacc_rt_last_error(), "update the NVIDIA driver"));
}

static const struct {
  const char *name;
  void (*body)(void);
} tests[] = {
    {"sizes", sizes_of_all_kinds},
    {"columns", columns},
    {"much shared memory", much_shared_memory},
    {"threads", threads},
    {"release", release},
    {"beside a child", beside_a_child},
    {"too large", too_large},
    {"profiled", profiled},
    {"illegal address", illegal_address},
    {"syntax error", syntax_error},
    {"newer PTX", newer_ptx},
};

/* Each test has a process: one loses its device. */
static int run_test(void (*body)(void)) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    setenv("PACC_DEVICE", "cuda", 1);
    init_image(ptx);
    body();
    exit(0);
  }
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    return -1;
  return status;
}

static void find_gpu(void) {
  struct pacc_rt_device device;
  unsetenv("PACC_DEVICE");
  exit(pacc_rt_device_info(&device, sizeof device) ? 0 : 77);
}

int main(void) {
  int failures = 0;
  pid_t pid = fork();
  if (pid == 0)
    find_gpu();
  int status;
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    return 1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    puts("no GPU: skipped");
    return 77;
  }
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    status = run_test(tests[i].body);
    printf("%s: %s\n", tests[i].name, status ? "FAILED" : "ok");
    fflush(stdout);
    failures += status != 0;
  }
  return failures != 0;
}
