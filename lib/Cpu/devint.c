/* devint.c: PTX's integer and bit operations that C has no operator for. */
#include "devfn_private.h"

#include <string.h>

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

int32_t pacc_dev_d2i_lo(double x) { return (int32_t)(uint32_t)bits_of(x); }
int32_t pacc_dev_d2i_hi(double x) {
  return (int32_t)(uint32_t)(bits_of(x) >> 32);
}
double pacc_dev_lohi_i2d(int32_t low, int32_t high) {
  uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
  double x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

/* Each nibble of the selector takes a byte of b:a; its top bit spreads the
 * sign of that byte. */
uint32_t pacc_dev_prmt(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; i++) {
    uint32_t nibble = selector >> (4 * i) & 15;
    uint32_t byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 255;
    if (nibble & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

int32_t pacc_dev_mulhi_i(int32_t a, int32_t b) {
  return (int32_t)((int64_t)a * b >> 32);
}
uint32_t pacc_dev_mulhi_ui(uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}
int64_t pacc_dev_mulhi_ll(int64_t a, int64_t b) {
  return (int64_t)((__int128)a * b >> 64);
}
uint64_t pacc_dev_mulhi_ull(uint64_t a, uint64_t b) {
  return (uint64_t)((unsigned __int128)a * b >> 64);
}

static int32_t low24(int32_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }
int32_t pacc_dev_mul24_i(int32_t a, int32_t b) {
  return (int32_t)((int64_t)low24(a) * low24(b));
}
uint32_t pacc_dev_mul24_ui(uint32_t a, uint32_t b) {
  return (a & 0xffffff) * (b & 0xffffff);
}
uint32_t pacc_dev_sad_i(int32_t a, int32_t b, uint32_t c) {
  return c + (a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b);
}
uint32_t pacc_dev_sad_ui(uint32_t a, uint32_t b, uint32_t c) {
  return c + (a < b ? b - a : a - b);
}

/* The place of the n-th set bit from `base` on, upwards for n > 0 and
 * downwards for n < 0; all ones if there is none (PTX ISA, fns). */
uint32_t pacc_dev_fns(uint32_t mask, uint32_t base, uint32_t offset) {
  int32_t n = (int32_t)offset;
  if (n == 0)
    return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
  int step = n > 0 ? 1 : -1;
  for (int64_t place = base; place >= 0 && place < 32; place += step)
    if (mask >> place & 1 && (n -= step) == 0)
      return (uint32_t)place;
  return UINT32_MAX;
}

static int32_t byte_at(uint32_t x, unsigned i, int is_signed) {
  uint32_t byte = x >> (8 * i) & 255;
  return is_signed ? (int32_t)(int8_t)byte : (int32_t)byte;
}
static int32_t dot4(uint32_t a, int sa, uint32_t b, int sb, uint32_t c) {
  for (unsigned i = 0; i < 4; i++)
    c += (uint32_t)(byte_at(a, i, sa) * byte_at(b, i, sb));
  return (int32_t)c;
}
int32_t pacc_dev_idp4a_s_s(uint32_t a, uint32_t b, uint32_t c) {
  return dot4(a, 1, b, 1, c);
}
int32_t pacc_dev_idp4a_s_u(uint32_t a, uint32_t b, uint32_t c) {
  return dot4(a, 1, b, 0, c);
}
int32_t pacc_dev_idp4a_u_s(uint32_t a, uint32_t b, uint32_t c) {
  return dot4(a, 0, b, 1, c);
}
int32_t pacc_dev_idp4a_u_u(uint32_t a, uint32_t b, uint32_t c) {
  return dot4(a, 0, b, 0, c);
}

uint32_t pacc_dev_bfind_shiftamt_u32(uint32_t x) {
  return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}

uint32_t pacc_dev_bfind_u32(uint32_t x) {
  return x ? 31 - (uint32_t)__builtin_clz(x) : UINT32_MAX;
}

/* Fields of `length` bits from bit `place` on; of both the low 8 bits count
 * (PTX ISA, bfi and bfe). */
static uint64_t field_mask(uint32_t length) {
  length &= 255;
  return length < 64 ? (1ull << length) - 1 : UINT64_MAX;
}
static uint64_t shifted(uint64_t x, uint32_t place) {
  return (place & 255) < 64 ? x << (place & 255) : 0;
}
uint64_t pacc_dev_bfi_b64(uint64_t a, uint64_t b, uint32_t place,
                          uint32_t length) {
  uint64_t mask = shifted(field_mask(length), place);
  return (b & ~mask) | (shifted(a, place) & mask);
}
uint32_t pacc_dev_bfi_b32(uint32_t a, uint32_t b, uint32_t place,
                          uint32_t length) {
  return (uint32_t)pacc_dev_bfi_b64(a, b, place, length);
}
/* What lies beyond the field, or beyond the top bit, is the sign's. */
static uint64_t extract(uint64_t x, uint32_t place, uint32_t length,
                        uint32_t width, int is_signed) {
  place &= 255;
  length &= 255;
  uint32_t top = place + length - 1 < width ? place + length - 1 : width - 1;
  uint64_t sign = is_signed && length ? x >> top & 1 : 0, result = 0;
  for (uint32_t i = 0; i < width; i++)
    result |= (i < length && place + i < width ? x >> (place + i) & 1 : sign)
              << i;
  return result;
}
uint32_t pacc_dev_bfe_u32(uint32_t x, uint32_t place, uint32_t length) {
  return (uint32_t)extract(x, place, length, 32, 0);
}
uint32_t pacc_dev_bfe_s32(uint32_t x, uint32_t place, uint32_t length) {
  return (uint32_t)extract(x, place, length, 32, 1);
}
uint64_t pacc_dev_bfe_u64(uint64_t x, uint32_t place, uint32_t length) {
  return extract(x, place, length, 64, 0);
}
uint64_t pacc_dev_bfe_s64(uint64_t x, uint32_t place, uint32_t length) {
  return extract(x, place, length, 64, 1);
}

/* The halves high:low, shifted together (PTX ISA, shf). */
static uint64_t halves(uint32_t low, uint32_t high) {
  return (uint64_t)high << 32 | low;
}
static uint32_t clamp(uint32_t n) { return n < 32 ? n : 32; }
uint32_t pacc_dev_shf_l_wrap(uint32_t low, uint32_t high, uint32_t n) {
  return (uint32_t)(halves(low, high) << (n & 31) >> 32);
}
uint32_t pacc_dev_shf_l_clamp(uint32_t low, uint32_t high, uint32_t n) {
  return (uint32_t)(halves(low, high) << clamp(n) >> 32);
}
uint32_t pacc_dev_shf_r_wrap(uint32_t low, uint32_t high, uint32_t n) {
  return (uint32_t)(halves(low, high) >> (n & 31));
}
uint32_t pacc_dev_shf_r_clamp(uint32_t low, uint32_t high, uint32_t n) {
  return (uint32_t)(halves(low, high) >> clamp(n));
}

/* An unordered comparison counts as equal. */
double pacc_dev_select_equal_f64(double a, double b, double yes, double no) {
  return a < b || a > b ? no : yes;
}

typedef unsigned __int128 u128;
static u128 join(uint64_t low, uint64_t high) { return (u128)high << 64 | low; }
static struct pacc_dev_pair split(u128 x) {
  return (struct pacc_dev_pair){(uint64_t)x, (uint64_t)(x >> 64)};
}
struct pacc_dev_pair pacc_dev_add_i128(uint64_t a, uint64_t b, uint64_t c,
                                       uint64_t d) {
  return split(join(a, b) + join(c, d));
}
struct pacc_dev_pair pacc_dev_sub_i128(uint64_t a, uint64_t b, uint64_t c,
                                       uint64_t d) {
  return split(join(a, b) - join(c, d));
}
struct pacc_dev_pair pacc_dev_mul_u64(uint64_t a, uint64_t b) {
  return split((u128)a * b);
}
struct pacc_dev_pair pacc_dev_mad_u64(uint64_t a, uint64_t b, uint64_t c) {
  return split((u128)a * b + c);
}
uint64_t pacc_dev_mad_u32(uint32_t a, uint32_t b, uint32_t c) {
  return (uint64_t)a * b + c;
}
