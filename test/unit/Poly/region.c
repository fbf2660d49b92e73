/* region.c: reads and writes regions as text. */
#include "region.h"

#include "support.h"

#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <stdlib.h>
#include <string.h>

enum key {
  SCHEDULE,
  CONTEXT,
  SIZES,
  EXPECTED,
  READ,
  MAY_WRITE,
  MUST_WRITE,
  LOCAL_READ,
  LOCAL_WRITE,
  REDUCE,
  N_KEYS
};

static const char *const NAMES[N_KEYS] = {
    "schedule",  "context",    "sizes",      "expected",    "read",
    "may_write", "must_write", "local_read", "local_write", "reduce"};

static char message[256];

static int key_of(const char *line, size_t length) {
  for (int key = 0; key < N_KEYS; ++key)
    if (strlen(NAMES[key]) == length && !memcmp(NAMES[key], line, length))
      return key;
  return -1;
}

/* Splits `text` into its entries; value[] strings are to be freed. */
static const char *split(const char *text, char *value[N_KEYS]) {
  int key = -1;
  for (int number = 1; *text; ++number) {
    size_t length = strcspn(text, "\n");
    const char *line = text;
    text += length + (text[length] == '\n');
    if (length == 0 || line[0] == '#')
      continue;
    if (line[0] != ' ' && line[0] != '\t') {
      size_t name = strcspn(line, ":");
      key = name < length ? key_of(line, name) : -1;
      if (key < 0 || value[key]) {
        snprintf(message, sizeof(message), "line %d: %s", number,
                 key < 0 ? "not one of the keys" : "a second time");
        return message;
      }
      line += name + 1;
      length -= name + 1;
    }
    if (key < 0)
      return "the first line belongs to no key";
    size_t old = value[key] ? strlen(value[key]) : 0;
    value[key] = must(realloc(value[key], old + length + 2));
    memcpy(value[key] + old, line, length);
    /* isl takes no line break inside of a quoted string. */
    memcpy(value[key] + old + length, " ", 2);
  }
  return NULL;
}

static __isl_give isl_union_map *relation(isl_ctx *ctx, const char *text) {
  return isl_union_map_read_from_str(ctx, text ? text : "{ }");
}

const char *region_parse(struct pacc_scop *scop, isl_ctx *ctx,
                         const char *text) {
  char *value[N_KEYS] = {0};
  *scop = (struct pacc_scop){0};
  const char *problem = split(text, value);
  if (!problem && !value[SCHEDULE])
    problem = "there is no schedule";
  if (!problem) {
    scop->schedule = isl_schedule_read_from_str(ctx, value[SCHEDULE]);
    scop->context =
        isl_set_read_from_str(ctx, value[CONTEXT] ? value[CONTEXT] : "{ : }");
    if (value[SIZES])
      scop->sizes = isl_set_read_from_str(ctx, value[SIZES]);
    if (value[EXPECTED])
      scop->expected = isl_set_read_from_str(ctx, value[EXPECTED]);
    scop->read = relation(ctx, value[READ]);
    scop->must_write = relation(ctx, value[MUST_WRITE]);
    scop->may_write =
        relation(ctx, value[MAY_WRITE] ? value[MAY_WRITE] : value[MUST_WRITE]);
    scop->local_read = relation(ctx, value[LOCAL_READ]);
    scop->local_write = relation(ctx, value[LOCAL_WRITE]);
    scop->reduce = relation(ctx, value[REDUCE]);
    if (!scop->schedule || !scop->context || !scop->read ||
        (value[SIZES] && !scop->sizes) ||
        (value[EXPECTED] && !scop->expected) || !scop->may_write ||
        !scop->must_write || !scop->local_read || !scop->local_write ||
        !scop->reduce)
      problem = isl_ctx_last_error_msg(ctx);
    else if (isl_union_map_is_subset(scop->must_write, scop->may_write) !=
             isl_bool_true)
      problem = "must_write is no subset of may_write";
  }
  /* As the front end has it: the context knows all parameters, and accesses
   * are those of instances. */
  if (!problem) {
    isl_union_set *domain = isl_schedule_get_domain(scop->schedule);
    scop->context =
        isl_set_align_params(scop->context, isl_union_set_get_space(domain));
    isl_union_map **relations[] = {&scop->read,        &scop->may_write,
                                   &scop->must_write,  &scop->local_read,
                                   &scop->local_write, &scop->reduce};
    for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); ++i)
      *relations[i] = isl_union_map_intersect_domain(
          *relations[i], isl_union_set_copy(domain));
    isl_union_set_free(domain);
  }
  for (int key = 0; key < N_KEYS; ++key)
    free(value[key]);
  if (problem)
    pacc_scop_clear(scop);
  return problem;
}

char *region_file(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file)
    fail_msg("cannot open %s", path);
  char *text = NULL;
  size_t size = 0;
  FILE *copy = must(open_memstream(&text, &size));
  for (int c; (c = getc(file)) != EOF;)
    putc(c, copy);
  fclose(file);
  fclose(copy);
  return must(text);
}

static void print_text(FILE *out, enum key key, char *text) {
  fprintf(out, "%s: %s\n", NAMES[key], text ? text : "(none)");
  free(text);
}

void region_print(FILE *out, const struct pacc_scop *scop) {
  print_text(out, SCHEDULE, isl_schedule_to_str(scop->schedule));
  print_text(out, CONTEXT, isl_set_to_str(scop->context));
  if (scop->sizes)
    print_text(out, SIZES, isl_set_to_str(scop->sizes));
  if (scop->expected)
    print_text(out, EXPECTED, isl_set_to_str(scop->expected));
  print_text(out, READ, isl_union_map_to_str(scop->read));
  print_text(out, MAY_WRITE, isl_union_map_to_str(scop->may_write));
  print_text(out, MUST_WRITE, isl_union_map_to_str(scop->must_write));
  print_text(out, LOCAL_READ, isl_union_map_to_str(scop->local_read));
  print_text(out, LOCAL_WRITE, isl_union_map_to_str(scop->local_write));
  print_text(out, REDUCE, isl_union_map_to_str(scop->reduce));
}

/* Moves what accesses `scalars` from *from to *to. */
static void move(isl_union_map **to, isl_union_map **from,
                 __isl_keep isl_union_set *scalars) {
  isl_union_map *moved = isl_union_map_intersect_range(
      isl_union_map_copy(*from), isl_union_set_copy(scalars));
  *from = isl_union_map_subtract(*from, isl_union_map_copy(moved));
  *to = isl_union_map_union(*to, moved);
}

void region_demote(struct pacc_scop *scop, __isl_take isl_union_set *scalars) {
  scalars = isl_union_set_universe(scalars);
  isl_union_map *written = isl_union_map_intersect_range(
      isl_union_map_copy(scop->local_write), isl_union_set_copy(scalars));
  scop->may_write = isl_union_map_union(scop->may_write, written);
  move(&scop->must_write, &scop->local_write, scalars);
  move(&scop->read, &scop->local_read, scalars);
  isl_union_set_free(scalars);
}
