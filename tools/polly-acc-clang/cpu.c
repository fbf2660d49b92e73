/* cpu.c: the steps of `polly-acc-clang++ --device=cpu`.
 *
 * Clang compiles CUDA to objects that hold host code and, as bitcode, device
 * code (-foffload-lto). To link, pacc-cpu-link makes one host object of the
 * device code of all of them. */
#include "cpu.h"
#include "cuda.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool starts_with(const char *text, const char *prefix) {
  return !strncmp(text, prefix, strlen(prefix));
}

bool pacc_cpu_is_asked(const struct pacc_arguments *arguments) {
  static const char option[] = "--device=";
  bool asked = false;
  for (size_t i = 0; i < arguments->count; i++) {
    const char *text = arguments->items[i];
    if (!starts_with(text, option))
      continue;
    asked = !strcmp(text + strlen(option), "cpu");
    if (!asked && strcmp(text + strlen(option), "cuda"))
      pacc_fail("%s: the devices are cpu and cuda", text);
  }
  return asked;
}

/* -- Reading the arguments -- */

/* inputs   the files, each with the -x that holds for it or NULL
 * flags    all but inputs, -o, -x and what is of the wrapper
 * output   of -o, or NULL
 * toolkit  of --cuda-path, or NULL */
struct build {
  struct pacc_arguments inputs, languages, flags;
  const char *output, *toolkit;
  bool sets_plugin, aggregates, no_checks;
};

