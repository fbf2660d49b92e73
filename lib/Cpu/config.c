/* config.c: reads PACC_CPU_* from the environment. */
#include "config.h"

#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 256 };

/* The number in variable `name`, or `value` where it is unset or empty. With
 * `units`, K, M and G multiply by powers of 1024. */
static int read_number(const char *name, int units, uint64_t limit,
                       uint64_t *value) {
  const char *text = getenv(name);
  if (!text || !*text)
    return 0;
  char *end;
  errno = 0;
  uint64_t number = strtoull(text, &end, 0);
  int bad = errno || end == text || *text == '-';
  unsigned shift = 0;
  if (units && *end) {
    shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    bad |= !shift;
    end++;
  }
  bad |= *end != 0 || number > (UINT64_MAX >> shift);
  if (bad)
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_VALUE,
                         "%s=%s is not a whole number%s", name, text,
                         units ? " of bytes (with K, M or G)" : "");
  number <<= shift;
  if (number > limit)
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_VALUE,
                         "%s=%s is more than the largest value, %llu", name,
                         text, (unsigned long long)limit);
  *value = number;
  return 0;
}

static uint64_t host_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 1ull << 32;
}

int pacc_cpu_config_read(struct pacc_cpu_config *config) {
  uint64_t seed = 0, threads = 1, check = 1, memory = host_memory();
  int status = read_number("PACC_CPU_SEED", 0, UINT64_MAX, &seed);
  if (!status)
    status = read_number("PACC_CPU_THREADS", 0, MAX_THREADS, &threads);
  if (!status)
    status = read_number("PACC_CPU_CHECK", 0, 1, &check);
  if (!status)
    status = read_number("PACC_CPU_MEMORY", 1, UINT64_MAX, &memory);
  if (status)
    return status;
  if (threads == 0) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    threads = cores < 1             ? 1
              : cores > MAX_THREADS ? MAX_THREADS
                                    : (uint64_t)cores;
  }
  *config = (struct pacc_cpu_config){.seed = seed,
                                     .threads = (uint32_t)threads,
                                     .check = (int)check,
                                     .memory = memory};
  return 0;
}
