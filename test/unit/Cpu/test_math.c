/* test_math.c: device code gives the host's bits. This file is compiled with
 * -ffp-contract=off and -fno-builtin: its calls are the library's. */
#include "support.h"

#include <fenv.h>
#include <math.h>

#pragma STDC FENV_ACCESS ON

enum { N = 257 };

/* Numbers of all sizes, both signs, and the special ones. */
static void make_inputs(double d[N], float s[N]) {
  uint64_t x = 12345;
  for (int i = 0; i < N; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    double unit = (double)(x >> 11) / 9007199254740992.0;
    int scale = i % 40 - 30;
    d[i] = (i % 3 ? 1 : -1) * ldexp(unit, scale);
    s[i] = (float)d[i];
  }
  static const double special[] = {0.0, -0.0,  1.0,    -1.0,     2.0,
                                   0.5, 1e308, 5e-324, INFINITY, -INFINITY};
  for (int i = 0; i < 10; i++) {
    d[i] = special[i];
    s[i] = (float)special[i];
  }
}

/* Equal bits; NaN equals any NaN. */
static void assert_same(const double *got, const double *want,
                        const float *got_f, const float *want_f,
                        const char *name) {
  for (int i = 0; i < N; i++) {
    if (memcmp(&got[i], &want[i], 8) && !(isnan(got[i]) && isnan(want[i])))
      fail_msg("%s: %a instead of %a at %d", name, got[i], want[i], i);
    if (memcmp(&got_f[i], &want_f[i], 4) &&
        !(isnan(got_f[i]) && isnan(want_f[i])))
      fail_msg("%sf: %a instead of %a at %d", name, (double)got_f[i],
               (double)want_f[i], i);
  }
}

static void run_math(struct gpu *gpu, const char *kernel, double *d, float *s) {
  int n = N;
  uint64_t a = gpu_upload(gpu, d, N * sizeof(*d));
  uint64_t b = gpu_upload(gpu, s, N * sizeof(*s));
  RUN(gpu, kernel, dim(1), dim(N), 0, PARAMS(P(a), P(b), P(n)));
  gpu_download(gpu, d, a, N * sizeof(*d));
  gpu_download(gpu, s, b, N * sizeof(*s));
}

struct unary {
  const char *name;
  double (*d)(double);
  float (*f)(float);
};
struct binary {
  const char *name;
  double (*d)(double, double);
  float (*f)(float, float);
};
#define PAIR(name) {#name, name, name##f}

static void test_unary(void **state) {
  (void)state;
  static const struct unary functions[] = {
      PAIR(sqrt),  PAIR(fabs),   PAIR(floor), PAIR(ceil),      PAIR(trunc),
      PAIR(rint),  PAIR(round),  PAIR(exp),   PAIR(nearbyint), PAIR(exp2),
      PAIR(exp10), PAIR(expm1),  PAIR(log),   PAIR(log2),      PAIR(log10),
      PAIR(log1p), PAIR(cbrt),   PAIR(sin),   PAIR(cos),       PAIR(tan),
      PAIR(asin),  PAIR(acos),   PAIR(atan),  PAIR(sinh),      PAIR(cosh),
      PAIR(tanh),  PAIR(asinh),  PAIR(acosh), PAIR(atanh),     PAIR(erf),
      PAIR(erfc),  PAIR(lgamma), PAIR(tgamma)};
  struct gpu gpu = gpu_open("math", 0, 1, 1);
  for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++) {
    double d[N], want[N];
    float s[N], want_f[N];
    char kernel[32];
    make_inputs(d, s);
    for (int i = 0; i < N; i++) {
      want[i] = functions[k].d(d[i]);
      want_f[i] = functions[k].f(s[i]);
    }
    snprintf(kernel, sizeof(kernel), "unary_%s", functions[k].name);
    run_math(&gpu, kernel, d, s);
    assert_same(d, want, s, want_f, functions[k].name);
  }
  gpu_close(&gpu);
}

