/* profile_file.c: the two files of a profile.
 *
 * PACC_PROFILE is a trace in Chrome's JSON format (Perfetto reads it), with
 * one process for the program and one for the device, and in each one track
 * per host thread. PACC_PROFILE_CSV has one row per operation. "%p" in a name
 * stands for the process id.
 *
 * Rows gather in memory and are written at the end of each region, so that a
 * crash loses little. The trace's closing brackets are written with each
 * batch and overwritten by the next: the file is whole at any time. stdio is
 * not used: its buffers would be written again by a forked child.
 */
#include "log_private.h"
#include "profile_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* fd         -1: not asked for, or given up
 * tail       what must follow the last row
 * tail_size  bytes of it that stand in the file and go before the next row */
struct sink {
  const char *variable;
  const char *tail;
  bool has_rows;
  int fd;
  off_t tail_size;
  char *text;
  size_t size, capacity;
};

static struct sink trace = {
    .variable = "PACC_PROFILE", .tail = "\n]}\n", .fd = -1};
static struct sink csv = {.variable = "PACC_PROFILE_CSV", .tail = "", .fd = -1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool on;
static uint64_t origin_ns;

/* ---- text ------------------------------------------------------------- */

static void give_up(struct sink *sink, const char *what) {
  pacc_log(PACC_LOG_ERROR, "%s: %s: %s; the program goes on without",
           sink->variable, what, strerror(errno));
  if (sink->fd >= 0)
    close(sink->fd);
  sink->fd = -1;
}

static bool reserve(struct sink *sink, size_t more) {
  if (sink->capacity - sink->size >= more)
    return true;
  size_t capacity = sink->capacity * 2 + more + 4096;
  char *text = realloc(sink->text, capacity);
  if (!text) {
    give_up(sink, "out of memory");
    return false;
  }
  sink->text = text;
  sink->capacity = capacity;
  return true;
}

static void put(struct sink *sink, const char *text, size_t size) {
  if (sink->fd < 0 || !reserve(sink, size))
    return;
  memcpy(sink->text + sink->size, text, size);
  sink->size += size;
}

__attribute__((format(printf, 2, 3))) static void
print(struct sink *sink, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (size > 0)
    put(sink, text,
        (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

/* A JSON string with its quotes. */
static void put_json(struct sink *sink, const char *text) {
  put(sink, "\"", 1);
  for (; text && *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      print(sink, "\\%c", c);
    else if (c < 0x20)
      print(sink, "\\u%04x", c);
    else
      put(sink, text, 1);
  }
  put(sink, "\"", 1);
}

/* A CSV field, quoted if it must be. */
static void put_field(struct sink *sink, const char *text) {
  if (!text)
    return;
  if (!strpbrk(text, ",\"\r\n")) {
    put(sink, text, strlen(text));
    return;
  }
  put(sink, "\"", 1);
  for (; *text; text++) {
    if (*text == '"')
      put(sink, "\"", 1);
    put(sink, text, 1);
  }
  put(sink, "\"", 1);
}

/* Microseconds, whatever decimal point the program's locale has. */
static void put_us(struct sink *sink, uint64_t ns) {
  print(sink, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

/* ---- files ------------------------------------------------------------ */

static bool write_all(int fd, const char *text, size_t size) {
  while (size) {
    ssize_t written = write(fd, text, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    text += written;
    size -= (size_t)written;
  }
  return true;
}

static void flush(struct sink *sink, bool last) {
  size_t size = sink->size, tail = strlen(sink->tail);
  if (sink->fd < 0 || (!size && !last))
    return;
  if (sink->tail_size &&
      lseek(sink->fd, -sink->tail_size, SEEK_CUR) == (off_t)-1) {
    give_up(sink, "can't be written");
    return;
  }
  sink->tail_size = 0;
  /* What can't be sought in (a pipe) gets its tail at the end only. */
  bool with_tail = last || lseek(sink->fd, 0, SEEK_CUR) != (off_t)-1;
  if (with_tail)
    put(sink, sink->tail, tail);
  if (!write_all(sink->fd, sink->text, sink->size)) {
    give_up(sink, "can't be written");
    return;
  }
  if (with_tail)
    sink->tail_size = (off_t)tail;
  sink->size = 0;
}

/* Puts the process id for "%p". */
static void expand(const char *name, char path[], size_t size) {
  size_t used = 0;
  while (*name && used + 16 < size) {
    if (name[0] == '%' && name[1] == 'p') {
      used += (size_t)snprintf(path + used, size - used, "%d", (int)getpid());
      name += 2;
    } else {
      path[used++] = *name++;
    }
  }
  path[used] = 0;
}

static void open_sink(struct sink *sink) {
  char path[4096];
  const char *name = pacc_env(sink->variable);
  if (!name)
    return;
  expand(name, path, sizeof path);
  sink->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (sink->fd < 0)
    give_up(sink, path);
}

static void begin_event(const char *phase, int process, unsigned thread) {
  print(&trace, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%u",
        trace.has_rows ? ",\n" : "\n", phase, process, thread);
  trace.has_rows = true;
}

static void name_process(int process, const char *name) {
  begin_event("M", process, 0);
  print(&trace, ",\"name\":\"process_name\",\"args\":{\"name\":");
  put_json(&trace, name);
  print(&trace, "}}");
}

enum { PROGRAM = 1, DEVICE = 2 };

void pacc_profile_open(const char *device_name) {
  pthread_mutex_lock(&lock);
  origin_ns = pacc_clock();
  open_sink(&trace);
  open_sink(&csv);
  if (trace.fd >= 0) {
    print(&trace, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    name_process(PROGRAM, "program");
    name_process(DEVICE, device_name);
  }
  print(&csv, "kind,name,label,thread,start_us,duration_us,bytes,grid,block,"
              "status\n");
  flush(&trace, false);
  flush(&csv, false);
  atomic_store(&on, trace.fd >= 0 || csv.fd >= 0);
  pthread_mutex_unlock(&lock);
}

static void close_sink(struct sink *sink) {
  flush(sink, true);
  if (sink->fd >= 0 && close(sink->fd)) {
    sink->fd = -1;
    give_up(sink, "can't be written");
  }
  sink->fd = -1;
  free(sink->text);
  sink->text = NULL;
  sink->size = sink->capacity = 0;
}

void pacc_profile_close(void) {
  if (pthread_mutex_trylock(&lock))
    return;
  atomic_store(&on, false);
  close_sink(&trace);
  close_sink(&csv);
  pthread_mutex_unlock(&lock);
}

void pacc_profile_forget(void) {
  /* The lock may be held by a thread that does not exist here. */
  atomic_store(&on, false);
}

bool pacc_profile_on(void) {
  return atomic_load_explicit(&on, memory_order_relaxed);
}

/* ---- rows ------------------------------------------------------------- */

static const char *const kinds[] = {
    [PACC_PROFILE_REGION] = "region",
    [PACC_PROFILE_LOAD] = "load",
    [PACC_PROFILE_COPY_IN] = "copy-in",
    [PACC_PROFILE_KERNEL] = "kernel",
    [PACC_PROFILE_COPY_OUT] = "copy-out",
    [PACC_PROFILE_WRITE_BACK] = "write-back",
};

static void write_event(const struct pacc_profile_row *row) {
  begin_event("X", row->on_device ? DEVICE : PROGRAM, row->thread);
  print(&trace, ",\"ts\":");
  put_us(&trace, row->start_ns - origin_ns);
  print(&trace, ",\"dur\":");
  put_us(&trace, row->duration_ns);
  print(&trace, ",\"cat\":\"%s\",\"name\":", kinds[row->kind]);
  put_json(&trace, row->name);
  print(&trace, ",\"args\":{\"status\":\"%s\"", row->ok ? "ok" : "fallback");
  if (row->label && row->label[0]) {
    print(&trace, ",\"label\":");
    put_json(&trace, row->label);
  }
  if (row->bytes)
    print(&trace, ",\"bytes\":%" PRIu64, row->bytes);
  if (row->kind == PACC_PROFILE_KERNEL)
    print(&trace, ",\"grid\":\"%ux%ux%u\",\"block\":\"%ux%ux%u\"", row->grid[0],
          row->grid[1], row->grid[2], row->block[0], row->block[1],
          row->block[2]);
  print(&trace, "}}");
}

static void write_record(const struct pacc_profile_row *row) {
  print(&csv, "%s,", kinds[row->kind]);
  put_field(&csv, row->name);
  print(&csv, ",");
  put_field(&csv, row->label);
  print(&csv, ",%u,", row->thread);
  put_us(&csv, row->start_ns - origin_ns);
  print(&csv, ",");
  put_us(&csv, row->duration_ns);
  print(&csv, ",%" PRIu64 ",", row->bytes);
  if (row->kind == PACC_PROFILE_KERNEL)
    print(&csv, "%ux%ux%u,%ux%ux%u", row->grid[0], row->grid[1], row->grid[2],
          row->block[0], row->block[1], row->block[2]);
  else
    print(&csv, ",");
  print(&csv, ",%s\n", row->ok ? "ok" : "fallback");
}

void pacc_profile_write(const struct pacc_profile_row *row) {
  pthread_mutex_lock(&lock);
  if (trace.fd >= 0)
    write_event(row);
  if (csv.fd >= 0)
    write_record(row);
  pthread_mutex_unlock(&lock);
}

void pacc_profile_flush(void) {
  pthread_mutex_lock(&lock);
  flush(&trace, false);
  flush(&csv, false);
  pthread_mutex_unlock(&lock);
}
