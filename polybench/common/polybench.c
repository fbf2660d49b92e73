/* polybench.c: memory, timer and cache flush of the benchmark kernels. */
#define _POSIX_C_SOURCE 200809L
#include "polybench.h"

#include <stdint.h>
#include <time.h>

#ifndef POLYBENCH_CACHE_SIZE_KB
#define POLYBENCH_CACHE_SIZE_KB 32770
#endif

#define PAGE_SIZE 4096

static struct timespec timer_start, timer_stop;

void *polybench_alloc_data(unsigned long long count, size_t size) {
  void *data = NULL;
  if (size != 0 && count > SIZE_MAX / size) {
    fprintf(stderr,
            "[PolyBench] %llu elements of %zu bytes are more than a "
            "program can address\n",
            count, size);
    exit(1);
  }
  if (posix_memalign(&data, PAGE_SIZE, (size_t)count * size) != 0) {
    fprintf(stderr,
            "[PolyBench] cannot allocate %llu elements of %zu bytes: "
            "choose a smaller dataset\n",
            count, size);
    exit(1);
  }
  return data;
}

void polybench_free_data(void *data) { free(data); }

void polybench_flush_cache(void) {
  size_t size = (size_t)POLYBENCH_CACHE_SIZE_KB * 1024;
  volatile unsigned char *memory = polybench_alloc_data(size, 1);
  for (size_t i = 0; i < size; i += 64)
    memory[i] = 1;
  polybench_free_data((void *)memory);
}

void polybench_timer_start(void) {
#ifndef POLYBENCH_NO_FLUSH_CACHE
  polybench_flush_cache();
#endif
  clock_gettime(CLOCK_MONOTONIC, &timer_start);
}

void polybench_timer_stop(void) { clock_gettime(CLOCK_MONOTONIC, &timer_stop); }

int polybench_runs(void) {
  const char *runs = getenv("PB_RUNS");
  const char *limit = getenv("PB_SECONDS");
  static struct timespec first;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (first.tv_sec == 0)
    first = now;
  double passed = (double)(now.tv_sec - first.tv_sec) +
                  1e-9 * (double)(now.tv_nsec - first.tv_nsec);
  if (limit && passed > 0 && passed >= atof(limit))
    return 0;
  return runs ? atoi(runs) : 1;
}

void polybench_timer_print(void) {
  double seconds = (double)(timer_stop.tv_sec - timer_start.tv_sec) +
                   1e-9 * (double)(timer_stop.tv_nsec - timer_start.tv_nsec);
  printf("%0.9f\n", seconds);
}
