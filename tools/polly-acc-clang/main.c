/* polly-acc-clang: clang 22, or flang 22, with the Polly-ACC plugin.
 *
 *   polly-acc-clang -O3 -polly-acc-arch=sm_80 gemm.c -o gemm
 *
 * runs clang with the plugin's flags when it compiles, and with the runtime's
 * when it links; CUDA sources and objects with device code get CUDA's.
 * Everything else passes through. By the name polly-acc-clang++ it runs
 * clang++, by polly-acc-flang flang. Own options:
 *   --print-cmd       print the command for a shell instead of running it
 *   --version         clang's version, the plugin's, LLVM's and CUDA's
 *   --static-pacc-rt  link libpacc_rt.a and not the shared library
 *   -polly-acc-*      short for -mllvm -polly-acc-*
 *   --device=cpu      a CUDA program whose kernels run on the CPU (cpu.c);
 *                     --no-device-checks leaves out the checks of accesses
 */
#include "arguments.h"
#include "classify.h"
#include "cpu.h"
#include "cuda.h"
#include "locate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* FNV-1a of a file's bytes, so that a cache of objects (ccache with
 * compiler_check) can tell two builds of the plugin apart. */
static uint64_t fingerprint(const char *path) {
  uint64_t hash = 0xcbf29ce484222325u;
  FILE *file = fopen(path, "rb");
  if (!file)
    pacc_fail("cannot read %s: %s", path, strerror(errno));
  unsigned char bytes[65536];
  size_t got;
  do {
    got = fread(bytes, 1, sizeof(bytes), file);
    for (size_t i = 0; i < got; i++)
      hash = (hash ^ bytes[i]) * 0x100000001b3u;
  } while (got == sizeof(bytes));
  fclose(file);
  return hash;
}

static int print_version(const char *clang, const struct pacc_places *places) {
  /* Clang's words come first: build systems read the first line. */
  pid_t child = fork();
  if (child < 0)
    pacc_fail("cannot start %s: %s", clang, strerror(errno));
  if (!child) {
    execl(clang, clang, "--version", (char *)NULL);
    _exit(127);
  }
  int status;
  if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
      WEXITSTATUS(status))
    pacc_fail("%s --version failed", clang);
  const char *toolkit = NULL;
  const char *cuda = pacc_cuda_version(&toolkit);
  printf("Polly-ACC %s for LLVM %s\n", PACC_VERSION, PACC_LLVM_VERSION);
  printf("Plugin: %s (%016" PRIx64 ")\n", places->plugin,
         fingerprint(places->plugin));
  if (cuda)
    printf("CUDA: %s in %s\n", cuda, toolkit);
  else
    printf("CUDA: no toolkit found\n");
  return 0;
}

/* Adds -mllvm <option> in the form that suits the command: clang hands -mllvm
 * to its assembler too, which refuses what it does not know. */
static void add_plugin_option(struct pacc_arguments *to, const char *option,
                              const struct pacc_command *command) {
  if (!command->compiles)
    return;
  if (command->assembles) {
    pacc_arguments_add(to, "-Xclang");
    pacc_arguments_add(to, "-mllvm");
    pacc_arguments_add(to, "-Xclang");
  } else {
    pacc_arguments_add(to, "-mllvm");
  }
  pacc_arguments_add(to, option);
}

/* What the wrapper takes out or changes in the user's arguments. */
static bool is_ours(const char *text) {
  return pacc_is_wrapper_option(text) || pacc_is_plugin_option(text);
}

static bool contains_ours(const struct pacc_arguments *list) {
  for (size_t i = 0; i < list->count; i++)
    if (is_ours(list->items[i]))
      return true;
  return false;
}

static bool is_regular(const char *path) {
  struct stat status;
  return !stat(path, &status) && S_ISREG(status.st_mode);
}

/* Copies the user's arguments, without the wrapper's own and with -mllvm
 * before the plugin's. `-mllvm -polly-acc-x`, spelt out by the user, is kept
 * or dropped as the short form is. */
static void add_user_arguments(struct pacc_arguments *to,
                               const struct pacc_arguments *user,
                               const struct pacc_command *command) {
  for (size_t i = 0; i < user->count; i++) {
    const char *text = user->items[i];
    const char *next = i + 1 < user->count ? user->items[i + 1] : NULL;
    if (!strcmp(text, "-mllvm") && next && pacc_is_plugin_option(next)) {
      add_plugin_option(to, next, command);
      i++;
    } else if (pacc_is_plugin_option(text)) {
      add_plugin_option(to, text, command);
    } else if (!pacc_is_wrapper_option(text)) {
      pacc_arguments_add(to, text);
      if (pacc_takes_value(text) && next) {
        pacc_arguments_add(to, next);
        i++;
      }
    }
  }
}

static bool contains(const struct pacc_arguments *list, const char *text) {
  for (size_t i = 0; i < list->count; i++)
    if (!strcmp(list->items[i], text))
      return true;
  return false;
}

/* Whether the user set `option` itself, to `=false` say. */
static bool sets(const struct pacc_arguments *list, const char *option) {
  size_t length = strlen(option);
  for (size_t i = 0; i < list->count; i++) {
    const char *text = list->items[i];
    if (!strncmp(text, option, length) &&
        (!text[length] || text[length] == '='))
      return true;
  }
  return false;
}

