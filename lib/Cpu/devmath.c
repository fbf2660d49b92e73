/* devmath.c: PTX's floating-point operations with a rounding mode, flushing
 * and saturation, its approximations, and its conversions. Compiled with
 * -frounding-math: the operations must stay between the changes of the mode.
 *
 * Approximate operations give the host library's value, which is closer than
 * PTX asks for. */
#include "devfn_private.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

#ifdef __clang__ /* GCC has the option alone */
#pragma STDC FENV_ACCESS ON
#endif

enum { MODE_rn = FE_TONEAREST, MODE_rz = FE_TOWARDZERO };
enum { MODE_rm = FE_DOWNWARD, MODE_rp = FE_UPWARD };

/* Sets a rounding mode and returns the one to go back to. */
static int mode_enter(int mode) {
  int old = fegetround();
  if (old != mode)
    fesetround(mode);
  return old;
}

static void mode_leave(int mode, int old) {
  if (old != mode)
    fesetround(old);
}

/* Subnormal numbers become zero, with their sign. */
static float ftz(float x) {
  return fabsf(x) < FLT_MIN ? copysignf(0.0f, x) : x;
}

static float sat(float x) {
  return isnan(x) || x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x;
}

#define ROUNDED(type, mode, expression)                                        \
  int old = mode_enter(MODE_##mode);                                           \
  type result = (type)(expression);                                            \
  mode_leave(MODE_##mode, old);                                                \
  return result;

#define BINARY(name, mode, op)                                                 \
  float pacc_dev_##name##_##mode##_f(float a, float b) {                       \
    ROUNDED(float, mode, a op b)                                               \
  }                                                                            \
  double pacc_dev_##name##_##mode##_d(double a, double b) {                    \
    ROUNDED(double, mode, a op b)                                              \
  }                                                                            \
  float pacc_dev_##name##_##mode##_ftz_f(float a, float b) {                   \
    return ftz(pacc_dev_##name##_##mode##_f(ftz(a), ftz(b)));                  \
  }

#define UNARY(name, mode, of_float, of_double)                                 \
  float pacc_dev_##name##_##mode##_f(float a) {                                \
    ROUNDED(float, mode, of_float)                                             \
  }                                                                            \
  double pacc_dev_##name##_##mode##_d(double a) {                              \
    ROUNDED(double, mode, of_double)                                           \
  }                                                                            \
  float pacc_dev_##name##_##mode##_ftz_f(float a) {                            \
    return ftz(pacc_dev_##name##_##mode##_f(ftz(a)));                          \
  }

#define TWO31 2147483648.0
#define TWO32 4294967296.0
#define TWO63 9223372036854775808.0
#define TWO64 18446744073709551616.0

/* Results outside the integer's range saturate. NaN gives 0, but the top bit
 * alone where 64 bits are converted from or to (PTX ISA, cvt). */
#define INTEGERS(mode, integral)                                               \
  int32_t pacc_dev_d2i_##mode(double x) {                                      \
    double r = integral(x);                                                    \
    return isnan(r) || r < -TWO31 ? INT32_MIN                                  \
           : r >= TWO31           ? INT32_MAX                                  \
                                  : (int32_t)r;                                \
  }                                                                            \
  uint32_t pacc_dev_d2ui_##mode(double x) {                                    \
    double r = integral(x);                                                    \
    return isnan(r)     ? 1u << 31                                             \
           : r < 0      ? 0                                                    \
           : r >= TWO32 ? UINT32_MAX                                           \
                        : (uint32_t)r;                                         \
  }                                                                            \
  int64_t pacc_dev_d2ll_##mode(double x) {                                     \
    double r = integral(x);                                                    \
    return isnan(r) || r < -TWO63 ? INT64_MIN                                  \
           : r >= TWO63           ? INT64_MAX                                  \
                                  : (int64_t)r;                                \
  }                                                                            \
  uint64_t pacc_dev_d2ull_##mode(double x) {                                   \
    double r = integral(x);                                                    \
    return isnan(r)     ? 1ull << 63                                           \
           : r < 0      ? 0                                                    \
           : r >= TWO64 ? UINT64_MAX                                           \
                        : (uint64_t)r;                                         \
  }                                                                            \
  int32_t pacc_dev_f2i_##mode(float x) {                                       \
    return isnan(x) ? 0 : pacc_dev_d2i_##mode((double)x);                      \
  }                                                                            \
  uint32_t pacc_dev_f2ui_##mode(float x) {                                     \
    return isnan(x) ? 0 : pacc_dev_d2ui_##mode((double)x);                     \
  }                                                                            \
  int64_t pacc_dev_f2ll_##mode(float x) {                                      \
    return pacc_dev_d2ll_##mode((double)x);                                    \
  }                                                                            \
  uint64_t pacc_dev_f2ull_##mode(float x) {                                    \
    return pacc_dev_d2ull_##mode((double)x);                                   \
  }                                                                            \
  int32_t pacc_dev_f2i_##mode##_ftz(float x) {                                 \
    return pacc_dev_f2i_##mode(ftz(x));                                        \
  }                                                                            \
  uint32_t pacc_dev_f2ui_##mode##_ftz(float x) {                               \
    return pacc_dev_f2ui_##mode(ftz(x));                                       \
  }                                                                            \
  int64_t pacc_dev_f2ll_##mode##_ftz(float x) {                                \
    return pacc_dev_f2ll_##mode(ftz(x));                                       \
  }                                                                            \
  uint64_t pacc_dev_f2ull_##mode##_ftz(float x) {                              \
    return pacc_dev_f2ull_##mode(ftz(x));                                      \
  }

