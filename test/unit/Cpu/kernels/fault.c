/* fault.c: kernels that go wrong. */
#include "device.h"

KERNEL read_at(const double *a, int64_t i, double *out) { *out = a[i]; }
KERNEL write_at(double *a, int64_t i) { a[i] = 1; }
KERNEL read_byte(const char *a, int64_t i, int *out) { *out = a[i]; }
KERNEL add_at(int *a, int64_t i) {
  __atomic_fetch_add(&a[i], 1, __ATOMIC_RELAXED);
}
KERNEL copy_at(char *a, int64_t i, int64_t n) {
  __builtin_memcpy(a + i, a, (size_t)n);
}
KERNEL fill_at(char *a, int64_t i, int64_t n) {
  __builtin_memset(a + i, 1, (size_t)n);
}

/* Thread 5 of block 3 alone is out of bounds, behind a barrier. */
KERNEL late_write(double *a, int64_t i) {
  __syncthreads();
  if (GLOBAL_X == 3 * NTID_X + 5)
    a[i] = 1;
}

/* A loop that could be vectorised. */
KERNEL fill(int *a, int n) {
  for (int i = 0; i < n; i++)
    a[i] = i;
}

KERNEL divide(int *a, int b) { a[TID_X] = 100 / (b - (int)TID_X); }
KERNEL remainder_of(int64_t *a, int64_t b) { a[0] = a[0] % b; }

static __attribute__((noinline)) int deep(int n, volatile int *sink) {
  volatile int room[256];
  room[n & 255] = n;
  *sink += room[n & 255];
  return n == 0 ? 0 : deep(n - 1, sink) + room[(n + 1) & 255];
}
KERNEL recurse(int *out, int n) { out[TID_X] = deep(n, out); }

KERNEL follow(double **pointers) { pointers[0][0] = 1; }

void __assertfail(const char *message, const char *file, unsigned line,
                  const char *function, size_t char_size)
    __attribute__((noreturn));
KERNEL check_positive(const int *a) {
  if (a[TID_X] <= 0)
    __assertfail("a > 0", "fault.c", 57, "check_positive", 1);
}

static int limits[10] = {1, 2, 3};
KERNEL read_table(int i, int *out) { *out = limits[i]; }