static void add_compile_flags(struct pacc_arguments *to,
                              const struct pacc_places *places,
                              const struct pacc_arguments *user,
                              const struct pacc_command *command) {
  if (!command->compiles)
    return;
  pacc_arguments_format(to, "-fpass-plugin=%s", places->plugin);
  if (command->cuda && !sets(user, "-polly-acc-agg"))
    add_plugin_option(to, "-polly-acc-agg", command);
  if (!command->compiles_host)
    return;
  if (!sets(user, "-polly-acc"))
    add_plugin_option(to, "-polly-acc", command);
  /* sqrt, exp and pow are calls with a side effect without it. In front, so
   * that the user's -fmath-errno wins. Fortran has no errno. */
  if (command->driver != PACC_FLANG)
    pacc_arguments_add(to, "-fno-math-errno");
  /* No pass has this name. Who asks for remarks gets places in the source,
   * which the runtime's messages have, too: without debug information, and with
   * the same code. */
  pacc_arguments_add(to, "-Rpass=polly-acc-places");
}

/* After the folders of the user and of the system, which may be the same. */
static void add_include_folder(struct pacc_arguments *to,
                               const struct pacc_places *places,
                               const struct pacc_command *command) {
  if (command->includes && places->include && command->driver != PACC_FLANG)
    pacc_arguments_format(to, "-idirafter%s", places->include);
}

/* Build systems compile without -O to try things, and read what is printed:
 * only those hear of it who sit at a terminal or use the plugin by name. */
static void warn_of_no_optimisation(const struct pacc_arguments *user,
                                    const struct pacc_command *command) {
  if (command->compiles_host && !command->optimises &&
      !contains(user, "-polly-acc=false") &&
      (command->asks || isatty(STDERR_FILENO)))
    pacc_warn("nothing is offloaded without optimisation: compile with -O1 or "
              "more");
}

static void add_link_flags(struct pacc_arguments *to,
                           const struct pacc_places *places,
                           const struct pacc_command *command, bool cuda) {
  if (!command->links)
    return;
  if (command->use_archive || command->is_static) {
    pacc_arguments_format(to, "%s/libpacc_rt.a", places->library);
    pacc_arguments_add(to, "-lpthread");
    pacc_arguments_add(to, "-ldl");
    return;
  }
  pacc_arguments_format(to, "-L%s", places->library);
  /* CUDA programs need it only if some file of theirs has offloaded loops. */
  if (cuda)
    pacc_arguments_add(to, "-Wl,--push-state,--as-needed");
  pacc_arguments_add(to, "-lpacc_rt");
  if (cuda)
    pacc_arguments_add(to, "-Wl,--pop-state");
  pacc_arguments_format(to, "-Wl,-rpath,%s", places->library);
}

int main(int argc, char **argv) {
  struct pacc_arguments user = {0}, expanded = {0}, command_line = {0};
  for (int i = 1; i < argc; i++) {
    struct pacc_arguments inner = {0};
    if (argv[i][0] != '@' ||
        !pacc_arguments_add_response(&inner, argv[i] + 1)) {
      pacc_arguments_add(&expanded, argv[i]);
      pacc_arguments_add(&user, argv[i]);
      continue;
    }
    pacc_arguments_add_all(&expanded, &inner);
    /* A long command stays in its file unless something in it is ours, or it
     * comes through a pipe, which can be read but once. */
    if (contains_ours(&inner) || !is_regular(argv[i] + 1))
      pacc_arguments_add_all(&user, &inner);
    else
      pacc_arguments_add(&user, argv[i]);
  }

  struct pacc_command command =
      pacc_command_classify(&expanded, pacc_driver_of(argv[0]));
  struct pacc_places places = pacc_places_find();
  const char *clang = pacc_driver_find(command.driver);
  if (command.version && !command.print_cmd)
    return print_version(clang, &places);

  bool on_cpu = pacc_cpu_is_asked(&expanded);
  if (on_cpu && command.driver == PACC_FLANG)
    pacc_fail("--device=cpu is for CUDA programs: run a Fortran program with "
              "PACC_DEVICE=cpu");
  if (on_cpu)
    return pacc_cpu_run(&expanded, &command, &places, clang);

  bool cuda = pacc_cuda_is_used(&command);
  pacc_arguments_add(&command_line, clang);
  if (cuda)
    pacc_cuda_add_front(&command_line, &expanded, &command);
  add_compile_flags(&command_line, &places, &expanded, &command);
  add_include_folder(&command_line, &places, &command);
  add_user_arguments(&command_line, &user, &command);
  if (cuda)
    pacc_cuda_add_libraries(&command_line, &expanded, &command);
  add_link_flags(&command_line, &places, &command, cuda);
  if (command.print_cmd) {
    pacc_arguments_print(&command_line, stdout);
    return 0;
  }
  warn_of_no_optimisation(&expanded, &command);
  execv(clang, (char *const *)command_line.items);
  pacc_fail("cannot start %s: %s", clang, strerror(errno));
}
