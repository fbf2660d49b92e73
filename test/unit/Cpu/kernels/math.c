/* math.c: libdevice's functions as they are declared, and PTX's operations. */
#include "device.h"

// clang-format off
#define UNARY(X)                                                               \
  X(sqrt)                                                                      \
  X(fabs)                                                                      \
  X(floor)                                                                     \
  X(ceil)                                                                      \
  X(trunc)                                                                     \
  X(rint) X(nearbyint) X(round) X(exp) X(exp2) X(exp10) X(expm1) X(log)        \
      X(log2) X(log10) X(log1p) X(cbrt) X(sin) X(cos) X(tan) X(asin) X(acos)   \
          X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf)    \
              X(erfc) X(lgamma) X(tgamma)
// clang-format on
#define BINARY(X)                                                              \
  X(pow)                                                                       \
  X(atan2) X(hypot) X(fmod) X(remainder) X(copysign) X(fmin) X(fmax) X(fdim)

#define UNARY_KERNEL(name)                                                     \
  double __nv_##name(double);                                                  \
  float __nv_##name##f(float);                                                 \
  KERNEL unary_##name(double *d, float *s, int n) {                            \
    int i = (int)GLOBAL_X;                                                     \
    if (i < n) {                                                               \
      d[i] = __nv_##name(d[i]);                                                \
      s[i] = __nv_##name##f(s[i]);                                             \
    }                                                                          \
  }
UNARY(UNARY_KERNEL)

#define BINARY_KERNEL(name)                                                    \
  double __nv_##name(double, double);                                          \
  float __nv_##name##f(float, float);                                          \
  KERNEL binary_##name(double *d, float *s, int n) {                           \
    int i = (int)GLOBAL_X;                                                     \
    if (i < n) {                                                               \
      d[i] = __nv_##name(d[i], d[n - 1 - i]);                                  \
      s[i] = __nv_##name##f(s[i], s[n - 1 - i]);                               \
    }                                                                          \
  }
BINARY(BINARY_KERNEL)

double __nv_rsqrt(double);
double __nv_sinpi(double);
float __nv_fast_expf(float);
void __nv_sincos(double, double *, double *);
int __nv_ilogb(double);
KERNEL other(double x, double *out) {
  out[0] = __nv_rsqrt(x);
  out[1] = __nv_sinpi(x);
  out[2] = (double)__nv_fast_expf((float)x);
  __nv_sincos(x, &out[3], &out[4]);
  out[5] = __nv_ilogb(x);
}

/* PTX's operations in the four rounding modes. */
KERNEL rounding(double a, double b, double *out) {
  double results[16] = {
      __nvvm_add_rn_d(a, b), __nvvm_add_rz_d(a, b),
      __nvvm_add_rm_d(a, b), __nvvm_add_rp_d(a, b),
      __nvvm_mul_rn_d(a, b), __nvvm_mul_rz_d(a, b),
      __nvvm_mul_rm_d(a, b), __nvvm_mul_rp_d(a, b),
      __nvvm_div_rn_d(a, b), __nvvm_div_rz_d(a, b),
      __nvvm_div_rm_d(a, b), __nvvm_div_rp_d(a, b),
      __nvvm_sqrt_rm_d(a),   __nvvm_sqrt_rp_d(a),
      __nvvm_rcp_rz_d(b),    __nvvm_fma_rn_d(a, b, -(a * b)),
  };
  for (int i = 0; i < 16; i++)
    out[i] = results[i];
}

KERNEL conversions(double d, float f, int64_t *out) {
  int64_t results[12] = {
      __nvvm_d2i_rn(d),  __nvvm_d2i_rz(d),
      __nvvm_d2i_rm(d),  __nvvm_d2i_rp(d),
      __nvvm_d2ui_rz(d), __nvvm_d2ll_rn(d),
      __nvvm_f2i_rn(f),  __nvvm_f2i_rp(f),
      __nvvm_f2ui_rm(f), (int64_t)__nvvm_f2ull_rz(f),
      __nvvm_d2i_hi(d),  __nvvm_d2i_lo(d),
  };
  for (int i = 0; i < 12; i++)
    out[i] = results[i];
}

KERNEL integers(uint32_t a, uint32_t b, uint32_t *out) {
  out[0] = (uint32_t)__nvvm_mulhi_i((int)a, (int)b);
  out[1] = __nvvm_mulhi_ui(a, b);
  out[2] =
      (uint32_t)(__nvvm_mulhi_ull(a * 0x100000001ull, b * 0x300000001ull) >> 3);
  out[3] = __nvvm_prmt(a, b, 0x7531);
  out[4] = __nvvm_prmt(a, b, 0x8c04);
  out[5] = (uint32_t)__nvvm_mul24_i((int)a, (int)b);
  out[6] = __nvvm_sad_ui(a, b, 5);
  out[7] = (uint32_t)__builtin_popcount(a);
  out[8] = (uint32_t)__builtin_clz(a);
  out[9] = __builtin_bitreverse32(a);
  unsigned __int128 wide = (unsigned __int128)a << 64 | b;
  out[10] = (uint32_t)(wide / (b + ((unsigned __int128)a << 32)));
}

KERNEL halves(float f, float *out) {
  _Float16 h = (_Float16)f;
  out[0] = (float)h;
  out[1] = (float)(h * (_Float16)3);
}

/* A sum in order, which nothing may change. */
KERNEL ordered_sum(const float *x, int n, float *out) {
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum += x[i] * x[i];
  *out = sum;
}
