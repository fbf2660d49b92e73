/* arguments.c: argument lists, response files, quoting. */
#include "arguments.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RESPONSE_DEPTH = 20 };

void pacc_fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
  fputs("polly-acc-clang: error: ", stderr);
  vfprintf(stderr, format, values);
  fputc('\n', stderr);
  va_end(values);
  exit(1);
}

void pacc_warn(const char *format, ...) {
  va_list values;
  va_start(values, format);
  fputs("polly-acc-clang: warning: ", stderr);
  vfprintf(stderr, format, values);
  fputc('\n', stderr);
  va_end(values);
}

static void *checked(void *memory) {
  if (!memory)
    pacc_fail("out of memory");
  return memory;
}

static char *format_values(const char *format, va_list values) {
  char *text = NULL;
  if (vasprintf(&text, format, values) < 0)
    text = NULL;
  return checked(text);
}

char *pacc_format(const char *format, ...) {
  va_list values;
  va_start(values, format);
  char *text = format_values(format, values);
  va_end(values);
  return text;
}

void pacc_arguments_add(struct pacc_arguments *list, const char *text) {
  if (list->count + 1 >= list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 64;
    list->items =
        checked(realloc(list->items, list->capacity * sizeof(list->items[0])));
  }
  list->items[list->count++] = text;
  list->items[list->count] = NULL;
}

void pacc_arguments_add_all(struct pacc_arguments *list,
                            const struct pacc_arguments *more) {
  for (size_t i = 0; i < more->count; i++)
    pacc_arguments_add(list, more->items[i]);
}

const char *pacc_arguments_format(struct pacc_arguments *list,
                                  const char *format, ...) {
  va_list values;
  va_start(values, format);
  const char *text = format_values(format, values);
  va_end(values);
  pacc_arguments_add(list, text);
  return text;
}

static char *read_file(const char *path) {
  enum { STEP = 65536 };
  FILE *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *text = NULL;
  size_t size = 0, got = STEP;
  while (got == STEP) {
    text = checked(realloc(text, size + STEP + 1));
    got = fread(text + size, 1, STEP, file);
    size += got;
  }
  bool bad = ferror(file);
  fclose(file);
  if (bad) {
    free(text);
    return NULL;
  }
  text[size] = '\0';
  return text;
}

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' ||
         c == '\f';
}

/* Takes the next argument off *cursor; NULL at the end. Unquotes in place: an
 * argument is never longer than its quoted text. */
static char *next_token(char **cursor) {
  char *from = *cursor;
  while (is_space(*from))
    from++;
  if (!*from)
    return NULL;
  char *token = from, *to = from;
  char quote = '\0';
  for (; *from && (quote || !is_space(*from)); from++) {
    if (*from == '\\' && quote != '\'' && from[1])
      *to++ = *++from;
    else if (quote ? *from == quote : (*from == '\'' || *from == '"'))
      quote = quote ? '\0' : *from;
    else
      *to++ = *from;
  }
  /* `to` may be `from`: look for the end of the text before cutting there. */
  *cursor = *from ? from + 1 : from;
  *to = '\0';
  return token;
}

static bool add_response(struct pacc_arguments *list, const char *path,
                         int depth) {
  if (depth > MAX_RESPONSE_DEPTH)
    pacc_fail("response files nested too deeply at '@%s'", path);
  char *text = read_file(path);
  if (!text)
    return false;
  for (char *token; (token = next_token(&text));)
    if (token[0] != '@' || !add_response(list, token + 1, depth + 1))
      pacc_arguments_add(list, token);
  return true;
}

bool pacc_arguments_add_response(struct pacc_arguments *list,
                                 const char *path) {
  return add_response(list, path, 0);
}

static bool needs_quotes(const char *text) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  return !*text || text[strspn(text, plain)];
}

static void print_quoted(const char *text, FILE *out) {
  if (!needs_quotes(text)) {
    fputs(text, out);
    return;
  }
  fputc('\'', out);
  for (; *text; text++)
    if (*text == '\'')
      fputs("'\\''", out);
    else
      fputc(*text, out);
  fputc('\'', out);
}

void pacc_arguments_print(const struct pacc_arguments *list, FILE *out) {
  for (size_t i = 0; i < list->count; i++) {
    if (i)
      fputc(' ', out);
    print_quoted(list->items[i], out);
  }
  fputc('\n', out);
}
