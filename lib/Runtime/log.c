/* log.c: messages on stderr (PACC_LOG) and the texts of failures. */
#include "log_private.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *pacc_env(const char *name) {
  const char *value = secure_getenv(name);
  return value && value[0] ? value : NULL;
}

uint64_t pacc_hash(const void *bytes, uint64_t size) {
  const unsigned char *at = bytes;
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t i = 0; i < size; i++)
    hash = (hash ^ at[i]) * 0x100000001b3u;
  return hash;
}

const char *pacc_bytes(uint64_t size, char text[24]) {
  static const char units[] = "KMGTPE";
  if (size < 1024) {
    snprintf(text, 24, "%d bytes", (int)size);
    return text;
  }
  double scaled = (double)size / 1024;
  unsigned unit = 0;
  while (scaled >= 1024 && unit + 1 < sizeof units - 1) {
    scaled /= 1024;
    unit++;
  }
  snprintf(text, 24, "%.1f %ciB", scaled, units[unit]);
  return text;
}

/* A driver's text may have several lines: a message has one. */
static void join_lines(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    bool line_end = *from == '\n' || *from == '\r';
    if (line_end && (to == text || to[-1] == ' '))
      continue;
    *to++ = line_end || *from == '\t' ? ' ' : *from;
  }
  while (to > text && to[-1] == ' ')
    to--;
  *to = 0;
}

static void write_line(const char *format, va_list arguments) {
  char line[PACC_MESSAGE_SIZE + 256] = "pacc: ";
  size_t used = strlen(line);
  vsnprintf(line + used, sizeof line - used - 1, format, arguments);
  join_lines(line + used);
  size_t size = strlen(line);
  line[size++] = '\n';
  /* What can't be written to stderr can't be reported either. */
  ssize_t written = write(STDERR_FILENO, line, size);
  (void)written;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

static pthread_once_t level_once = PTHREAD_ONCE_INIT;
static enum pacc_log_level current_level = PACC_LOG_ERROR;

static void read_level(void) {
  static const char *const names[] = {"error", "info", "launch"};
  const char *value = pacc_env("PACC_LOG");
  if (!value)
    return;
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(value, names[i]) == 0) {
      current_level = (enum pacc_log_level)i;
      return;
    }
  }
  say("PACC_LOG=%s is unknown: use error, info or launch; error is taken",
      value);
}

bool pacc_log_on(enum pacc_log_level level) {
  pthread_once(&level_once, read_level);
  return level <= current_level;
}

void pacc_log(enum pacc_log_level level, const char *format, ...) {
  if (!pacc_log_on(level))
    return;
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

void pacc_error_set(struct pacc_error *error,
                    const struct pacc_backend *backend, void *device,
                    int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  error->status = status;
  error->key = pacc_hash(format, strlen(format)) + (uint64_t)(int64_t)status;
  if (backend) {
    const char *detail = backend->error_detail(device);
    size_t used = strlen(error->text);
    bool has_detail = detail && detail[0];
    snprintf(error->text + used, sizeof error->text - used, ": %s%s%s%s",
             backend->error_name(status), has_detail ? " (" : "",
             has_detail ? detail : "", has_detail ? ")" : "");
  }
  join_lines(error->text);
}

const char *pacc_region_title(const struct pacc_region *region,
                              char text[PACC_TITLE_SIZE]) {
  bool placed = region->location && region->location[0];
  snprintf(text, PACC_TITLE_SIZE, "%s%s%s%s",
           region->name ? region->name : "region", placed ? " (" : "",
           placed ? region->location : "", placed ? ")" : "");
  return text;
}

/* What was last said of each region. */
static struct saying {
  const struct pacc_region *region;
  int what;
} *sayings;
static size_t n_sayings, max_sayings;
static pthread_mutex_t sayings_lock = PTHREAD_MUTEX_INITIALIZER;

/* The region's own, or a new one that says nothing; NULL without memory. */
static struct saying *saying_of(const struct pacc_region *region) {
  for (size_t i = 0; i < n_sayings; i++)
    if (sayings[i].region == region)
      return &sayings[i];
  if (n_sayings == max_sayings) {
    size_t more = max_sayings ? 2 * max_sayings : 64;
    struct saying *grown = realloc(sayings, more * sizeof *grown);
    if (!grown)
      return NULL;
    sayings = grown;
    max_sayings = more;
  }
  sayings[n_sayings] = (struct saying){region, -1};
  return &sayings[n_sayings++];
}

bool pacc_log_is_news(const struct pacc_region *region, int what) {
  pthread_mutex_lock(&sayings_lock);
  struct saying *saying = saying_of(region);
  bool is_news = saying && saying->what != what;
  if (is_news)
    saying->what = what;
  pthread_mutex_unlock(&sayings_lock);
  return is_news;
}

/* The (region, kind of error) pairs that were reported. A program that
 * produces more than this many different ones has told enough. */
enum { MAX_REPORTS = 256 };
static struct {
  const struct pacc_region *region;
  uint64_t key;
} reports[MAX_REPORTS];
static unsigned n_reports;
static pthread_mutex_t reports_lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns 1 for a new pair, 2 for the last that there is room for, else 0. */
static int remember(const struct pacc_region *region, uint64_t key) {
  int result = 0;
  pthread_mutex_lock(&reports_lock);
  unsigned i = 0;
  while (i < n_reports &&
         (reports[i].region != region || reports[i].key != key))
    i++;
  if (i == n_reports && n_reports < MAX_REPORTS) {
    reports[n_reports].region = region;
    reports[n_reports].key = key;
    n_reports++;
    result = n_reports == MAX_REPORTS ? 2 : 1;
  }
  pthread_mutex_unlock(&reports_lock);
  return result;
}

void pacc_error_report(const struct pacc_region *region,
                       const struct pacc_error *error) {
  int is_new = remember(region, error->key);
  if (!is_new)
    return;
  char title[PACC_TITLE_SIZE];
  pacc_log(PACC_LOG_ERROR, "%s: %s; the original loops run instead",
           pacc_region_title(region, title), error->text);
  if (is_new == 2)
    pacc_log(PACC_LOG_ERROR, "further failures are not reported");
}
