/* Addresses as values: stored, loaded and compared. On the device they would
 * be those of another memory, so such loops stay with the host.
 * RUN: %same --regions 0 %t %s
 */
#include "Inputs/show.h"

enum { N = 100 };
static double a[N], b[N];
static double *p[N];
static uintptr_t number[N];
static int inside[N];

APART static void store(int n) {
  for (int i = 0; i < n; i++)
    p[i] = &a[(i * 7) % N];
}

APART static void follow(int n) {
  for (int i = 0; i < n; i++)
    *p[i] += 1.0;
}

APART static void numbers(int n, double *x) {
  for (int i = 0; i < n; i++)
    number[i] = (uintptr_t)&x[i];
}

APART static void compare(int n, double *limit) {
  for (int i = 0; i < n; i++)
    inside[i] = &a[i] < limit;
}

/* Addresses of arrays of the loop, which are used after it only. */
APART static double sum_at(uintptr_t first, uintptr_t second) {
  return ((double *)first)[2] + ((double *)second)[3];
}

APART static double escape(double **rows) {
  double sum = 0.0;
  for (int i = 0; i < N; i++) {
    rows[0][i] = i % 11;
    rows[1][i] = 1.0;
  }
  uintptr_t first = (uintptr_t)rows[0], second = (uintptr_t)rows[1];
  for (int i = 0; i < 2; i++)
    sum += sum_at(first, second);
  return sum;
}

struct job {
  int number;
  double *from, *to;
};

APART static void hand_out(struct job *jobs, int n, double **rows) {
  for (int i = 0; i < N; i++)
    rows[1][i] = rows[0][i] + 1.0;
  for (int i = 0; i < n; i++)
    jobs[i] = (struct job){i, rows[0], rows[1]};
}

int main(void) {
  FILL(a);
  int n = opaque(N);
  store(n);
  follow(n);
  numbers(n, a);
  compare(n, a + n / 2);
  for (int i = 0; i < N; i++)
    number[i] -= (uintptr_t)a;
  double *rows[2] = {a, b};
  double sum[] = {escape(rows)};
  struct job jobs[3];
  hand_out(jobs, 3, rows);
  for (int i = 0; i < 3; i++)
    inside[i] = jobs[i].from == rows[0] && jobs[i].to == rows[1];
  SHOW(sum);
  SHOW(a);
  SHOW(b);
  SHOW(number);
  SHOW(inside);
  return 0;
}
