/* assembly.c: PTX inline assembly of several instructions, by a table of its
 * texts, which come from libdevice and from CUDA's headers; registers by their
 * names; the rest is ptx.c's. */
#include "retarget_private.h"

#include <ctype.h>
#include <stdio.h>

/* Texts without white space. The longest stand for 128-bit arithmetic of
 * libdevice; a prefix and the number of operands tell them apart. */
static const struct {
  const char *text;
  unsigned n;
  const char *devfn;
} assembly[] = {
    {"{.reg.pred__$$temp3;setp.equ.f64__$$temp3,$1,$2;selp.f64$0,$3,$4,"
     "__$$temp3;}",
     4, "pacc_dev_select_equal_f64"},
    {"{mad.lo.cc.u32$0,$2,$3,$4;madc.hi.u32$1,$2,$3,0;}", 3,
     "pacc_dev_mad_u32"},
    {"{.reg.predp;and.b32$0,$1,$2;setp.ne.u32p,$0,0;"
     "vote.ballot.sync.b32$0,p,0xffffffff;@!pnot.b32$0,$0;}",
     2, "pacc_dev_ballot_alike"},
    {"{.reg.u32start;.reg.u64extended;mov.u32start,%reserved_smem_offset_1;"
     "cvt.u64.u32extended,start;cvta.shared.u64$0,extended;}",
     0, "pacc_dev_reserved_shared"},
};

/* Texts that libdevice's 128-bit functions hold, by what only they hold. */
static const struct {
  const char *part;
  unsigned n;
  const char *devfn;
} wide_assembly[] = {
    {"add.cc.u32r0,a0,b0;addc.cc.u32r1,a1,b1;addc.cc.u32r2,a2,b2;", 4,
     "pacc_dev_add_i128"},
    {"sub.cc.u32r0,a0,b0;subc.cc.u32r1,a1,b1;subc.cc.u32r2,a2,b2;", 4,
     "pacc_dev_sub_i128"},
    {"mul.lo.u32r0,alo,blo;mul.hi.u32r1,alo,blo;", 2, "pacc_dev_mul_u64"},
    {"mad.lo.cc.u32r0,alo,blo,clo;madc.hi.cc.u32r1,alo,blo,chi;", 3,
     "pacc_dev_mad_u64"},
};

/* CUB's steps of scans and reductions: a shuffle and, where a lane was read,
 * the sum with the own value. */
static const struct {
  const char *shuffle, *sum;
  const char *devfn;
} shuffle_assembly[] = {
    {"shfl.sync.up.b32", "@padd.s32", "pacc_dev_shfl_up_add_i32"},
    {"shfl.sync.up.b32", "@padd.u32", "pacc_dev_shfl_up_add_i32"},
    {"shfl.sync.up.b32", "@padd.f32", "pacc_dev_shfl_up_add_f32"},
    {"shfl.sync.up.b32", "@padd.s64", "pacc_dev_shfl_up_add_i64"},
    {"shfl.sync.up.b32", "@padd.u64", "pacc_dev_shfl_up_add_i64"},
    {"shfl.sync.up.b32", "@padd.f64", "pacc_dev_shfl_up_add_f64"},
    {"shfl.sync.down.b32", "@padd.s32", "pacc_dev_shfl_down_add_i32"},
    {"shfl.sync.down.b32", "@padd.u32", "pacc_dev_shfl_down_add_i32"},
    {"shfl.sync.down.b32", "@padd.f32", "pacc_dev_shfl_down_add_f32"},
    {"shfl.sync.down.b32", "@padd.s64", "pacc_dev_shfl_down_add_i64"},
    {"shfl.sync.down.b32", "@padd.u64", "pacc_dev_shfl_down_add_i64"},
    {"shfl.sync.down.b32", "@padd.f64", "pacc_dev_shfl_down_add_f64"},
};

/* Value, lane, clamp, in some the value again, mask. */
static int lower_shuffle(struct pacc_retarget *r, LLVMValueRef call,
                         const char *text) {
  enum { WITH_VALUE_AGAIN = 5, WITHOUT = 4 };
  LLVMValueRef arguments[WITH_VALUE_AGAIN];
  unsigned n = LLVMGetNumArgOperands(call);
  if (n != WITH_VALUE_AGAIN && n != WITHOUT)
    return 0;
  for (unsigned i = 0; i < n; i++)
    arguments[i] = LLVMGetOperand(call, i);
  if (n == WITH_VALUE_AGAIN && arguments[3] != arguments[0])
    return 0;
  arguments[3] = arguments[n - 1];
  size_t n_texts = sizeof(shuffle_assembly) / sizeof(shuffle_assembly[0]);
  for (size_t i = 0; i < n_texts; i++)
    if (strstr(text, shuffle_assembly[i].shuffle) &&
        strstr(text, shuffle_assembly[i].sum))
      return pacc_lower_with(r, call, shuffle_assembly[i].devfn, arguments,
                             WITHOUT);
  return 0;
}

/* "mov.u32 $0, %laneid;": special registers by the name of their function. */
static const char *find_register(const char *text, char *name, size_t size) {
  static const char *const moves[] = {"mov.u32$0,%", "mov.u64$0,%"};
  for (int i = 0; i < 2; i++) {
    if (!pacc_starts_with(text, moves[i]))
      continue;
    const char *from = text + strlen(moves[i]);
    size_t length = strcspn(from, ";");
    snprintf(name, size, "pacc_dev_read_ptx_sreg_%.*s", (int)length, from);
    for (char *c = name; *c; c++)
      if (*c == '.')
        *c = '_';
    return !strcmp(from + length, ";") ? name : NULL;
  }
  return NULL;
}

static const char *find_assembly(const char *text, unsigned n) {
  for (size_t i = 0; i < sizeof(assembly) / sizeof(assembly[0]); i++)
    if (assembly[i].n == n && !strcmp(assembly[i].text, text))
      return assembly[i].devfn;
  for (size_t i = 0; i < sizeof(wide_assembly) / sizeof(wide_assembly[0]); i++)
    if (wide_assembly[i].n == n && strstr(text, wide_assembly[i].part))
      return wide_assembly[i].devfn;
  return NULL;
}

void pacc_lower_assembly(struct pacc_retarget *r, LLVMValueRef call,
                         LLVMValueRef callee) {
  enum { MAX_TEXT = 1024 };
  char text[MAX_TEXT], what[256], name[128];
  size_t length, used = 0;
  const char *source = LLVMGetInlineAsmAsmString(callee, &length);
  for (size_t i = 0; i < length && used < MAX_TEXT - 1; i++)
    if (!isspace((unsigned char)source[i]))
      text[used++] = source[i];
  text[used] = 0;
  if (used == 0) { /* a barrier for the compiler, long past */
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind)
      pacc_lower_to_value(call, NULL);
    return;
  }
  const char *devfn = find_register(text, name, sizeof(name));
  if (!devfn)
    devfn = find_assembly(text, LLVMGetNumArgOperands(call));
  if (devfn && pacc_lower_to_devfn(r, call, devfn))
    return;
  if (lower_shuffle(r, call, text) || pacc_lower_ptx(r, call, text))
    return;
  snprintf(what, sizeof(what), "the inline assembly '%.*s'",
           (int)(length < 200 ? length : 200), source);
  pacc_lower_to_error(r, call, what);
}
