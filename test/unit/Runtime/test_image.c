/* test_image.c: images that are damaged, stripped, of another version, or
 * not what the device can run. Each is refused with a message that says what
 * to do, once, and the original loops run.
 */
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char test_cubin[] =
    "\177ELF sm_80\n.entry axpy(\n.entry fill(\n.entry mark(\n";
static char ptx[512];
static struct pacc_kernel kernels[N_KERNELS];

/* What is changed in a good image. */
struct change {
  const char *what;
  void (*apply)(void);
  const char *message;
};

/* ptx and kernels are copies that may be changed. */
static void prepare(void) {
  setenv("PACC_DEVICE", "cuda", 1);
  init_image(&test_image);
  memcpy(ptx, test_image.ptx, test_image.ptx_size + 1);
  memcpy(kernels, test_image.kernels, sizeof kernels);
  test_image.ptx = ptx;
  test_image.kernels = kernels;
}

static void rehash(void) {
  test_image.ptx_size = strlen(ptx);
  test_image.ptx_hash = test_hash(ptx, test_image.ptx_size);
}

static void flip_bit(void) { ptx[20] ^= 4; }
static void no_ptx(void) { test_image.ptx = NULL; }
static void empty_ptx(void) { test_image.ptx_size = 0; }
static void cut_ptx(void) { test_image.ptx_size -= 5; }
static void unterminated(void) {
  test_image.ptx_size -= 5;
  test_image.ptx_hash = test_hash(ptx, test_image.ptx_size);
}
static void other_abi(void) {
  static const int other = PACC_ABI_VERSION + 1;
  test_image.abi = &other;
}
static void no_abi(void) { test_image.abi = NULL; }
static void no_kernels(void) { test_image.n_kernels = 0; }
static void nameless(void) { kernels[FILL].name = ""; }
static void no_threads(void) { kernels[FILL].block[1] = 0; }
static void too_many_threads(void) { kernels[FILL].block[2] = 64; }
static void far_too_many_threads(void) { kernels[FILL].block[0] = 1u << 31; }
static void large_smaller_block(void) {
  static const struct pacc_sized_block smaller[] = {{1, {32, 1, 1}},
                                                    {2, {1024, 2, 1}}};
  kernels[AXPY].max_threads = 1024;
  kernels[AXPY].n_smaller = 2;
  kernels[AXPY].smaller = smaller;
}
static void lost_smaller_blocks(void) { kernels[AXPY].n_smaller = 1; }
static void no_sizes(void) { kernels[AXPY].param_sizes = NULL; }
static void missing_kernel(void) {
  strcpy(strstr(ptx, ".visible .entry fill"), "");
  rehash();
}
static void more_params(void) {
  static const uint32_t sizes[] = {8, 8, 8, 8};
  kernels[AXPY].n_params = 4;
  kernels[AXPY].param_sizes = sizes;
}
static void other_params(void) {
  static const uint32_t sizes[] = {8, 8, 4};
  kernels[AXPY].param_sizes = sizes;
}
static void bad_ptx(void) {
  fake_cuda_configure(1, 80, 1 << 30, "line 3;\nunknown instruction 'fmda'\n");
}
static void other_gpu(void) {
  fake_cuda_configure(1, 70, 1 << 30, "");
  fake_cuda_fail("cuModuleLoadDataEx", 1, 9, 209);
}
static void old_driver(void) {
  fake_cuda_fail("cuModuleLoadDataEx", 1, 9, 222);
}
static void flip_machine_code(void) {
  test_image.cubin = test_cubin;
  test_image.cubin_size = strlen(test_cubin);
}
static void impossible_dims(void) { kernels[FILL].dims = 4; }
static void no_jit(void) { fake_cuda_fail("cuModuleLoadDataEx", 1, 9, 221); }

#define QUOTE(text) #text
#define TEXT(macro) QUOTE(macro)

static const struct change changes[] = {
    {"a flipped bit", flip_bit, "damaged (its PTX has another checksum)"},
    {"no PTX", no_ptx, "damaged (it holds no PTX)"},
    {"empty PTX", empty_ptx, "damaged (it holds no PTX)"},
    {"cut PTX", cut_ptx, "damaged (its PTX has another checksum)"},
    {"PTX without end", unterminated, "damaged (its PTX has no end)"},
    {"another ABI", other_abi,
     "of the runtime's interface, this is version " TEXT(
         PACC_ABI_VERSION) ": compile it again"},
    {"no ABI", no_abi, "compiled for version 0"},
    {"no kernels", no_kernels, "damaged (it has no kernels)"},
    {"changed machine code", flip_machine_code,
     "damaged (its machine code has another checksum)"},
    {"four dimensions", impossible_dims, "impossible grid"},
    {"a nameless kernel", nameless, "damaged (a kernel has no name)"},
    {"an empty block", no_threads, "impossible block size"},
    {"a large block", too_many_threads, "impossible block size"},
    {"a huge block", far_too_many_threads, "impossible block size"},
    {"a large block for small launches", large_smaller_block,
     "impossible block size"},
    {"no blocks for small launches", lost_smaller_blocks,
     "impossible block size"},
    {"no parameter sizes", no_sizes, "damaged (a kernel has no parameter"},
    {"a missing kernel", missing_kernel,
     "kernel fill is not in the device code of test.c: CUDA_ERROR_NOT_FOUND "
     "(cuModuleGetFunction)"},
    {"more parameters", more_params,
     "parameter 3 of the PTX differs from the host code"},
    {"other parameters", other_params,
     "parameter 2 of the PTX differs from the host code"},
    {"PTX that does not compile", bad_ptx,
     "CUDA_ERROR_INVALID_PTX (cuModuleLoadDataEx: line 3; unknown "
     "instruction 'fmda')"},
    {"a smaller GPU", other_gpu,
     "compiled for sm_80 and this device is sm_70: compile with "
     "-polly-acc-arch=sm_70"},
    {"an old driver", old_driver,
     "the PTX has version 8.4, newer than this driver (CUDA 12.4) knows: "
     "update the NVIDIA driver"},
    {"no JIT compiler", no_jit, "libnvidia-ptxjitcompiler.so.1"},
};