#define CONVERSION(name, mode, to, from)                                       \
  to pacc_dev_##name##_##mode(from x) { ROUNDED(to, mode, x) }

#define MODE(mode, integral)                                                   \
  BINARY(add, mode, +)                                                         \
  BINARY(sub, mode, -)                                                         \
  BINARY(mul, mode, *)                                                         \
  BINARY(div, mode, /)                                                         \
  UNARY(rcp, mode, 1.0f / a, 1.0 / a)                                          \
  UNARY(sqrt, mode, sqrtf(a), sqrt(a))                                         \
  float pacc_dev_add_##mode##_sat_f(float a, float b) {                        \
    return sat(pacc_dev_add_##mode##_f(a, b));                                 \
  }                                                                            \
  float pacc_dev_add_##mode##_ftz_sat_f(float a, float b) {                    \
    return sat(pacc_dev_add_##mode##_ftz_f(a, b));                             \
  }                                                                            \
  float pacc_dev_fma_##mode##_f(float a, float b, float c) {                   \
    ROUNDED(float, mode, fmaf(a, b, c))                                        \
  }                                                                            \
  double pacc_dev_fma_##mode##_d(double a, double b, double c) {               \
    ROUNDED(double, mode, fma(a, b, c))                                        \
  }                                                                            \
  float pacc_dev_fma_##mode##_ftz_f(float a, float b, float c) {               \
    return ftz(pacc_dev_fma_##mode##_f(ftz(a), ftz(b), ftz(c)));               \
  }                                                                            \
  float pacc_dev_fma_##mode##_sat_f(float a, float b, float c) {               \
    return sat(pacc_dev_fma_##mode##_f(a, b, c));                              \
  }                                                                            \
  float pacc_dev_fma_##mode##_ftz_sat_f(float a, float b, float c) {           \
    return sat(pacc_dev_fma_##mode##_ftz_f(a, b, c));                          \
  }                                                                            \
  CONVERSION(d2f, mode, float, double)                                         \
  float pacc_dev_d2f_##mode##_ftz(double x) {                                  \
    return ftz(pacc_dev_d2f_##mode(x));                                        \
  }                                                                            \
  CONVERSION(i2d, mode, double, int32_t)                                       \
  CONVERSION(ui2d, mode, double, uint32_t)                                     \
  CONVERSION(i2f, mode, float, int32_t)                                        \
  CONVERSION(ui2f, mode, float, uint32_t)                                      \
  CONVERSION(ll2d, mode, double, int64_t)                                      \
  CONVERSION(ull2d, mode, double, uint64_t)                                    \
  CONVERSION(ll2f, mode, float, int64_t)                                       \
  CONVERSION(ull2f, mode, float, uint64_t)                                     \
  INTEGERS(mode, integral)

MODE(rn, nearbyint)
MODE(rz, trunc)
MODE(rm, floor)
MODE(rp, ceil)

float pacc_dev_floor_ftz_f(float x) { return floorf(ftz(x)); }
float pacc_dev_ceil_ftz_f(float x) { return ceilf(ftz(x)); }
float pacc_dev_trunc_ftz_f(float x) { return truncf(ftz(x)); }
float pacc_dev_round_ftz_f(float x) { return nearbyintf(ftz(x)); }
float pacc_dev_saturate_f(float x) { return sat(x); }
float pacc_dev_saturate_ftz_f(float x) { return sat(ftz(x)); }
double pacc_dev_saturate_d(double x) {
  return isnan(x) || x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}