/* CUDA's libraries are ours here, and there is no GPU code to link. */
static bool is_dropped(const char *text) {
  static const char *const names[] = {"-lcudart", "-lcudart_static",
                                      "-lcudadevrt", "--offload-link"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (!strcmp(text, names[i]))
      return true;
  return pacc_is_wrapper_option(text);
}

static void note_flag(struct build *build, const char *text) {
  static const char toolkit[] = "--cuda-path=";
  if (starts_with(text, toolkit))
    build->toolkit = text + strlen(toolkit);
  if (!strcmp(text, "-fno-gpu-rdc"))
    pacc_fail("--device=cpu links device code: it can't do with -fno-gpu-rdc");
  build->sets_plugin |= starts_with(text, "-fpass-plugin=");
  build->no_checks |= !strcmp(text, "--no-device-checks");
}

static void add_plugin_option(struct build *build, const char *text) {
  build->aggregates |= starts_with(text, "-polly-acc-agg");
  pacc_arguments_add(&build->flags, "-mllvm");
  pacc_arguments_add(&build->flags, text);
}

static void read_input(struct build *build, const char *text,
                       const char *language) {
  pacc_arguments_add(&build->inputs, text);
  pacc_arguments_add(&build->languages, language);
}

static struct build read_arguments(const struct pacc_arguments *list) {
  struct build build = {0};
  const char *language = "none";
  bool only_files = false;
  for (size_t i = 0; i < list->count; i++) {
    const char *text = list->items[i];
    const char *next = i + 1 < list->count ? list->items[i + 1] : NULL;
    if (only_files || text[0] != '-' || !text[1]) {
      read_input(&build, text, language);
    } else if (!strcmp(text, "--")) {
      only_files = true;
    } else if (!strcmp(text, "-mllvm") && next && pacc_is_plugin_option(next)) {
      add_plugin_option(&build, next);
      i++;
    } else if (pacc_is_plugin_option(text)) {
      add_plugin_option(&build, text);
    } else if (!strcmp(text, "-Xoffload-linker") && next) {
      i++;
    } else if (!strcmp(text, "-x") && next) {
      language = next;
      i++;
    } else if (starts_with(text, "-x")) {
      language = text + 2;
    } else if (!strcmp(text, "-o") && next) {
      build.output = next;
      i++;
    } else if (starts_with(text, "-o") && strcmp(text, "-openmp")) {
      build.output = text + 2;
    } else {
      note_flag(&build, text);
      if (!is_dropped(text)) {
        pacc_arguments_add(&build.flags, text);
        if (pacc_takes_value(text) && next) {
          pacc_arguments_add(&build.flags, next);
          i++;
        }
      }
    }
  }
  return build;
}

static bool is_cuda(const struct build *build, size_t input) {
  const char *language = build->languages.items[input];
  if (strcmp(language, "none"))
    return starts_with(language, "cuda");
  const char *dot = strrchr(build->inputs.items[input], '.');
  return dot && (!strcmp(dot, ".cu") || !strcmp(dot, ".cui"));
}

static void add_input(struct pacc_arguments *to, const struct build *build,
                      size_t input) {
  pacc_arguments_add(to, "-x");
  pacc_arguments_add(to, build->languages.items[input]);
  pacc_arguments_add(to, build->inputs.items[input]);
}

/* -- Steps -- */

struct job {
  const struct build *build;
  const struct pacc_arguments *arguments;
  const struct pacc_command *command;
  const struct pacc_places *places;
  const char *clang, *toolkit;
  bool print;
  char *folder; /* of temporary files */
};

static int run(const struct job *job, const struct pacc_arguments *command) {
  if (job->print) {
    pacc_arguments_print(command, stdout);
    return 0;
  }
  pid_t child = fork();
  if (child < 0)
    pacc_fail("cannot start %s: %s", command->items[0], strerror(errno));
  if (!child) {
    execv(command->items[0], (char *const *)command->items);
    fprintf(stderr, "polly-acc-clang: error: cannot start %s: %s\n",
            command->items[0], strerror(errno));
    _exit(127);
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What every compilation of CUDA gets; the user's flags come later and win. */
static void add_cuda_flags(struct pacc_arguments *to, const struct job *job) {
  const struct build *build = job->build;
  pacc_cuda_add_front(to, job->arguments, job->command);
  if (!job->command->cuda)
    return;
  if (build->aggregates && !build->sets_plugin)
    pacc_arguments_format(to, "-fpass-plugin=%s", job->places->plugin);
  pacc_arguments_add(to, "-foffload-lto");
}

/* Only compiles, or preprocesses, or whatever the flags say. */
static int run_single(const struct job *job) {
  const struct build *build = job->build;
  struct pacc_arguments command = {0};
  pacc_arguments_add(&command, job->clang);
  add_cuda_flags(&command, job);
  pacc_arguments_add_all(&command, &build->flags);
  for (size_t i = 0; i < build->inputs.count; i++)
    add_input(&command, build, i);
  if (build->output) {
    pacc_arguments_add(&command, "-o");
    pacc_arguments_add(&command, build->output);
  }
  return run(job, &command);
}

static int compile(const struct job *job, size_t input, const char *object) {
  struct pacc_arguments command = {0};
  pacc_arguments_add(&command, job->clang);
  add_cuda_flags(&command, job);
  pacc_arguments_add(&command, "-Wno-unused-command-line-argument");
  pacc_arguments_add_all(&command, &job->build->flags);
  pacc_arguments_add(&command, "-c");
  add_input(&command, job->build, input);
  pacc_arguments_add(&command, "-o");
  pacc_arguments_add(&command, object);
  return run(job, &command);
}

static int link_program(const struct job *job,
                        const struct pacc_arguments *files,
                        const char *device_object) {
  const struct build *build = job->build;
  const char *library = job->places->library;
  struct pacc_arguments command = {0};
  pacc_arguments_add(&command, job->clang);
  pacc_arguments_add(&command, "-Wno-unused-command-line-argument");
  pacc_arguments_format(&command, "-I%s/include", job->toolkit);
  for (size_t i = 0; i < files->count; i++) {
    pacc_arguments_add(&command, "-x");
    pacc_arguments_add(&command,
                       is_cuda(build, i) ? "none" : build->languages.items[i]);
    pacc_arguments_add(&command, files->items[i]);
  }
  pacc_arguments_add(&command, "-x");
  pacc_arguments_add(&command, "none");
  pacc_arguments_add(&command, device_object);
  pacc_arguments_add_all(&command, &build->flags);
  if (build->output) {
    pacc_arguments_add(&command, "-o");
    pacc_arguments_add(&command, build->output);
  }
  /* Nothing but the table of kernels refers to its section. */
  pacc_arguments_add(&command, "-Wl,-z,nostart-stop-gc");
  pacc_arguments_format(&command, "-L%s", library);
  pacc_arguments_add(&command, "-lpacc_cudart");
  pacc_arguments_format(&command, "-Wl,-rpath,%s", library);
  return run(job, &command);
}

static int run_steps(const struct job *job) {
  const struct build *build = job->build;
  struct pacc_arguments files = {0}, device = {0};
  pacc_arguments_format(&device, "%s/pacc-cpu-link", job->places->programs);
  if (build->no_checks)
    pacc_arguments_add(&device, "--no-checks");
  pacc_arguments_add(&device, "-o");
  const char *device_object =
      pacc_arguments_format(&device, "%s/device.o", job->folder);
  for (size_t i = 0; i < build->inputs.count; i++) {
    const char *file = build->inputs.items[i];
    if (is_cuda(build, i)) {
      file = pacc_format("%s/%zu.o", job->folder, i);
      int status = compile(job, i, file);
      if (status)
        return status;
    }
    pacc_arguments_add(&files, file);
    pacc_arguments_add(&device, file);
  }
  int status = run(job, &device);
  return status ? status : link_program(job, &files, device_object);
}

static void remove_folder(const char *folder) {
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    char *path = pacc_format("%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.')
      unlink(path);
    free(path);
  }
  if (entries)
    closedir(entries);
  rmdir(folder);
}

int pacc_cpu_run(const struct pacc_arguments *arguments,
                 const struct pacc_command *command,
                 const struct pacc_places *places, const char *clang) {
  struct build build = read_arguments(arguments);
  struct job job = {.build = &build,
                    .arguments = arguments,
                    .command = command,
                    .places = places,
                    .clang = clang,
                    .print = command->print_cmd};
  char *runtime = pacc_format("%s/libpacc_cudart.so", places->library);
  bool has_runtime = !access(runtime, R_OK);
  /* The files without CUDA of a program that has some are compiled like this,
   * too, and so are the trials of build systems. */
  static const char not_cuda[] =
      "--device=cpu is for CUDA programs; for loops in C and C++ leave it out, "
      "and run the program with PACC_DEVICE=cpu";
  bool uses_cuda = pacc_cuda_is_used(command);
  if (!uses_cuda && !has_runtime)
    pacc_fail("%s", not_cuda);
  if (!uses_cuda && command->links && !job.print)
    pacc_warn("%s", not_cuda);
  if (!has_runtime)
    pacc_fail("there is no %s: --device=cpu needs a build with CUDA's headers",
              runtime);
  if (build.toolkit)
    job.toolkit = build.toolkit;
  else if (!pacc_cuda_version(&job.toolkit))
    pacc_fail("--device=cpu needs CUDA's headers: set CUDA_PATH to a toolkit");
  if (!command->links)
    return run_single(&job);
  const char *temporary = getenv("TMPDIR");
  job.folder = pacc_format("%s/polly-acc-XXXXXX",
                           temporary && *temporary ? temporary : "/tmp");
  if (!job.print && !mkdtemp(job.folder))
    pacc_fail("cannot make %s: %s", job.folder, strerror(errno));
  int status = run_steps(&job);
  if (!job.print)
    remove_folder(job.folder);
  return status;
}
