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
  if (pacc_lower_ptx(r, call, text))
    return;
  snprintf(what, sizeof(what), "the inline assembly '%.*s'",
           (int)(length < 200 ? length : 200), source);
  pacc_lower_to_error(r, call, what);
}