float pacc_dev_fabs_ftz_f32(float x) { return fabsf(ftz(x)); }
float pacc_dev_fmin_ftz_f(float a, float b) { return fminf(ftz(a), ftz(b)); }
float pacc_dev_fmax_ftz_f(float a, float b) { return fmaxf(ftz(a), ftz(b)); }
float pacc_dev_fmin_nan_f(float a, float b) {
  return isnan(a) || isnan(b) ? NAN : fminf(a, b);
}
float pacc_dev_fmax_nan_f(float a, float b) {
  return isnan(a) || isnan(b) ? NAN : fmaxf(a, b);
}

float pacc_dev_div_approx_f(float a, float b) { return a / b; }
float pacc_dev_div_approx_ftz_f(float a, float b) {
  return ftz(ftz(a) / ftz(b));
}
float pacc_dev_div_full(float a, float b) { return a / b; }
float pacc_dev_div_full_ftz(float a, float b) { return ftz(ftz(a) / ftz(b)); }
float pacc_dev_rcp_approx_ftz_f(float x) { return ftz(1.0f / ftz(x)); }
float pacc_dev_rsqrt_approx_f(float x) { return 1.0f / sqrtf(x); }
float pacc_dev_rsqrt_approx_ftz_f(float x) { return 1.0f / sqrtf(ftz(x)); }
float pacc_dev_sqrt_approx_f(float x) { return sqrtf(x); }
float pacc_dev_sqrt_approx_ftz_f(float x) { return sqrtf(ftz(x)); }
float pacc_dev_sin_approx_f(float x) { return sinf(x); }
float pacc_dev_sin_approx_ftz_f(float x) { return ftz(sinf(ftz(x))); }
float pacc_dev_cos_approx_f(float x) { return cosf(x); }
float pacc_dev_cos_approx_ftz_f(float x) { return ftz(cosf(ftz(x))); }
float pacc_dev_lg2_approx_f(float x) { return log2f(x); }
float pacc_dev_lg2_approx_ftz_f(float x) { return ftz(log2f(ftz(x))); }
float pacc_dev_ex2_approx_f32(float x) { return exp2f(x); }
float pacc_dev_ex2_approx_ftz_f32(float x) { return ftz(exp2f(ftz(x))); }

/* libdevice refines these from a start of about 20 bits; a better start gives
 * the same or a better end. Subnormal arguments count as zero. */
static double ftz_double(double x) {
  return fabs(x) < DBL_MIN ? copysign(0.0, x) : x;
}
double pacc_dev_rcp_approx_ftz_d(double x) {
  return ftz_double(1.0 / ftz_double(x));
}
double pacc_dev_rsqrt_approx_d(double x) { return 1.0 / sqrt(x); }
double pacc_dev_rsqrt_approx_ftz_d(double x) {
  return 1.0 / sqrt(ftz_double(x));
}

uint32_t pacc_dev_f2h_rn(float x) {
  _Float16 half = (_Float16)x;
  uint16_t bits;
  memcpy(&bits, &half, sizeof(bits));
  return bits;
}
uint32_t pacc_dev_f2h_rn_ftz(float x) { return pacc_dev_f2h_rn(ftz(x)); }

double pacc_dev_rsqrt(double x) { return 1.0 / sqrt(x); }
float pacc_dev_rsqrtf(float x) { return 1.0f / sqrtf(x); }
double pacc_dev_rcbrt(double x) { return 1.0 / cbrt(x); }
float pacc_dev_rcbrtf(float x) { return 1.0f / cbrtf(x); }

/* sin(pi x) and cos(pi x): the argument is reduced exactly to a quarter turn
 * before pi comes in. */
static double turn(double x, int quarter) {
  double r = remainder(x, 2.0);
  double q = rint(2.0 * r);
  double rest = M_PI * (r - 0.5 * q);
  switch (((int)q + quarter) & 3) {
  case 0:
    return sin(rest);
  case 1:
    return cos(rest);
  case 2:
    return -sin(rest);
  default:
    return -cos(rest);
  }
}
double pacc_dev_sinpi(double x) {
  return isfinite(x) ? turn(x, 0) : (double)NAN;
}
double pacc_dev_cospi(double x) {
  return isfinite(x) ? turn(x, 1) : (double)NAN;
}
float pacc_dev_sinpif(float x) { return (float)pacc_dev_sinpi((double)x); }
float pacc_dev_cospif(float x) { return (float)pacc_dev_cospi((double)x); }
