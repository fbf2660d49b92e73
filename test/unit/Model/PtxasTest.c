/* PtxasTest: reading ptxas's output, and running it: the real one where it is
 * installed, and scripts in its place for what a real one seldom does (hang,
 * crash, write nonsense). */
#include "ModelTest.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char PTX[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry twice(.param .u64 p) {\n"
    "  .reg .b64 %rd<2>; .reg .b32 %r<3>;\n"
    "  .shared .align 4 .b8 s[512];\n"
    "  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n"
    "  st.shared.u32 [s], %r1; bar.sync 0; ld.shared.u32 %r2, [s];\n"
    "  st.global.u32 [%rd1], %r2; ret;\n"
    "}\n";

static const char LINES[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry nothing() {\n\t.loc\t1 2 3\n  ret;\n}\n"
    ".file 1 \"nothing.c\"\n";

/* As ptxas writes it, with a function that is no kernel in between. */
static const char LOG[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'one' for 'sm_90'\n"
    "ptxas info    : Function properties for one\n"
    "    64 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem, "
    "400 bytes cmem[0]\n"
    "ptxas info    : Compile time = 10.696 ms\n"
    "ptxas info    : Function properties for helper\n"
    "    8 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads\n"
    "ptxas info    : Compiling entry function 'two' for 'sm_90'\r\n"
    "ptxas info    : Function properties for two\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers";

static char folder[] = "/tmp/pacc-ptxas-test-XXXXXX";

/* An executable script in the test's folder. */
static char *script(const char *name, const char *body) {
  char *path;
  assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "#!/bin/sh\n%s\n", body);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(chmod(path, 0700), 0);
  return path;
}

static void reads_numbers(void **state) {
  (void)state;
  struct pacc_ptxas_report report;
  assert_int_equal(pacc_ptxas_parse(LOG, &report), PACC_MODEL_OK);
  assert_int_equal(report.n, 2);
  const struct pacc_ptxas_kernel *one = pacc_ptxas_kernel_find(&report, "one");
  assert_non_null(one);
  assert_int_equal(one->regs, 255);
  assert_int_equal(one->barriers, 1);
  assert_int_equal(one->smem, 4096);
  assert_int_equal(one->stack, 64);
  assert_int_equal(one->spill_stores, 12);
  assert_int_equal(one->spill_loads, 16);
  const struct pacc_ptxas_kernel *two = pacc_ptxas_kernel_find(&report, "two");
  assert_non_null(two);
  assert_int_equal(two->regs, 8);
  assert_int_equal(two->barriers, 0);
  assert_int_equal(two->smem, 0);
  assert_int_equal(two->stack, 0);
  assert_null(pacc_ptxas_kernel_find(&report, "helper"));
  pacc_ptxas_report_free(&report);
}

/* Every prefix and random damage of the text: no crash, no wild read (the
 * sanitizers would see one), and never more kernels than names. */
static void reads_damaged_text(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (size_t i = 0; i < 4 * sizeof LOG; i++) {
    char text[sizeof LOG];
    memcpy(text, LOG, sizeof LOG);
    if (i < sizeof LOG)
      text[i] = '\0';
    else
      for (int k = 0; k < 8; k++)
        text[draw_below(&seed, sizeof LOG - 1)] =
            (char)(1 + draw_below(&seed, 127));
    struct pacc_ptxas_report report;
    assert_int_equal(pacc_ptxas_parse(text, &report), PACC_MODEL_OK);
    assert_true(report.n <= 2);
    pacc_ptxas_report_free(&report);
  }
}

static void runs_the_real_one(void **state) {
  (void)state;
  char *ptxas = pacc_ptxas_find();
  if (!ptxas) {
    print_message("skipped: %s\n", pacc_model_message(PACC_MODEL_NO_PTXAS));
    skip();
  }
  struct pacc_ptxas_report report;
  assert_int_equal(
      pacc_ptxas_run(NULL, "sm_90", PTX, strlen(PTX), 60000, &report),
      PACC_MODEL_OK);
  assert_int_equal(report.n, 1);
  assert_string_equal(report.kernels[0].name, "twice");
  assert_true(report.kernels[0].regs > 0 && report.kernels[0].regs <= 255);
  assert_int_equal(report.kernels[0].smem, 512);
  assert_int_equal(report.kernels[0].barriers, 1);
  assert_null(memmem(report.cubin, report.cubin_size, "debug_line", 10));
  pacc_ptxas_report_free(&report);

  assert_int_equal(
      pacc_ptxas_run(NULL, "sm_90", LINES, strlen(LINES), 60000, &report),
      PACC_MODEL_OK);
  assert_non_null(memmem(report.cubin, report.cubin_size, "debug_line", 10));
  pacc_ptxas_report_free(&report);

  static const char bad[] = ".version 7.0\n.target sm_75\nnonsense\n";
  assert_int_equal(
      pacc_ptxas_run(ptxas, "sm_90", bad, strlen(bad), 60000, &report),
      PACC_MODEL_PTXAS);
  assert_non_null(report.message);
  assert_non_null(strstr(report.message, "nonsense"));
  pacc_ptxas_report_free(&report);
  free(ptxas);
}

/* The arguments that reach ptxas, and the text that it is given. */
static void passes_arguments(void **state) {
  (void)state;
  char *fake = script(
      "args", "for last; do :; done\n"
              "grep -q '^.visible .entry twice' \"$last\" || exit 1\n"
              "case \"$*\" in *-arch=sm_86*) ;; *) exit 2;; esac\n"
              "echo \"ptxas info : Compiling entry function 'f' for 'x'\"\n"
              "echo 'ptxas info : Used 33 registers' >&2");
  struct pacc_ptxas_report report;
  assert_int_equal(
      pacc_ptxas_run(fake, "sm_86", PTX, strlen(PTX), 10000, &report),
      PACC_MODEL_OK);
  assert_int_equal(report.n, 1);
  assert_int_equal(report.kernels[0].regs, 33);
  pacc_ptxas_report_free(&report);
  free(fake);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The script's child keeps running unless the whole group is killed. */
static void stops_one_that_hangs(void **state) {
  (void)state;
  char body[200];
  snprintf(body, sizeof body, "sleep 30 & echo $! > %s/child; wait", folder);
  char *fake = script("hang", body);
  struct pacc_ptxas_report report;
  double start = seconds();
  assert_int_equal(
      pacc_ptxas_run(fake, "sm_90", PTX, strlen(PTX), 500, &report),
      PACC_MODEL_TIMEOUT);
  assert_true(seconds() - start < 10);
  pacc_ptxas_report_free(&report);

  snprintf(body, sizeof body, "%s/child", folder);
  FILE *file = fopen(body, "r");
  assert_non_null(file);
  int child = 0;
  assert_int_equal(fscanf(file, "%d", &child), 1);
  fclose(file);
  /* Whoever inherits the orphan reaps it a little later. */
  int alive = 1;
  for (int i = 0; i < 200 && alive; i++) {
    char path[64], status = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", child);
    file = fopen(path, "r");
    if (file) {
      if (fscanf(file, "%*d %*s %c", &status) != 1)
        status = 'Z';
      fclose(file);
    }
    alive = status != 'Z';
    usleep(10000);
  }
  assert_false(alive);
  free(fake);
}

static void reports_failures(void **state) {
  (void)state;
  struct pacc_ptxas_report report;
  char *crash = script("crash", "echo oops; kill -SEGV $$");
  assert_int_equal(
      pacc_ptxas_run(crash, "sm_90", PTX, strlen(PTX), 10000, &report),
      PACC_MODEL_PTXAS);
  assert_string_equal(report.message, "oops\n");
  pacc_ptxas_report_free(&report);
  free(crash);

  assert_int_equal(pacc_ptxas_run("/nonexistent/ptxas", "sm_90", PTX,
                                  strlen(PTX), 10000, &report),
                   PACC_MODEL_NO_PTXAS);
  pacc_ptxas_report_free(&report);
  assert_int_equal(pacc_ptxas_run(NULL, "sm_90", PTX, 0, 10000, &report),
                   PACC_MODEL_INVALID);
  assert_int_equal(pacc_ptxas_run(NULL, NULL, PTX, 1, 10000, &report),
                   PACC_MODEL_INVALID);

  char *quiet = script("quiet", "exit 0");
  const char *old = getenv("TMPDIR");
  char *kept = old ? strdup(old) : NULL;
  setenv("TMPDIR", "/nonexistent", 1);
  assert_int_equal(
      pacc_ptxas_run(quiet, "sm_90", PTX, strlen(PTX), 10000, &report),
      PACC_MODEL_NO_TEMP);
  assert_non_null(report.message);
  pacc_ptxas_report_free(&report);
  if (kept)
    setenv("TMPDIR", kept, 1);
  else
    unsetenv("TMPDIR");
  free(kept);
  assert_int_equal(
      pacc_ptxas_run(quiet, "sm_90", PTX, strlen(PTX), 10000, &report),
      PACC_MODEL_OK);
  assert_int_equal(report.n, 0);
  pacc_ptxas_report_free(&report);
  free(quiet);
}

/* PACC_PTXAS alone decides if it is set; CUDA_HOME stands before PATH. */
static void finds_it(void **state) {
  (void)state;
  char *fake = script("ptxas", "exit 0");
  setenv("PACC_PTXAS", "/nonexistent/ptxas", 1);
  assert_null(pacc_ptxas_find());
  setenv("PACC_PTXAS", folder, 1); /* a folder is no program */
  assert_null(pacc_ptxas_find());
  setenv("PACC_PTXAS", fake, 1);
  char *found = pacc_ptxas_find();
  assert_non_null(found);
  assert_string_equal(found, fake);
  free(found);
  unsetenv("PACC_PTXAS");
  unsetenv("CUDA_HOME");
  unsetenv("CUDA_PATH");
  char *path;
  assert_true(asprintf(&path, "/nonexistent::%s:/usr/bin", folder) > 0);
  setenv("PATH", path, 1);
  found = pacc_ptxas_find();
  assert_non_null(found);
  assert_string_equal(found, fake);
  free(found);
  free(path);
  free(fake);
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  static const char *const names[] = {"args",  "hang",  "child",
                                      "crash", "quiet", "ptxas"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_numbers),
      cmocka_unit_test(reads_damaged_text),
      cmocka_unit_test(runs_the_real_one),
      cmocka_unit_test(passes_arguments),
      cmocka_unit_test(stops_one_that_hangs),
      cmocka_unit_test(reports_failures),
      cmocka_unit_test(finds_it),
  };
  return cmocka_run_group_tests_name("Model/Ptxas", tests, make_folder,
                                     remove_folder);
}
