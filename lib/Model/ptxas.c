/* ptxas.c: finds ptxas and runs it on PTX text, in a folder of its own that is
 * removed afterwards, for a limited time. */
#include "pacc/model.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MAX_LOG = 1 << 20, POLL_NS = 2000000 };

/*===-- Finding it -------------------------------------------------------===*/

static bool executable(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
         access(path, X_OK) == 0;
}

/* <folder of n characters>/<tail> if that can be run, else NULL. */
static char *try_folder(const char *folder, size_t n, const char *tail) {
  char *path;
  if (n == 0 || asprintf(&path, "%.*s/%s", (int)n, folder, tail) < 0)
    return NULL;
  if (executable(path))
    return path;
  free(path);
  return NULL;
}

char *pacc_ptxas_find(void) {
  const char *chosen = getenv("PACC_PTXAS");
  if (chosen && *chosen)
    return executable(chosen) ? strdup(chosen) : NULL;
  static const char *const toolkits[] = {"CUDA_HOME", "CUDA_PATH"};
  for (size_t i = 0; i < sizeof toolkits / sizeof *toolkits; i++) {
    const char *folder = getenv(toolkits[i]);
    char *path =
        folder ? try_folder(folder, strlen(folder), "bin/ptxas") : NULL;
    if (path)
      return path;
  }
  const char *folders = getenv("PATH");
  while (folders && *folders) {
    size_t n = strcspn(folders, ":");
    char *path = try_folder(folders, n, "ptxas");
    if (path)
      return path;
    folders += n + (folders[n] == ':');
  }
  static const char usual[] = "/usr/local/cuda";
  return try_folder(usual, strlen(usual), "bin/ptxas");
}

/*===-- Running it -------------------------------------------------------===*/

/* The files of one run, all in `folder`; NULL where not made yet. */
struct files {
  char *folder;
  char *ptx;
  char *cubin;
  char *log;
};

static void remove_files(struct files *files) {
  char *const paths[] = {files->ptx, files->cubin, files->log};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    if (paths[i])
      unlink(paths[i]);
    free(paths[i]);
  }
  if (files->folder)
    rmdir(files->folder);
  free(files->folder);
}

static char *in_folder(const struct files *files, const char *name) {
  char *path;
  return asprintf(&path, "%s/%s", files->folder, name) < 0 ? NULL : path;
}

static bool write_text(const char *path, const char *text, size_t size) {
  FILE *file = fopen(path, "w");
  if (!file)
    return false;
  bool written = fwrite(text, 1, size, file) == size;
  return fclose(file) == 0 && written;
}

/* The file's bytes, at most `limit`, and a NUL after them; NULL: no memory or
 * no such file. */
static char *read_file(const char *path, size_t limit, size_t *size) {
  FILE *file = fopen(path, "r");
  struct stat info;
  if (!file)
    return NULL;
  char *bytes = NULL;
  if (fstat(fileno(file), &info) == 0) {
    if ((uint64_t)info.st_size < limit)
      limit = (size_t)info.st_size;
    bytes = malloc(limit + 1);
  }
  if (bytes) {
    *size = fread(bytes, 1, limit, file);
    bytes[*size] = '\0';
  }
  fclose(file);
  return bytes;
}

static bool make_files(struct files *files, const char *ptx, size_t size) {
  const char *base = getenv("TMPDIR");
  char *pattern;
  if (asprintf(&pattern, "%s/pacc-ptxas-XXXXXX",
               base && *base ? base : "/tmp") < 0)
    return false;
  if (!mkdtemp(pattern)) {
    free(pattern);
    return false;
  }
  files->folder = pattern;
  files->ptx = in_folder(files, "kernel.ptx");
  files->cubin = in_folder(files, "kernel.cubin");
  files->log = in_folder(files, "log");
  return files->ptx && files->cubin && files->log &&
         write_text(files->ptx, ptx, size);
}

/* Starts ptxas in a process group of its own; what it writes goes to the log.
 * Lines of the source that the PTX names are kept. Returns an errno value. */
static int start(const char *ptxas, const char *arch, bool lines,
                 const struct files *files, pid_t *pid) {
  char *option;
  if (asprintf(&option, "-arch=%s", arch) < 0)
    return ENOMEM;
  char *const argv[] = {(char *)ptxas,
                        "-v",
                        option,
                        "-o",
                        files->cubin,
                        files->ptx,
                        lines ? "-lineinfo" : NULL,
                        NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, files->log,
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int error = posix_spawn(pid, ptxas, &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  free(option);
  return error;
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits for the child; after the time limit its whole group is killed. */
static enum pacc_model_status wait_for(pid_t pid, uint32_t timeout_ms) {
  uint64_t deadline = now_ms() + timeout_ms;
  for (;;) {
    int status;
    pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid)
      return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PACC_MODEL_OK
                                                           : PACC_MODEL_PTXAS;
    if (done < 0 && errno != EINTR)
      return PACC_MODEL_PTXAS;
    if (now_ms() >= deadline) {
      kill(-pid, SIGKILL);
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
      return PACC_MODEL_TIMEOUT;
    }
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
  }
}

static enum pacc_model_status run(const char *ptxas, const char *arch,
                                  bool lines, const struct files *files,
                                  uint32_t timeout_ms,
                                  struct pacc_ptxas_report *report) {
  pid_t pid;
  int error = start(ptxas, arch, lines, files, &pid);
  if (error) {
    if (asprintf(&report->message, "%s: %s", ptxas, strerror(error)) < 0)
      report->message = NULL;
    return error == ENOMEM ? PACC_MODEL_NOMEM : PACC_MODEL_NO_PTXAS;
  }
  enum pacc_model_status status = wait_for(pid, timeout_ms);
  if (status == PACC_MODEL_TIMEOUT)
    return status;
  size_t size;
  char *log = read_file(files->log, MAX_LOG, &size);
  if (!log)
    return PACC_MODEL_NOMEM;
  if (status != PACC_MODEL_OK) {
    report->message = log;
    return status;
  }
  status = pacc_ptxas_parse(log, report);
  free(log);
  if (status == PACC_MODEL_OK)
    report->cubin = read_file(files->cubin, SIZE_MAX - 1, &report->cubin_size);
  return status;
}

enum pacc_model_status pacc_ptxas_run(const char *ptxas, const char *arch,
                                      const char *ptx, size_t size,
                                      uint32_t timeout_ms,
                                      struct pacc_ptxas_report *report) {
  if (!report)
    return PACC_MODEL_INVALID;
  memset(report, 0, sizeof *report);
  if (!arch || !ptx || size == 0)
    return PACC_MODEL_INVALID;
  char *found = ptxas ? NULL : pacc_ptxas_find();
  if (!ptxas && !found)
    return PACC_MODEL_NO_PTXAS;
  struct files files = {NULL, NULL, NULL, NULL};
  enum pacc_model_status status;
  if (make_files(&files, ptx, size)) {
    static const char line[] = "\n\t.loc\t";
    bool lines = memmem(ptx, size, line, strlen(line));
    status =
        run(ptxas ? ptxas : found, arch, lines, &files, timeout_ms, report);
  } else {
    status = PACC_MODEL_NO_TEMP;
    if (asprintf(&report->message, "cannot write the PTX: %s",
                 strerror(errno)) < 0)
      report->message = NULL;
  }
  remove_files(&files);
  free(found);
  return status;
}
