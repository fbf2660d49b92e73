/* Tests print hashes of their data: equal hashes, equal bits. Nothing in here
 * is offloaded, so that the regions of a test are its own. */
#ifndef SHOW_H
#define SHOW_H

#include <stdint.h>
#include <stdio.h>

#define PLAIN __attribute__((noinline, optnone))
#define APART __attribute__((noinline))

PLAIN static inline void show(const char *name, const void *data, size_t size) {
  const unsigned char *bytes = (const unsigned char *)data;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  printf("%s: %016llx\n", name, (unsigned long long)hash);
}
#define SHOW(data) show(#data, data, sizeof(data))

/* A value that the compiler does not know. */
PLAIN static inline int opaque(int n) { return n; }

/* Numbers from -8 to 8. */
PLAIN static inline void fill(double *data, long n) {
  static uint64_t state = 1;
  for (long i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    data[i] = (double)((int)(state >> 33) % 4096) / 512.0;
  }
}
#define FILL(data) fill((double *)(data), sizeof(data) / sizeof(double))

#endif
