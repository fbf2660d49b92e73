/* support.c: see support.h. */
#include "support.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

/* The thread sanitizer asks. A child of a fork does not have its parent's
 * threads and can't end them. */
const char *__tsan_default_options(void);
__attribute__((visibility("default"))) const char *
__tsan_default_options(void) {
  return "report_thread_leaks=0";
}

/* ---- children --------------------------------------------------------- */

void run_child(struct child *child, void (*body)(void *), void *argument) {
  int file = memfd_create("stderr", MFD_CLOEXEC);
  assert_true(file >= 0);
  /* Threads that write at the same time do not overwrite each other. */
  assert_int_equal(fcntl(file, F_SETFL, O_APPEND), 0);
  fflush(NULL);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    dup2(file, STDERR_FILENO);
    body(argument);
    exit(0);
  }
  assert_int_equal(waitpid(pid, &child->status, 0), pid);
  ssize_t size = pread(file, child->text, sizeof child->text - 1, 0);
  child->text[size > 0 ? size : 0] = 0;
  close(file);
}

const char *expect_success(void (*body)(void *), void *argument) {
  static struct child child;
  run_child(&child, body, argument);
  if (child.status) {
    fprintf(stderr, "the child said:\n%s\n", child.text);
    fail_msg("the child ended with status %x", child.status);
  }
  return child.text;
}

unsigned count_text(const char *text, const char *part) {
  unsigned count = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
    count++;
  return count;
}

/* ---- image ------------------------------------------------------------ */

static const char ptx[] = ".version 8.4\n.target sm_80\n.address_size 64\n"
                          ".visible .entry axpy(\n.visible .entry fill(\n"
                          ".visible .entry mark(\n";

static const uint32_t axpy_sizes[] = {8, 8, 8};
static const uint32_t fill_sizes[] = {8, 8, 8, 4};

static const uint32_t mark_sizes[] = {8, 8};

static const struct pacc_kernel kernels[N_KERNELS] = {
    [AXPY] = {.name = "axpy",
              .label = "test.c:10",
              .dims = 1,
              .block = {128, 1, 1},
              .n_params = 3,
              .param_sizes = axpy_sizes},
    [FILL] = {.name = "fill",
              .label = "test.c:14",
              .dims = 2,
              .block = {8, 4, 1},
              .shared = 1024,
              .n_params = 4,
              .param_sizes = fill_sizes},
    [MARK] = {.name = "mark",
              .label = "",
              .block = {1, 1, 1},
              .n_params = 2,
              .param_sizes = mark_sizes},
};

struct pacc_image test_image;
struct pacc_region test_region = {
    .image = &test_image, .name = "test_scop0", .location = "test.c:9"};

static void *pointer(const void *param) {
  uint64_t address;
  memcpy(&address, param, sizeof address);
  return (void *)(uintptr_t)address;
}

/* b[i] += 2 * a[i] for i < n. */
static void run_axpy(const unsigned grid[3], const unsigned block[3],
                     void **params) {
  const double *a = pointer(params[0]);
  double *b = pointer(params[1]);
  int64_t n;
  memcpy(&n, params[2], sizeof n);
  int64_t threads = (int64_t)grid[0] * block[0];
  for (int64_t i = 0; i < threads && i < n; i++)
    b[i] += 2 * a[i];
}

/* Every column of the rectangle becomes the value. */
static void run_fill(const unsigned grid[3], const unsigned block[3],
                     void **params) {
  double *c = pointer(params[0]);
  double value;
  int64_t rows;
  int width;
  memcpy(&value, params[1], sizeof value);
  memcpy(&rows, params[2], sizeof rows);
  memcpy(&width, params[3], sizeof width);
  for (int64_t y = 0; y < rows && y < (int64_t)grid[1] * block[1]; y++)
    for (int x = 0; x < width && x < (int)(grid[0] * block[0]); x++)
      c[y * COLUMNS + FIRST_COLUMN + x] = value;
}

static void run_mark(const unsigned grid[3], const unsigned block[3],
                     void **params) {
  unsigned char *m = pointer(params[0]);
  const struct mark *mark = pointer(params[1]);
  (void)grid;
  (void)block;
  for (int64_t row = 0; row < mark->count; row++)
    for (int64_t i = 0; i < mark->width; i++)
      m[mark->offset + row * mark->pitch + i] ^= 0xff;
}

uint64_t test_hash(const void *bytes, uint64_t size) {
  uint64_t hash = 14695981039346656037u;
  for (uint64_t i = 0; i < size; i++) {
    hash ^= ((const uint8_t *)bytes)[i];
    hash *= 1099511628211u;
  }
  return hash;
}

