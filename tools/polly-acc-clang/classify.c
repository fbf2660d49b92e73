/* classify.c: reads a clang command line as far as the wrapper must. */
#include "classify.h"

#include <string.h>

enum language {
  LANG_HOST,
  LANG_CUDA,
  LANG_FORTRAN,
  LANG_ASSEMBLER,
  LANG_HEADER,
  LANG_OBJECT
};

static bool starts_with(const char *text, const char *prefix) {
  return !strncmp(text, prefix, strlen(prefix));
}

static bool is_one_of(const char *text, const char *const *names) {
  for (; *names; names++)
    if (!strcmp(text, *names))
      return true;
  return false;
}

bool pacc_takes_value(const char *text) {
  /* Joined spellings (-Idir, -ofile) are one argument and not in here. */
  static const char *const names[] = {"-o",
                                      "-x",
                                      "-I",
                                      "-D",
                                      "-U",
                                      "-L",
                                      "-l",
                                      "-F",
                                      "-B",
                                      "-T",
                                      "-u",
                                      "-e",
                                      "-z",
                                      "-G",
                                      "-A",
                                      "-include",
                                      "-imacros",
                                      "-include-pch",
                                      "-isystem",
                                      "-iquote",
                                      "-idirafter",
                                      "-isystem-after",
                                      "-iprefix",
                                      "-iwithprefix",
                                      "-isysroot",
                                      "-iwithprefixbefore",
                                      "-ivfsoverlay",
                                      "-iframework",
                                      "-MF",
                                      "-MT",
                                      "-MQ",
                                      "-MJ",
                                      "-Xclang",
                                      "-Xlinker",
                                      "-Xassembler",
                                      "-Xpreprocessor",
                                      "-Xanalyzer",
                                      "-Xclangas",
                                      "-Xcuda-ptxas",
                                      "-Xcuda-fatbinary",
                                      "-mllvm",
                                      "-mmlir",
                                      "-target",
                                      "--target",
                                      "-arch",
                                      "-framework",
                                      "--sysroot",
                                      "--param",
                                      "-rpath",
                                      "-working-directory",
                                      "--config",
                                      "-serialize-diagnostics",
                                      "-dumpbase",
                                      "--serialize-diagnostics",
                                      "-gen-cdb-fragment-path",
                                      "-Xoffload-linker",
                                      "-Xopenmp-target",
                                      "-Xthinlto-distributor",
                                      NULL};
  return is_one_of(text, names) || starts_with(text, "-Xarch_") ||
         starts_with(text, "-Xopenmp-target=");
}

/* The stage at which clang stops is the earliest that is asked for. */
enum stage { STAGE_PREPROCESS, STAGE_CHECK, STAGE_COMPILE, STAGE_LINK };

static enum stage stage_of(const char *text) {
  static const char *const preprocess[] = {"-E",
                                           "-M",
                                           "-MM",
                                           "--preprocess",
                                           "--dependencies",
                                           "--user-dependencies",
                                           "--dM",
                                           NULL};
  static const char *const check[] = {"-fsyntax-only", "--analyze",
                                      "-emit-ast",     "--precompile",
                                      "-rewrite-objc", "-extract-api",
                                      "--migrate",     "-module-file-info",
                                      "-verify-pch",   NULL};
  static const char *const compile[] = {
      "-c", "-S", "--compile", "--assemble", "--emit-static-lib", NULL};
  if (is_one_of(text, preprocess))
    return STAGE_PREPROCESS;
  if (is_one_of(text, check))
    return STAGE_CHECK;
  return is_one_of(text, compile) ? STAGE_COMPILE : STAGE_LINK;
}

static enum language language_of_name(const char *name) {
  if (starts_with(name, "assembler"))
    return LANG_ASSEMBLER;
  size_t length = strlen(name);
  if (length > 7 && !strcmp(name + length - 7, "-header"))
    return LANG_HEADER;
  if (starts_with(name, "f95"))
    return LANG_FORTRAN;
  return starts_with(name, "cuda") ? LANG_CUDA : LANG_HOST;
}

