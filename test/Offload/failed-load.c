/* A bound that a store of its loop may change (any byte may be any type's): the
 * loads before the region fail, and the original loops are all that is left.
 * RUN: %same --regions 1 %t %s | FileCheck %s
 * CHECK: [[@LINE+16]]:{{.*}} not offloaded: a value that its bounds need can
 */
#include "Inputs/show.h"

struct point {
  unsigned short x, id;
};
struct floor {
  unsigned char order[250];
  int values;
};

static int longest;

APART static int sort(struct floor *g, const struct point *p, int rows) {
  int most = 0;
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < g->values; ++j)
      g->order[j] = (unsigned char)p[j].id;
    if (g->values > most)
      most = g->values;
  }
  return most;
}

int main(void) {
  struct point p[250];
  struct floor g = {{0}, opaque(240)};
  for (int i = 0; i < 250; i++)
    p[i] = (struct point){(unsigned short)i, (unsigned short)(7 * i)};
  printf("%d\n", sort(&g, p, opaque(3)));
  SHOW(&g.order);
  return 0;
}
