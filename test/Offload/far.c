/* Elements more than 2 GiB from the pointer; only what is touched is copied.
 * RUN: %same --regions 1 %t %s
 */
#include "Inputs/show.h"
#include <sys/mman.h>

APART static void high(long from, long to, double *restrict x) {
  for (long i = from; i < to; i++)
    x[i + 400000000] = (double)(i - from) * 0.5;
}

int main(void) {
  size_t size = 4000u << 20;
  double *x = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (x == MAP_FAILED)
    return 1;
  long from = (long)opaque(1000) * 1000;
  high(from, from + 5000, x);
  show("x", x + from + 400000000, 5000 * sizeof *x);
  return 0;
}