static enum language language_of_file(const char *path) {
  static const char *const compiled[] = {
      "c",  "i",   "cc",  "cp",   "cxx", "cpp", "CPP", "c++",
      "C",  "CC",  "CXX", "ii",   "ll",  "bc",  "m",   "mm",
      "mi", "mii", "M",   "cppm", "ixx", "hip", "cl",  NULL};
  static const char *const cuda[] = {"cu", "cui", NULL};
  static const char *const fortran[] = {
      "f",   "for", "FOR", "ftn", "f77", "f90", "f95", "f03",
      "f08", "f18", "F",   "fpp", "FPP", "FTN", "F77", "F90",
      "F95", "F03", "F08", "F18", "cuf", "CUF", NULL};
  static const char *const assembler[] = {"s", "S", "sx", "asm", NULL};
  static const char *const header[] = {"h", "hh",  "hpp", "hxx",
                                       "H", "h++", NULL};
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(slash ? slash : path, '.');
  if (!dot)
    return LANG_OBJECT;
  if (is_one_of(dot + 1, compiled))
    return LANG_HOST;
  if (is_one_of(dot + 1, cuda))
    return LANG_CUDA;
  if (is_one_of(dot + 1, fortran))
    return LANG_FORTRAN;
  if (is_one_of(dot + 1, assembler))
    return LANG_ASSEMBLER;
  return is_one_of(dot + 1, header) ? LANG_HEADER : LANG_OBJECT;
}

bool pacc_is_wrapper_option(const char *text) {
  static const char *const names[] = {"--print-cmd", "--version",
                                      "--static-pacc-rt", "--no-device-checks",
                                      NULL};
  return is_one_of(text, names) || starts_with(text, "--device=");
}

bool pacc_is_plugin_option(const char *text) {
  return !strcmp(text, "-polly-acc") || starts_with(text, "-polly-acc-") ||
         starts_with(text, "-polly-acc=");
}

struct pacc_command pacc_command_classify(const struct pacc_arguments *list,
                                          enum pacc_driver driver) {
  static const char *const fully_static[] = {"-static", "--static",
                                             "-static-pie", NULL};
  struct pacc_command command = {.driver = driver};
  enum stage stage = STAGE_LINK;
  bool has_input = false, runs_nothing = false, only_files = false;
  const char *language = "none";
  for (size_t i = 0; i < list->count; i++) {
    const char *text = list->items[i];
    if (!only_files && text[0] == '-' && text[1]) {
      enum stage asked = stage_of(text);
      stage = asked < stage ? asked : stage;
      only_files = !strcmp(text, "--");
      command.print_cmd |= !strcmp(text, "--print-cmd");
      command.version |= !strcmp(text, "--version");
      command.use_archive |= !strcmp(text, "--static-pacc-rt");
      command.is_static |= is_one_of(text, fully_static);
      /* The assembler runs as a program of its own. */
      command.assembles |= starts_with(text, "-save-temps") ||
                           starts_with(text, "--save-temps") ||
                           !strcmp(text, "-via-file-asm");
      runs_nothing |=
          starts_with(text, "-print-") ||
          (starts_with(text, "--print-") && strcmp(text, "--print-cmd")) ||
          starts_with(text, "-dump") || !strcmp(text, "--help");
      if (starts_with(text, "-O"))
        command.optimises = strcmp(text, "-O0") != 0;
      command.asks |= starts_with(text, "-Rpass") ||
                      starts_with(text, "-fsave-optimization-record") ||
                      pacc_is_plugin_option(text);
      /* -lm and -Wl,x.o give the linker something to do by themselves. */
      has_input |= starts_with(text, "-l") || starts_with(text, "-Wl,");
      if (starts_with(text, "-x") && text[2])
        language = text + 2;
      else if (!strcmp(text, "-x") && i + 1 < list->count)
        language = list->items[i + 1];
      if (pacc_takes_value(text))
        i++;
      continue;
    }
    has_input = true;
    enum language kind = strcmp(language, "none") ? language_of_name(language)
                                                  : language_of_file(text);
    if (kind == LANG_FORTRAN)
      kind = driver == PACC_FLANG ? LANG_HOST : LANG_OBJECT;
    command.compiles_host |= kind == LANG_HOST;
    command.cuda |= kind == LANG_CUDA;
    command.includes |=
        kind == LANG_HOST || kind == LANG_CUDA || kind == LANG_HEADER;
    if (kind == LANG_OBJECT)
      pacc_arguments_add(&command.objects, text);
    command.assembles |= kind == LANG_ASSEMBLER;
    /* Clang precompiles a header, and links nothing. */
    if (kind == LANG_HEADER && stage == STAGE_LINK)
      stage = STAGE_CHECK;
  }
  command.compiles_host &= stage >= STAGE_COMPILE;
  command.compiles =
      command.compiles_host || (command.cuda && stage >= STAGE_COMPILE);
  command.links = stage == STAGE_LINK && has_input && !runs_nothing;
  return command;
}