static void refuse(void *argument) {
  const struct change *change = argument;
  prepare();
  change->apply();
  for (unsigned i = 0; i < 5; i++)
    CHECK(run_region(&test_region, i) == 0);
  static struct pacc_region other = {
      .image = &test_image, .name = "other", .location = ""};
  CHECK(run_region(&other, 9) == 0);
  CHECK(strstr(pacc_rt_last_error(), change->message));
  /* The answer is remembered. */
  CHECK(fake_cuda_calls("cuModuleLoadDataEx") <= 1);
  struct fake_cuda_live live;
  fake_cuda_live(&live);
  CHECK(live.modules == 0);
}

static void bad_images(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    const struct change *change = &changes[i];
    const char *text = expect_success(refuse, (void *)(uintptr_t)change);
    /* One line for each of the two regions. */
    if (count_text(text, change->message) != 2 || count_text(text, "\n") != 2)
      fail_msg("%s: not two lines with '%s' but:\n%s", change->what,
               change->message, text);
    assert_int_equal(count_text(text, "; the original loops run instead\n"), 2);
    assert_int_equal(count_text(text, "pacc: test_scop0 (test.c:9): "), 1);
    assert_int_equal(count_text(text, "pacc: other: "), 1);
  }
}

static void add_machine_code(void) {
  prepare();
  test_image.cubin = test_cubin;
  test_image.cubin_size = strlen(test_cubin);
  test_image.cubin_hash = test_hash(test_cubin, strlen(test_cubin));
}

static void load_machine_code(void *argument) {
  (void)argument;
  add_machine_code();
  CHECK(run_region(&test_region, 1) == 1);
  CHECK(fake_cuda_calls("cuModuleLoadDataEx") == 1);
  CHECK(fake_cuda_compiled() == 0);
}

static void compile_for_another_gpu(void *argument) {
  (void)argument;
  add_machine_code();
  fake_cuda_configure(1, 86, 1 << 30, "");
  CHECK(run_region(&test_region, 1) == 1);
  CHECK(fake_cuda_calls("cuModuleLoadDataEx") == 1);
  CHECK(fake_cuda_compiled() == 1);
}

static void compile_with_old_driver(void *argument) {
  (void)argument;
  add_machine_code();
  fake_cuda_refuse_cubins();
  CHECK(run_region(&test_region, 1) == 1);
  CHECK(fake_cuda_compiled() == 1);
}

static void machine_code_stands_before_ptx(void **state) {
  (void)state;
  expect_success(load_machine_code, NULL);
  expect_success(compile_for_another_gpu, NULL);
  expect_success(compile_with_old_driver, NULL);
}

static void load_after_release(void *argument) {
  (void)argument;
  prepare();
  fake_cuda_fail("cuModuleLoadDataEx", 1, 1, 2);
  CHECK(run_region(&test_region, 1) == 0);
  CHECK(run_region(&test_region, 1) == 0);
  pacc_rt_release();
  CHECK(run_region(&test_region, 1) == 1);
}

static void a_release_gives_another_chance(void **state) {
  (void)state;
  expect_success(load_after_release, NULL);
}

/* Two images with kernels of the same name, and one that is bad. */
static void use_images(void *argument) {
  (void)argument;
  static struct pacc_image images[3];
  setenv("PACC_DEVICE", "cuda", 1);
  for (int i = 0; i < 3; i++)
    init_image(&images[i]);
  images[1].ptx_hash++;
  for (unsigned round = 0; round < 3; round++) {
    for (int i = 0; i < 3; i++) {
      struct pacc_region region = {
          .image = &images[i], .name = "r", .location = "x.c:1"};
      CHECK(run_region(&region, round) == (i != 1));
    }
  }
  CHECK(fake_cuda_calls("cuModuleLoadDataEx") == 2);
}

static void images_are_independent(void **state) {
  (void)state;
  expect_success(use_images, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_images),
      cmocka_unit_test(machine_code_stands_before_ptx),
      cmocka_unit_test(a_release_gives_another_chance),
      cmocka_unit_test(images_are_independent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
