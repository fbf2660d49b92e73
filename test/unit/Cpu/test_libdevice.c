/* test_libdevice.c: libdevice's own code on the host: its assembly, rounding
 * and conversion intrinsics. Its results are near the host library's, within
 * the errors that the CUDA C++ Programming Guide allows. */
#include "support.h"

#include <math.h>

enum { N = 400 };

/* Allowed errors in units in the last place, for float and double. */
struct function {
  const char *name;
  double (*d)(double);
  float (*f)(float);
  double low, high; /* range of arguments */
  int ulps, ulps_f;
};
#define F(name, low, high, ulps, ulps_f)                                       \
  {#name, name, name##f, low, high, ulps, ulps_f}

static const struct function functions[] = {
    F(sqrt, 0, 1e6, 0, 0),       F(fabs, -9, 9, 0, 0),
    F(floor, -9, 9, 0, 0),       F(ceil, -9, 9, 0, 0),
    F(trunc, -9, 9, 0, 0),       F(rint, -9, 9, 0, 0),
    F(nearbyint, -9, 9, 0, 0),   F(round, -9, 9, 0, 0),
    F(exp, -80, 80, 1, 2),       F(exp2, -80, 80, 1, 2),
    F(exp10, -30, 30, 1, 3),     F(expm1, -9, 9, 1, 2),
    F(log, 1e-9, 1e9, 1, 2),     F(log2, 1e-9, 1e9, 1, 2),
    F(log10, 1e-9, 1e9, 1, 3),   F(log1p, -0.9, 1e9, 1, 2),
    F(cbrt, -1e9, 1e9, 1, 2),    F(sin, -1e6, 1e6, 2, 3),
    F(cos, -1e6, 1e6, 2, 3),     F(tan, -1e3, 1e3, 2, 5),
    F(asin, -1, 1, 2, 3),        F(acos, -1, 1, 2, 3),
    F(atan, -1e3, 1e3, 2, 3),    F(sinh, -80, 80, 2, 4),
    F(cosh, -80, 80, 2, 3),      F(tanh, -9, 9, 2, 3),
    F(asinh, -1e9, 1e9, 3, 4),   F(acosh, 1, 1e9, 3, 5),
    F(atanh, -0.99, 0.99, 3, 4), F(erf, -5, 5, 2, 3),
    F(erfc, -5, 9, 5, 5),        F(lgamma, 3, 1e3, 5, 7),
    F(tgamma, 0.1, 30, 10, 6),
};

static double ulps_between(double got, double want, double ulp) {
  return got == want ? 0 : fabs(got - want) / ulp;
}

static void check_function(struct gpu *gpu, const struct function *function) {
  double d[N], d_in[N];
  float s[N], s_in[N];
  char kernel[32];
  int n = N;
  for (int i = 0; i < N; i++) {
    double span = function->high - function->low;
    d_in[i] = function->low + span * (i + 0.37) / (double)N;
    s_in[i] = (float)d_in[i];
  }
  uint64_t a = gpu_upload(gpu, d_in, sizeof(d_in));
  uint64_t b = gpu_upload(gpu, s_in, sizeof(s_in));
  snprintf(kernel, sizeof(kernel), "unary_%s", function->name);
  RUN(gpu, kernel, dim(4), dim(100), 0, PARAMS(P(a), P(b), P(n)));
  gpu_download(gpu, d, a, sizeof(d));
  gpu_download(gpu, s, b, sizeof(s));
  for (int i = 0; i < N; i++) {
    double want = function->d(d_in[i]);
    double ulp = nextafter(fabs(want), INFINITY) - fabs(want);
    if (!(ulps_between(d[i], want, ulp) <= function->ulps + 1))
      fail_msg("%s(%a): %a instead of %a", function->name, d_in[i], d[i], want);
    float want_f = function->f(s_in[i]);
    double ulp_f =
        (double)(nextafterf(fabsf(want_f), INFINITY) - fabsf(want_f));
    if (!(ulps_between((double)s[i], (double)want_f, ulp_f) <=
          function->ulps_f + 1))
      fail_msg("%sf(%a): %a instead of %a", function->name, (double)s_in[i],
               (double)s[i], (double)want_f);
  }
  gpu->backend->free(gpu->device, a);
  gpu->backend->free(gpu->device, b);
}

static void test_functions(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("libdevice", 1, 1, 1);
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
    check_function(&gpu, &functions[i]);
  gpu_close(&gpu);
}

static void test_pow(void **state) {
  (void)state;
  struct gpu gpu = gpu_open("libdevice", 0, 1, 1);
  enum { PAIRS = 32 };
  double d[PAIRS], want[PAIRS];
  float s[PAIRS];
  int n = PAIRS;
  for (int i = 0; i < PAIRS; i++) {
    d[i] = 0.3 + 0.71 * i;
    s[i] = (float)d[i];
  }
  memcpy(want, d, sizeof(d));
  for (int i = 0; i < PAIRS; i++) /* in place, as the kernel does it */
    want[i] = pow(want[i], want[PAIRS - 1 - i]);
  uint64_t a = gpu_upload(&gpu, d, sizeof(d)),
           b = gpu_upload(&gpu, s, sizeof(s));
  RUN(&gpu, "binary_pow", dim(1), dim(PAIRS), 0, PARAMS(P(a), P(b), P(n)));
  gpu_download(&gpu, d, a, sizeof(d));
  for (int i = 0; i < PAIRS / 2; i++)
    assert_true(fabs(d[i] / want[i] - 1) < 1e-15);
  gpu_close(&gpu);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_pow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
