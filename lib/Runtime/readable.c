/* readable.c: may a piece of memory be read at all? */
#include "copy_private.h"

#include <inttypes.h>
#include <stdio.h>

/* The kernel lists mappings in ascending order. */
bool pacc_memory_readable(const void *from, uint64_t size) {
  uint64_t at = (uintptr_t)from, end;
  if (__builtin_add_overflow(at, size, &end))
    return false;
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return false;
  char line[512];
  bool starts_line = true;
  while (at < end && fgets(line, sizeof line, maps)) {
    uint64_t first, last;
    char readable;
    bool whole = starts_line;
    /* A long path may take several pieces. */
    starts_line = false;
    for (const char *c = line; *c; c++)
      starts_line = *c == '\n';
    if (!whole ||
        sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &first, &last, &readable) !=
            3 ||
        last <= at)
      continue;
    if (first > at || readable != 'r')
      break;
    at = last;
  }
  fclose(maps);
  return at >= end;
}
