/* dump_binary.c: takes the arrays that a kernel prints and writes them to a
 * file, with all their bits. Link any PolyBench program, built with
 * -fno-builtin-fprintf -DPOLYBENCH_DUMP_ARRAYS, with it and
 * -Wl,--wrap=fprintf:
 *
 *   PB_DUMP_FILE=path   at exit, the arrays in runner/dumps.py's binary format
 *   PB_DUMP_FILE=       nothing is written, and printing takes no time
 *   unset               fprintf as ever
 *
 * A program is known by its formats: "begin dump: %s", "\nend   dump: %s\n",
 * and a number with a space after it. Without marks (PolyBench-ACC) all values
 * make one array with no name.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __real_fprintf(FILE *stream, const char *format, ...);
int __wrap_fprintf(FILE *stream, const char *format, ...);

static enum { UNKNOWN, OFF, DROP, KEEP } mode = UNKNOWN;
static char name[64];
static double *values;
static size_t count, capacity;
static FILE *file;

_Noreturn static void fail(const char *what) {
  __real_fprintf(stderr, "PB_DUMP_FILE: %s: %s\n", what, strerror(errno));
  _Exit(3);
}

static void write_array(void) {
  if (count == 0)
    return;
  __real_fprintf(file, "array %s %zu\n", name[0] ? name : "-", count);
  if (fwrite(values, sizeof(double), count, file) != count)
    fail("cannot write");
  count = 0;
  name[0] = '\0';
}

static void finish(void) {
  write_array();
  if (fclose(file) != 0)
    fail("cannot write");
}

static void start(void) {
  const char *path = getenv("PB_DUMP_FILE");
  mode = !path ? OFF : !*path ? DROP : KEEP;
  if (mode != KEEP)
    return;
  file = fopen(path, "wb");
  if (!file)
    fail(path);
  __real_fprintf(file, "PBDUMP 1\n");
  atexit(finish);
}

static void add(double value) {
  if (count == capacity) {
    capacity = capacity ? 2 * capacity : 4096;
    values = realloc(values, capacity * sizeof(double));
    if (!values)
      fail("no memory for the values");
  }
  values[count++] = value;
}

/* 'd' or 'f' if the format prints one number and a space, else 0. */
static char number_format(const char *format) {
  size_t length = strlen(format);
  if (format[0] != '%' || length < 3 || format[length - 1] != ' ' ||
      strchr(format + 1, '%'))
    return 0;
  switch (format[length - 2]) {
  case 'd':
    return 'd';
  case 'a':
  case 'e':
  case 'f':
  case 'g':
    return 'f';
  default:
    return 0;
  }
}

int __wrap_fprintf(FILE *stream, const char *format, ...) {
  if (mode == UNKNOWN)
    start();
  va_list arguments;
  va_start(arguments, format);
  int result = 0;
  if (mode == OFF || stream != stderr) {
    result = vfprintf(stream, format, arguments);
  } else if (mode == KEEP) {
    char kind = number_format(format);
    if (kind == 'd') {
      add(va_arg(arguments, int));
    } else if (kind == 'f') {
      add(va_arg(arguments, double));
    } else if (strncmp(format, "begin dump:", 11) == 0) {
      write_array();
      snprintf(name, sizeof name, "%s", va_arg(arguments, const char *));
    } else if (strncmp(format, "\nend   dump:", 12) == 0) {
      write_array();
    } else if (format[0] != '\n' && strncmp(format, "==", 2) != 0) {
      result = vfprintf(stream, format, arguments);
    }
  }
  va_end(arguments);
  return result;
}