static void test_binary(void **state) {
  (void)state;
  static const struct binary functions[] = {
      PAIR(pow),      PAIR(atan2), PAIR(hypot), PAIR(fmod), PAIR(remainder),
      PAIR(copysign), PAIR(fdim),  PAIR(fmin),  PAIR(fmax)};
  struct gpu gpu = gpu_open("math", 0, 1, 1);
  for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++) {
    double d[N], want[N];
    float s[N], want_f[N];
    char kernel[32];
    make_inputs(d, s);
    /* In the order of the threads: the kernel works in place. */
    memcpy(want, d, sizeof(d));
    memcpy(want_f, s, sizeof(s));
    for (int i = 0; i < N; i++) {
      want[i] = functions[k].d(want[i], want[N - 1 - i]);
      want_f[i] = functions[k].f(want_f[i], want_f[N - 1 - i]);
    }
    snprintf(kernel, sizeof(kernel), "binary_%s", functions[k].name);
    run_math(&gpu, kernel, d, s);
    assert_same(d, want, s, want_f, functions[k].name);
  }
  gpu_close(&gpu);
}

static void test_other(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("math", 0, 1, 1);
  double x = 2.25, got[6];
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  RUN(&gpu, "other", dim(1), dim(1), 0, PARAMS(P(x), P(out)));
  gpu_download(&gpu, got, out, sizeof(got));
  assert_true(got[0] == 1 / 1.5);
  assert_true(fabs(got[1] - sqrt(0.5)) < 1e-15);
  assert_true(got[2] == (double)expf(2.25f));
  assert_true(got[3] == sin(2.25) && got[4] == cos(2.25) && got[5] == 1);
  gpu_close(&gpu);
}

static double in_mode(int mode, char op, double a, double b) {
  volatile double x = a, y = b, r;
  fesetround(mode);
  switch (op) {
  case '+':
    r = x + y;
    break;
  case '*':
    r = x * y;
    break;
  case '/':
    r = x / y;
    break;
  default:
    r = sqrt(x);
    break;
  }
  fesetround(FE_TONEAREST);
  return r;
}

static void test_rounding(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("math", 0, 1, 1);
  static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                               FE_UPWARD};
  double a = 2.1, b = -1e-5 / 3, got[16];
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  RUN(&gpu, "rounding", dim(1), dim(1), 0, PARAMS(P(a), P(b), P(out)));
  gpu_download(&gpu, got, out, sizeof(got));
  for (int m = 0; m < 4; m++) {
    assert_true(got[m] == in_mode(modes[m], '+', a, b));
    assert_true(got[4 + m] == in_mode(modes[m], '*', a, b));
    assert_true(got[8 + m] == in_mode(modes[m], '/', a, b));
  }
  assert_true(got[12] == in_mode(FE_DOWNWARD, 'r', a, 0));
  assert_true(got[13] == in_mode(FE_UPWARD, 'r', a, 0));
  assert_true(got[12] < got[13] && got[2] < got[3]);
  assert_true(got[14] == in_mode(FE_TOWARDZERO, '/', 1, b));
  assert_true(got[15] == fma(a, b, -(a * b)) && got[15] != 0);
  gpu_close(&gpu);
}

static void test_conversions(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("math", 0, 1, 1);
  int64_t got[12];
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  double d = -2.5;
  float f = 3.5f;
  RUN(&gpu, "conversions", dim(1), dim(1), 0, PARAMS(P(d), P(f), P(out)));
  gpu_download(&gpu, got, out, sizeof(got));
  static const int64_t want[12] = {
      -2, -2, -3, -2, 0, -2, 4, 4, 3, 3, (int32_t)0xc0040000, 0};
  assert_memory_equal(got, want, sizeof(want));
  d = 1e30; /* saturates; NaN is 0, but of or to 64 bits the top bit */
  f = NAN;
  RUN(&gpu, "conversions", dim(1), dim(1), 0, PARAMS(P(d), P(f), P(out)));
  gpu_download(&gpu, got, out, sizeof(got));
  for (int i = 0; i < 4; i++)
    assert_int_equal(got[i], INT32_MAX);
  assert_int_equal((uint32_t)got[4], UINT32_MAX);
  assert_true(got[5] == INT64_MAX);
  assert_true(got[6] == 0 && got[7] == 0 && got[8] == 0);
  assert_true(got[9] == INT64_MIN);
  gpu_close(&gpu);
}

