/* device_print.c: printf in kernels. Arguments come in a block, each at its
 * natural alignment: int and smaller in 4 bytes, all others in 8. Conversions
 * are handed to the host's printf one by one. */
#include "device_private.h"

#include <stdio.h>
#include <string.h>

/* text     what is to be written, cut off at its end as CUDA does with what
 *          does not fit into its buffer
 * written  counts conversions, the result of printf in kernels */
struct printer {
  const unsigned char *arguments;
  size_t offset;
  char text[4096];
  size_t length;
  int n_conversions;
};

static uint64_t next_argument(struct printer *p, size_t size) {
  uint64_t value = 0;
  p->offset = (p->offset + size - 1) / size * size;
  memcpy(&value, p->arguments + p->offset, size);
  p->offset += size;
  return value;
}

static double next_double(struct printer *p) {
  uint64_t bits = next_argument(p, sizeof(double));
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static void append(struct printer *p, const char *from, size_t length) {
  size_t room = sizeof(p->text) - p->length;
  if (length > room)
    length = room;
  memcpy(p->text + p->length, from, length);
  p->length += length;
}

/* A conversion as its text says: flags, width, precision, length modifiers. */
struct conversion {
  char format[64];
  size_t length;
  int is_long;
};

static void add_char(struct conversion *c, char letter) {
  if (c->length < sizeof(c->format) - 1)
    c->format[c->length++] = letter;
}

/* Digits, or an argument for *. */
static const char *read_number(struct printer *p, struct conversion *c,
                               const char *at) {
  char digits[16];
  if (*at == '*') {
    int n = snprintf(digits, sizeof(digits), "%d",
                     (int)(uint32_t)next_argument(p, sizeof(int)));
    for (int i = 0; i < n; i++)
      add_char(c, digits[i]);
    return at + 1;
  }
  while (*at >= '0' && *at <= '9')
    add_char(c, *at++);
  return at;
}

/* Everything up to the letter of the conversion, without length modifiers. */
static const char *read_conversion(struct printer *p, struct conversion *c,
                                   const char *at) {
  add_char(c, '%');
  while (*at && strchr("-+ #0", *at))
    add_char(c, *at++);
  at = read_number(p, c, at);
  if (*at == '.') {
    add_char(c, *at++);
    at = read_number(p, c, at);
  }
  for (; *at && strchr("hlqjzt", *at); at++)
    c->is_long |= *at != 'h';
  return at;
}

/* The host's printf gets its format from here, where the letter fits the type
 * of the argument. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
static void print_conversion(struct printer *p, struct conversion *c,
                             char letter) {
  char text[512];
  int n;
  p->n_conversions++;
  if (strchr("diuxXo", letter)) {
    uint64_t value = next_argument(p, c->is_long ? 8 : 4);
    if (!c->is_long && strchr("di", letter))
      value = (uint64_t)(int64_t)(int32_t)value;
    add_char(c, 'l');
    add_char(c, 'l');
    add_char(c, letter);
    n = snprintf(text, sizeof(text), c->format, (unsigned long long)value);
  } else if (letter == 'c') {
    add_char(c, letter);
    n = snprintf(text, sizeof(text), c->format, (int)next_argument(p, 4));
  } else if (strchr("fFeEgGaA", letter)) {
    add_char(c, letter);
    n = snprintf(text, sizeof(text), c->format, next_double(p));
  } else {
    add_char(c, letter);
    void *pointer = (void *)(uintptr_t)next_argument(p, 8);
    n = snprintf(text, sizeof(text), c->format, pointer);
  }
  if (n > 0)
    append(p, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}
#pragma clang diagnostic pop

int pacc_dev_vprintf(const char *format, const void *arguments) {
  struct printer p = {.arguments = arguments};
  for (const char *at = format; *at;) {
    size_t plain = strcspn(at, "%");
    append(&p, at, plain);
    at += plain;
    if (!*at)
      break;
    if (at[1] == '%') {
      append(&p, at, 1);
      at += 2;
      continue;
    }
    struct conversion c = {0};
    at = read_conversion(&p, &c, at + 1);
    if (!*at || !strchr("diuxXocfFeEgGaAsp", *at))
      return -1; /* as CUDA's: nothing is written */
    print_conversion(&p, &c, *at++);
  }
  fwrite(p.text, 1, p.length, stdout);
  return p.n_conversions;
}
