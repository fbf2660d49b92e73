/* launch.c: ids, parameters, variables and shared memory. */
#include "device.h"

/* Notes all twelve ids at the thread's place in the grid. */
KERNEL ids(uint32_t (*out)[12]) {
  uint64_t block = (uint64_t)(CTA_Z * NCTA_Y + CTA_Y) * NCTA_X + CTA_X;
  uint32_t thread = (TID_Z * NTID_Y + TID_Y) * NTID_X + TID_X;
  uint32_t *to = out[block * NTID_X * NTID_Y * NTID_Z + thread];
  uint32_t ids[12] = {TID_X,  TID_Y,  TID_Z,  CTA_X,  CTA_Y,  CTA_Z,
                      NTID_X, NTID_Y, NTID_Z, NCTA_X, NCTA_Y, NCTA_Z};
  for (int i = 0; i < 12; i++)
    to[i] = ids[i];
}

/* The same through a function that is not inlined. */
static __attribute__((noinline)) uint32_t place(void) { return GLOBAL_X; }
KERNEL ids_in_function(uint32_t *out) {
  out[GLOBAL_X] = place() + 1000 * TID_X;
}

struct mixed {
  char c;
  double d;
  short s[3];
  float f;
};
struct results {
  double d[8];
  int64_t i[8];
};

KERNEL params(char c, struct results *out, _Bool yes, double d, short s,
              float f, struct mixed m, uint64_t l, _Bool no) {
  out->i[0] = c;
  out->i[1] = yes;
  out->d[0] = d;
  out->i[2] = s;
  out->d[1] = f;
  out->i[3] = m.c;
  out->d[2] = m.d;
  out->i[4] = m.s[2];
  out->d[3] = m.f;
  out->i[5] = (int64_t)l;
  out->i[6] = no;
}

/* A parameter passed by value is the thread's own. */
struct numbers {
  int value[16];
};
KERNEL changed_param(int *out, struct numbers n) {
  for (int i = 0; i < 16; i++)
    n.value[(i + (int)TID_X) % 16] += i;
  out[GLOBAL_X] = n.value[0];
}

static GLOBAL int counter = 7;
static const
    __attribute__((address_space(4))) double table[4] = {1.5, 2.5, 3.5, 4.5};
static GLOBAL int *GLOBAL self = &counter;
KERNEL variables(double *out) {
  if (TID_X == 0) {
    counter += 1;
    out[0] = counter;
    out[1] = table[CTA_X & 3];
    out[2] = self == &counter;
  }
}

/* Two kernels with shared memory of their own, and one function's. */
static SHARED double first[32];
static SHARED char second[100];
static SHARED int common[8];
static __attribute__((noinline)) void write_common(int value) {
  common[TID_X % 8] = value;
}
KERNEL shared_first(double *out) {
  first[TID_X] = TID_X;
  write_common(3);
  __syncthreads();
  out[TID_X] = first[31 - TID_X] + common[TID_X % 8];
}
KERNEL shared_second(double *out) {
  second[TID_X] = (char)TID_X;
  write_common(5);
  __syncthreads();
  out[TID_X] = second[31 - TID_X] + common[TID_X % 8];
}

extern SHARED double dynamic[];
static SHARED int offset[3];
KERNEL shared_dynamic(double *out) {
  dynamic[TID_X] = TID_X;
  if (TID_X == 0)
    offset[2] = 100;
  __syncthreads();
  out[TID_X] = dynamic[NTID_X - 1 - TID_X] + offset[2];
}

/* Memory that nobody wrote. */
KERNEL shared_garbage(double *out) { out[TID_X] = first[TID_X]; }

KERNEL add(double *a, const double *b, int n) {
  int i = (int)GLOBAL_X;
  if (i < n)
    a[i] += b[i];
}

KERNEL fill_bytes(unsigned char *a, uint64_t n) {
  __builtin_memset(a, 0x5a, n);
}