static void test_integers(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("math", 0, 1, 1);
  uint32_t a = 0x89abcdef, b = 0x01234567, got[11];
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  RUN(&gpu, "integers", dim(1), dim(1), 0, PARAMS(P(a), P(b), P(out)));
  gpu_download(&gpu, got, out, sizeof(got));
  unsigned __int128 product =
      (unsigned __int128)(a * 0x100000001ull) * (b * 0x300000001ull);
  unsigned __int128 wide = (unsigned __int128)a << 64 | b;
  uint32_t want[11] = {
      (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32),
      (uint32_t)((uint64_t)a * b >> 32),
      (uint32_t)((uint64_t)(product >> 64) >> 3),
      0x014589cd, /* bytes 7, 5, 3, 1 of b:a */
      0xff00ef67, /* sign of byte 0, sign of byte 4, byte 0, byte 4 */
      (uint32_t)((int64_t)(int32_t)(0xffabcdef) * 0x234567),
      a - b + 5,
      20,
      0,
      0xf7b3d591,
      (uint32_t)(wide / (b + ((unsigned __int128)a << 32))),
  };
  for (int i = 0; i < 11; i++)
    assert_int_equal(got[i], want[i]);
  gpu_close(&gpu);
}

static void test_halves(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("math", 0, 1, 1);
  float f = 0.1f, got[2];
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  RUN(&gpu, "halves", dim(1), dim(1), 0, PARAMS(P(f), P(out)));
  gpu_download(&gpu, got, out, sizeof(got));
  assert_true(got[0] == 0x1.998p-4f && got[1] == 0x1.33p-2f);
  gpu_close(&gpu);
}

/* A sum is added up in its order, vectorised or not. */
static void test_ordered_sum(void **state) {
  (void)state;
  float x[1001], sum = 0, got;
  for (int i = 0; i < 1001; i++) {
    x[i] = (float)sin(i) * 1000;
    float square = x[i] * x[i];
    sum += square;
  }
  for (long check = 0; check <= 1; check++) {
    struct gpu gpu = gpu_open("math", 0, 1, check);
    int n = 1001;
    uint64_t a = gpu_upload(&gpu, x, sizeof(x)), out = gpu_alloc(&gpu, 4);
    RUN(&gpu, "ordered_sum", dim(1), dim(1), 0, PARAMS(P(a), P(n), P(out)));
    gpu_download(&gpu, &got, out, sizeof(got));
    assert_true(got == sum);
    gpu_close(&gpu);
  }
}

static void test_muladd(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("special", 0, 1, 1);
  double a = 1.1, b = 1.3, c = -1.43, got[2];
  volatile double product = a * b;
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  RUN(&gpu, "muladd", dim(1), dim(1), 0, PARAMS(P(out), P(a), P(b), P(c)));
  gpu_download(&gpu, got, out, sizeof(got));
  assert_true(product + c != fma(a, b, c));
  assert_true(got[0] == product + c && got[1] == product + c);
  gpu_close(&gpu);
}

static void test_special(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("special", 0, 1, 1);
  uint32_t x = 0x00ffffff, y = 0x12345678, got[6], reflected[2];
  uint64_t l = 3, out = gpu_alloc(&gpu, sizeof(got));
  double d = 1;
  RUN(&gpu, "assembly", dim(1), dim(1), 0,
      PARAMS(P(out), P(x), P(y), P(l), P(d)));
  gpu_download(&gpu, got, out, sizeof(got));
  uint64_t mad = (uint64_t)x * y + 7;
  assert_int_equal(got[0], 8);
  assert_int_equal(got[1], 0);
  assert_int_equal(got[2], (uint32_t)mad);
  assert_int_equal(got[3], (uint32_t)(mad >> 32));
  memcpy(&d, &got[4], sizeof(d));
  assert_true(d == 1);
  RUN(&gpu, "reflect", dim(1), dim(1), 0, PARAMS(P(out)));
  gpu_download(&gpu, reflected, out, sizeof(reflected));
  assert_int_equal(reflected[0], 10);
  assert_int_equal(reflected[1], 42);
  gpu_close(&gpu);
}

static void test_constants(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("special", 1, 1, 1);
  uint32_t got[32];
  uint64_t out = gpu_alloc(&gpu, sizeof(got));
  for (int which = 0; which < 3; which++) {
    RUN(&gpu, "constants", dim(1), dim(32), 0, PARAMS(P(out), P(which)));
    gpu_download(&gpu, got, out, sizeof(got));
    for (int i = 0; i < 32; i++)
      assert_int_equal(got[i], 3 << 8 | (which < 2 ? 1 : 2));
  }
  gpu_close(&gpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unary),       cmocka_unit_test(test_binary),
      cmocka_unit_test(test_other),       cmocka_unit_test(test_rounding),
      cmocka_unit_test(test_conversions), cmocka_unit_test(test_integers),
      cmocka_unit_test(test_halves),      cmocka_unit_test(test_ordered_sum),
      cmocka_unit_test(test_muladd),      cmocka_unit_test(test_special),
      cmocka_unit_test(test_constants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