void init_image(struct pacc_image *image) {
  *image = (struct pacc_image){.abi = &PACC_ABI_SYMBOL,
                               .name = "test.c",
                               .arch = "sm_80",
                               .ptx = ptx,
                               .ptx_size = sizeof ptx - 1,
                               .ptx_hash = test_hash(ptx, sizeof ptx - 1),
                               .kernels = kernels,
                               .n_kernels = N_KERNELS};
  static bool known;
  if (!known) {
    fake_cuda_kernel("axpy", run_axpy, 3, axpy_sizes);
    fake_cuda_kernel("fill", run_fill, 4, fill_sizes);
    fake_cuda_kernel("mark", run_mark, 2, mark_sizes);
  }
  known = true;
}

/* ---- regions ---------------------------------------------------------- */

void init_data(struct data *data, unsigned seed) {
  double value = seed;
  for (int i = 0; i < N; i++) {
    data->a[i] = value += 0.5;
    data->b[i] = -value;
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      data->c[i][j] = i * 100 + j;
}

int finish_region(void *run, place_array *place, struct data *data,
                  double seed) {
  const int64_t bytes = N * (int64_t)sizeof(double);
  const int64_t lo = FIRST_COLUMN * (int64_t)sizeof(double);
  const int64_t width = WIDTH * (int64_t)sizeof(double);
  const int64_t pitch = COLUMNS * (int64_t)sizeof(double);
  uint64_t a = place(run, "a", data->a, 0, bytes);
  uint64_t b = place(run, "b", data->b, 0, bytes);
  uint64_t c = place(run, "c", data->c, lo, lo + (ROWS - 1) * pitch + width);
  __pacc_rt_copy(run, 0, PACC_COPY_IN, 0, bytes, 1, 0);
  __pacc_rt_copy(run, 1, PACC_COPY_IN, 0, bytes, 1, 0);
  __pacc_rt_copy(run, 1, PACC_COPY_OUT, 0, bytes, 1, 0);
  __pacc_rt_copy(run, 2, PACC_COPY_OUT, lo, width, ROWS, pitch);
  int64_t n = N, rows = ROWS;
  int columns = WIDTH;
  __pacc_rt_launch(run, AXPY, n, 1, 1, (void *[]){&a, &b, &n});
  __pacc_rt_launch(run, AXPY, n, 1, 1, (void *[]){&a, &b, &n});
  __pacc_rt_launch(run, FILL, columns, rows, 1,
                   (void *[]){&c, &seed, &rows, &columns});
  return __pacc_rt_end(run);
}

int run_with_scratch(void *run, double *target, double value) {
  const int64_t size = sizeof *target;
  /* FILL and AXPY count from addresses before the elements that they touch. */
  uint64_t scratch = __pacc_rt_scratch(run, "scratch", FIRST_COLUMN * size,
                                       (FIRST_COLUMN + 3) * size);
  uint64_t nothing = __pacc_rt_scratch(run, "nothing", size, size);
  uint64_t to = __pacc_rt_array(run, "target", target, 0, 3 * size);
  __pacc_rt_copy(run, 2, PACC_COPY_IN | PACC_COPY_OUT, 0, 3 * size, 1, 0);
  CHECK(!scratch == !nothing);
  uint64_t from = scratch + FIRST_COLUMN * (uint64_t)size;
  int64_t rows = 1, n = 3;
  int columns = 3;
  __pacc_rt_launch(run, FILL, columns, rows, 1,
                   (void *[]){&scratch, &value, &rows, &columns});
  __pacc_rt_launch(run, AXPY, n, 1, 1, (void *[]){&from, &to, &n});
  return __pacc_rt_end(run);
}

int offload(struct pacc_region *region, struct data *data, double seed) {
  void *run = __pacc_rt_begin(region);
  return run ? finish_region(run, __pacc_rt_array, data, seed) : 0;
}

void on_host(struct data *data, double seed) {
  for (int i = 0; i < N; i++)
    data->b[i] += 4 * data->a[i];
  for (int i = 0; i < ROWS; i++)
    for (int j = FIRST_COLUMN; j < FIRST_COLUMN + WIDTH; j++)
      data->c[i][j] = seed;
}

int run_region(struct pacc_region *region, unsigned seed) {
  struct data data, before, expected;
  init_data(&data, seed);
  before = data;
  expected = data;
  on_host(&expected, seed);
  int done = offload(region, &data, seed);
  CHECK(memcmp(&data, done ? &expected : &before, sizeof data) == 0);
  return done;
}
