/* locate.c: finds the parts of the installation and of the machine. */
#include "locate.h"
#include "arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cuts `path` at its last slash. */
static void cut_name(char *path) {
  char *slash = strrchr(path, '/');
  if (slash)
    *slash = '\0';
}

struct pacc_places pacc_places_find(void) {
  char *folder = realpath("/proc/self/exe", NULL);
  if (!folder)
    pacc_fail("cannot read /proc/self/exe: %s", strerror(errno));
  cut_name(folder); /* bin */
  struct pacc_places places;
  char *library = pacc_format("%s/../%s", folder, PACC_LIBRARY_FOLDER);
  places.library = realpath(library, NULL);
  places.plugin =
      pacc_format("%s/PollyACC.so", places.library ? places.library : library);
  if (!places.library || access(places.plugin, R_OK))
    pacc_fail("there is no plugin at %s; build it (ninja PollyACC) or install "
              "the whole package",
              places.plugin);
  free(library);
  char *include = pacc_format("%s/../%s", folder, PACC_INCLUDE_FOLDER);
  places.include = realpath(include, NULL);
  free(include);
  places.programs = folder;
  return places;
}

/* The first executable of this name in PATH, or NULL. */
static char *find_in_path(const char *name) {
  const char *path = getenv("PATH");
  while (path && *path) {
    size_t length = strcspn(path, ":");
    char *candidate = pacc_format("%.*s/%s", (int)length, path, name);
    if (!access(candidate, X_OK))
      return candidate;
    free(candidate);
    path += length + (path[length] == ':');
  }
  return NULL;
}

static const struct {
  const char *variable;
  const char *program; /* in the folder of LLVM's tools; + "-22" in PATH */
} drivers[] = {
    [PACC_CLANG] = {"PACC_CLANG", "clang"},
    [PACC_CLANGXX] = {"PACC_CLANG", "clang++"},
    [PACC_FLANG] = {"PACC_FLANG", "flang"},
};

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && !strcmp(text + length - tail, end);
}

enum pacc_driver pacc_driver_of(const char *name) {
  if (ends_with(name, "flang"))
    return PACC_FLANG;
  return ends_with(name, "++") ? PACC_CLANGXX : PACC_CLANG;
}

/* A plugin that is loaded into another release crashes, or is refused with
 * words that do not help. */
static void check_release(const char *variable, const char *program) {
  char *command =
      pacc_format("exec \"$%s\" -dumpversion 2>/dev/null", variable);
  FILE *answer = popen(command, "r");
  free(command);
  char version[64] = "";
  if (answer && !fgets(version, sizeof(version), answer))
    version[0] = '\0';
  if (answer)
    pclose(answer);
  version[strcspn(version, "\n")] = '\0';
  if (strtol(version, NULL, 10) != strtol(PACC_LLVM_VERSION, NULL, 10))
    pacc_fail("%s=%s is not of LLVM %ld, which this plugin is for: its "
              "-dumpversion says '%s'",
              variable, program, strtol(PACC_LLVM_VERSION, NULL, 10), version);
}

const char *pacc_driver_find(enum pacc_driver driver) {
  const char *variable = drivers[driver].variable;
  const char *chosen = getenv(variable);
  if (chosen && *chosen) {
    char *found = strchr(chosen, '/') ? strdup(chosen) : find_in_path(chosen);
    if (!found || access(found, X_OK))
      pacc_fail("%s=%s is no program", variable, chosen);
    check_release(variable, chosen);
    return found;
  }
  char *built_for =
      pacc_format("%s/%s", PACC_LLVM_TOOLS, drivers[driver].program);
  if (!access(built_for, X_OK))
    return built_for;
  char *name = pacc_format("%s-22", drivers[driver].program);
  char *found = find_in_path(name);
  if (!found)
    pacc_fail("there is no %s and no %s in PATH; install it (Debian: apt-get "
              "install %s-22) or set %s",
              built_for, name, driver == PACC_FLANG ? "flang" : "clang",
              variable);
  free(name);
  free(built_for);
  return found;
}

/* The CUDA_VERSION that cuda.h of this toolkit defines, as "13.0"; or NULL. */
static const char *version_in(const char *toolkit) {
  if (!toolkit || !*toolkit)
    return NULL;
  char *path = pacc_format("%s/include/cuda.h", toolkit);
  FILE *file = fopen(path, "r");
  free(path);
  if (!file)
    return NULL;
  char line[256];
  int number = 0;
  while (!number && fgets(line, sizeof(line), file))
    if (sscanf(line, "#define CUDA_VERSION %d", &number) != 1)
      number = 0;
  fclose(file);
  return number ? pacc_format("%d.%d", number / 1000, number % 1000 / 10)
                : NULL;
}

const char *pacc_cuda_version(const char **path) {
  static const char *const variables[] = {"CUDA_PATH", "CUDA_HOME", NULL, NULL};
  const char *candidates[] = {getenv("CUDA_PATH"), getenv("CUDA_HOME"),
                              PACC_CUDA_PATH, "/usr/local/cuda"};
  for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++) {
    const char *version = version_in(candidates[i]);
    if (version) {
      *path = candidates[i];
      return version;
    }
    if (variables[i] && candidates[i] && *candidates[i])
      pacc_warn("%s=%s is no CUDA toolkit: there is no include/cuda.h in it",
                variables[i], candidates[i]);
  }
  return NULL;
}
