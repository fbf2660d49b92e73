/* lower.c: replaces what the host can't call: NVVM intrinsics, PTX inline
 * assembly, libdevice's functions. What has no counterpart becomes a call that
 * ends the launch with its name, when it is reached. */
#include "retarget_private.h"

#include "devfn.h"
#include "hostfn.h"
#include "status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* -- Device functions -- */

static LLVMTypeRef type_of_letter(struct pacc_retarget *r, char letter) {
  LLVMTypeRef pair[2] = {r->i64, r->i64};
  switch (letter) {
  case 'i':
    return r->i32;
  case 'l':
  case 'q':
    return r->i64;
  case 'f':
    return r->f32;
  case 'd':
    return r->f64;
  case 'p':
    return r->ptr;
  case 'Q':
    return LLVMStructTypeInContext(r->context, pair, 2, 0);
  default:
    return r->nothing;
  }
}

static void add_attribute(struct pacc_retarget *r, LLVMValueRef function,
                          const char *name, uint64_t value) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function,
                          (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(r->context, kind, value));
}

LLVMValueRef pacc_retarget_devfn(struct pacc_retarget *r, const char *name) {
  enum { MAX_PARAMS = 8 };
  LLVMValueRef f = LLVMGetNamedFunction(r->module, name);
  const struct pacc_devfn *devfn = f ? NULL : pacc_devfn_find(name);
  if (!devfn)
    return f;
  LLVMTypeRef params[MAX_PARAMS];
  unsigned n = (unsigned)strlen(devfn->type) - 1;
  for (unsigned i = 0; i < n; i++)
    params[i] = type_of_letter(r, devfn->type[i + 1]);
  LLVMTypeRef result = type_of_letter(r, devfn->type[0]);
  f = LLVMAddFunction(r->module, name, LLVMFunctionType(result, params, n, 0));
  add_attribute(r, f, "nounwind", 0);
  if (devfn->flags & PACC_DEV_SUSPENDS)
    add_attribute(r, f, "convergent", 0);
  if (devfn->flags & PACC_DEV_PURE) {
    add_attribute(r, f, "memory", 0);
    add_attribute(r, f, "willreturn", 0);
  }
  if (pacc_starts_with(name, "pacc_dev_fault_")) {
    add_attribute(r, f, "noreturn", 0);
    add_attribute(r, f, "cold", 0);
  }
  return f;
}

/* `value` as the type `to` of a device function's parameter, or NULL. */
static LLVMValueRef convert_argument(struct pacc_retarget *r,
                                     LLVMValueRef value, LLVMTypeRef to) {
  LLVMTypeRef from = LLVMTypeOf(value);
  if (from == to)
    return value;
  LLVMTypeKind kind = LLVMGetTypeKind(from);
  if (kind == LLVMPointerTypeKind && to == r->ptr)
    return LLVMBuildAddrSpaceCast(r->builder, value, to, "");
  if (kind == LLVMIntegerTypeKind && to == r->i32 &&
      LLVMGetIntTypeWidth(from) < 32)
    return LLVMBuildZExt(r->builder, value, to, "");
  return NULL;
}

/* The two parts of a packed pair, of the types of the struct `to`. */
static LLVMValueRef unpack(struct pacc_retarget *r, LLVMValueRef word,
                           LLVMTypeRef to) {
  LLVMTypeRef parts[2];
  LLVMGetStructElementTypes(to, parts);
  LLVMBuilderRef b = r->builder;
  LLVMValueRef low = LLVMBuildTrunc(b, word, r->i32, "");
  if (parts[0] == r->f32)
    low = LLVMBuildBitCast(b, low, r->f32, "");
  LLVMValueRef high = LLVMBuildLShr(b, word, LLVMConstInt(r->i64, 32, 0), "");
  high = LLVMBuildTrunc(b, high, parts[1], "");
  LLVMValueRef both = LLVMBuildInsertValue(b, LLVMGetPoison(to), low, 0, "");
  return LLVMBuildInsertValue(b, both, high, 1, "");
}

static LLVMValueRef convert_result(struct pacc_retarget *r, LLVMValueRef value,
                                   LLVMTypeRef to) {
  LLVMTypeRef from = LLVMTypeOf(value);
  if (from == to)
    return value;
  LLVMTypeKind kind = LLVMGetTypeKind(to);
  if (kind == LLVMIntegerTypeKind && from == r->i32 &&
      LLVMGetIntTypeWidth(to) < 32)
    return LLVMBuildTrunc(r->builder, value, to, "");
  if (kind == LLVMStructTypeKind && from == r->i64 &&
      LLVMCountStructElementTypes(to) == 2)
    return unpack(r, value, to);
  return NULL;
}

static void replace(LLVMValueRef call, LLVMValueRef value) {
  if (value && LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
    LLVMReplaceAllUsesWith(call, value);
  LLVMInstructionEraseFromParent(call);
}

/* Replaces a call by one of the device function `name`. 0 if there is none of
 * that type. */
static int call_devfn(struct pacc_retarget *r, LLVMValueRef call,
                      const char *name, LLVMValueRef *arguments, unsigned n) {
  enum { MAX_ARGUMENTS = 8 };
  const struct pacc_devfn *devfn = pacc_devfn_find(name);
  int has_site = devfn && devfn->flags & PACC_DEV_SITE;
  if (!devfn || n + (has_site ? 1 : 0) != strlen(devfn->type) - 1)
    return 0;
  LLVMValueRef f = pacc_retarget_devfn(r, name);
  LLVMValueRef converted[MAX_ARGUMENTS];
  LLVMPositionBuilderBefore(r->builder, call);
  for (unsigned i = 0; i < n; i++) {
    LLVMTypeRef to = type_of_letter(r, devfn->type[i + 1]);
    if (!(converted[i] = convert_argument(r, arguments[i], to)))
      return 0;
  }
  if (has_site)
    converted[n++] = LLVMConstInt(r->i32, ++r->n_sites, 0);
  LLVMValueRef made = LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(f), f,
                                     converted, n, "");
  LLVMValueRef result = made;
  if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind &&
      !(result = convert_result(r, made, LLVMTypeOf(call)))) {
    LLVMInstructionEraseFromParent(made);
    return 0;
  }
  replace(call, result);
  return 1;
}

static void call_unsupported(struct pacc_retarget *r, LLVMValueRef call,
                             const char *what) {
  LLVMPositionBuilderBefore(r->builder, call);
  LLVMValueRef f = pacc_retarget_devfn(r, "pacc_dev_fault_unsupported");
  LLVMValueRef text = LLVMBuildGlobalString(r->builder, what, "pacc.text");
  LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(f), f, &text, 1, "");
  LLVMTypeRef type = LLVMTypeOf(call);
  replace(call, LLVMGetTypeKind(type) == LLVMVoidTypeKind
                    ? NULL
                    : LLVMConstNull(type));
}

/* -- Intrinsics -- */

/* Intrinsics that are an operation of LLVM: an instruction, the reciprocal, or
 * an intrinsic overloaded on the type of its arguments. */
struct operation {
  const char *name;
  LLVMOpcode opcode;
  int reciprocal;
  const char *intrinsic;
};
static const struct operation operations[] = {
    {"add.rn.f", LLVMFAdd, 0, NULL},
    {"add.rn.d", LLVMFAdd, 0, NULL},
    {"mul.rn.f", LLVMFMul, 0, NULL},
    {"mul.rn.d", LLVMFMul, 0, NULL},
    {"div.rn.f", LLVMFDiv, 0, NULL},
    {"div.rn.d", LLVMFDiv, 0, NULL},
    {"rcp.rn.f", 0, 1, NULL},
    {"rcp.rn.d", 0, 1, NULL},
    {"fma.rn.f", 0, 0, "llvm.fma"},
    {"fma.rn.d", 0, 0, "llvm.fma"},
    {"sqrt.f", 0, 0, "llvm.sqrt"},
    {"sqrt.rn.f", 0, 0, "llvm.sqrt"},
    {"sqrt.rn.d", 0, 0, "llvm.sqrt"},
    {"floor.f", 0, 0, "llvm.floor"},
    {"floor.d", 0, 0, "llvm.floor"},
    {"ceil.f", 0, 0, "llvm.ceil"},
    {"ceil.d", 0, 0, "llvm.ceil"},
    {"trunc.f", 0, 0, "llvm.trunc"},
    {"trunc.d", 0, 0, "llvm.trunc"},
    {"round.f", 0, 0, "llvm.roundeven"},
    {"round.d", 0, 0, "llvm.roundeven"},
    {"fabs.f32", 0, 0, "llvm.fabs"},
    {"fabs.f64", 0, 0, "llvm.fabs"},
    {"fmin.f", 0, 0, "llvm.minnum"},
    {"fmin.d", 0, 0, "llvm.minnum"},
    {"fmax.f", 0, 0, "llvm.maxnum"},
    {"fmax.d", 0, 0, "llvm.maxnum"},
};

static int lower_operation(struct pacc_retarget *r, LLVMValueRef call,
                           const char *name) {
  const struct operation *op = operations;
  const struct operation *end =
      operations + sizeof(operations) / sizeof(operations[0]);
  while (op < end && strcmp(op->name, name))
    op++;
  if (op == end)
    return 0;
  LLVMValueRef arguments[3], result;
  unsigned n = LLVMGetNumArgOperands(call);
  for (unsigned i = 0; i < n && i < 3; i++)
    arguments[i] = LLVMGetOperand(call, i);
  LLVMTypeRef type = LLVMTypeOf(call);
  LLVMPositionBuilderBefore(r->builder, call);
  if (op->intrinsic) {
    unsigned id = LLVMLookupIntrinsicID(op->intrinsic, strlen(op->intrinsic));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(r->module, id, &type, 1);
    result = LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(f), f, arguments,
                            n, "");
  } else if (op->reciprocal) {
    result =
        LLVMBuildFDiv(r->builder, LLVMConstReal(type, 1.0), arguments[0], "");
  } else {
    result =
        LLVMBuildBinOp(r->builder, op->opcode, arguments[0], arguments[1], "");
  }
  replace(call, result);
  return 1;
}

/* "tid.x" and the like: which id it is, or -1. */
static int find_id(const char *name) {
  static const char *const ids[] = {"tid.", "ctaid.", "ntid.", "nctaid."};
  for (int i = 0; i < 4; i++) {
    size_t length = strlen(ids[i]);
    if (pacc_starts_with(name, ids[i]) && name[length] >= 'x' &&
        name[length] <= 'z')
      return 3 * i + (name[length] - 'x');
  }
  return -1;
}

/* barrier.cta.{sync,arrive,red.{popc,and,or}}[.aligned].{all,count} */
static int lower_barrier(struct pacc_retarget *r, LLVMValueRef call,
                         const char *name) {
  static const char *const kinds[] = {"sync.", "arrive.", "red.popc.",
                                      "red.and.", "red.or."};
  unsigned kind = 0, at = 1, n = LLVMGetNumArgOperands(call);
  while (kind < 5 && !pacc_starts_with(name, kinds[kind]))
    kind++;
  if (kind == 5 || n == 0)
    return 0;
  unsigned flags = kind | (strstr(name, "aligned") ? 8u : 0u);
  LLVMValueRef zero = LLVMConstInt(r->i32, 0, 0);
  int counted = strstr(name, "count") != NULL;
  LLVMValueRef arguments[4] = {LLVMConstInt(r->i32, flags, 0),
                               LLVMGetOperand(call, 0), zero, zero};
  if (counted && at < n)
    arguments[2] = LLVMGetOperand(call, at++);
  if (at < n)
    arguments[3] = LLVMGetOperand(call, at++);
  return at == n && call_devfn(r, call, "pacc_dev_barrier", arguments, 4);
}

static int lower_arguments(struct pacc_retarget *r, LLVMValueRef call,
                           const char *devfn) {
  enum { MAX_ARGUMENTS = 8 };
  LLVMValueRef arguments[MAX_ARGUMENTS];
  unsigned n = LLVMGetNumArgOperands(call);
  for (unsigned i = 0; i < n && i < MAX_ARGUMENTS; i++)
    arguments[i] = LLVMGetOperand(call, i);
  return n <= MAX_ARGUMENTS && call_devfn(r, call, devfn, arguments, n);
}

static void lower_nvvm(struct pacc_retarget *r, LLVMValueRef call,
                       const char *name, struct pacc_ids *ids) {
  static const char sreg[] = "read.ptx.sreg.", barrier[] = "barrier.cta.";
  char devfn[128];
  if (pacc_starts_with(name, sreg)) {
    int id = find_id(name + strlen(sreg));
    if (id >= 0) {
      if (!ids->values[0])
        *ids = pacc_retarget_ids(
            r, LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
      replace(call, ids->values[id]);
      return;
    }
  }
  if (pacc_starts_with(name, "membar.") || pacc_starts_with(name, "fence.")) {
    LLVMPositionBuilderBefore(r->builder, call);
    LLVMBuildFence(r->builder, LLVMAtomicOrderingSequentiallyConsistent, 0, "");
    replace(call, NULL);
    return;
  }
  if (pacc_starts_with(name, barrier) &&
      lower_barrier(r, call, name + strlen(barrier)))
    return;
  if (lower_operation(r, call, name))
    return;
  snprintf(devfn, sizeof(devfn), "pacc_dev_%s", name);
  for (char *c = devfn; *c; c++)
    if (*c == '.')
      *c = '_';
  if (!lower_arguments(r, call, devfn)) {
    char what[160];
    snprintf(what, sizeof(what), "the intrinsic llvm.nvvm.%s", name);
    call_unsupported(r, call, what);
  }
}

/* -- Inline assembly -- */

/* Texts without white space. The longest stand for 128-bit arithmetic of
 * libdevice; a prefix and the number of operands tell them apart. */
static const struct {
  const char *text;
  unsigned n;
  const char *devfn;
} assembly[] = {
    {"bfind.shiftamt.u32$0,$1;", 1, "pacc_dev_bfind_shiftamt_u32"},
    {"rcp.approx.ftz.f32$0,$1;", 1, "pacc_dev_rcp_approx_ftz_f"},
    {"rsqrt.approx.ftz.f64$0,$1;", 1, "pacc_dev_rsqrt_approx_ftz_d"},
    {"sub.rn.f32$0,$1,$2;", 2, "pacc_dev_sub_rn_f"},
    {"sub.rz.f32$0,$1,$2;", 2, "pacc_dev_sub_rz_f"},
    {"sub.rm.f32$0,$1,$2;", 2, "pacc_dev_sub_rm_f"},
    {"sub.rp.f32$0,$1,$2;", 2, "pacc_dev_sub_rp_f"},
    {"sub.rn.ftz.f32$0,$1,$2;", 2, "pacc_dev_sub_rn_ftz_f"},
    {"sub.rz.ftz.f32$0,$1,$2;", 2, "pacc_dev_sub_rz_ftz_f"},
    {"sub.rm.ftz.f32$0,$1,$2;", 2, "pacc_dev_sub_rm_ftz_f"},
    {"sub.rp.ftz.f32$0,$1,$2;", 2, "pacc_dev_sub_rp_ftz_f"},
    {"sub.rn.f64$0,$1,$2;", 2, "pacc_dev_sub_rn_d"},
    {"sub.rz.f64$0,$1,$2;", 2, "pacc_dev_sub_rz_d"},
    {"sub.rm.f64$0,$1,$2;", 2, "pacc_dev_sub_rm_d"},
    {"sub.rp.f64$0,$1,$2;", 2, "pacc_dev_sub_rp_d"},
    {"{.reg.pred__$$temp3;setp.equ.f64__$$temp3,$1,$2;selp.f64$0,$3,$4,"
     "__$$temp3;}",
     4, "pacc_dev_select_equal_f64"},
    {"{mad.lo.cc.u32$0,$2,$3,$4;madc.hi.u32$1,$2,$3,0;}", 3,
     "pacc_dev_mad_u32"},
    {"mov.u32$0,%lanemask_lt;", 0, "pacc_dev_read_ptx_sreg_lanemask_lt"},
    {"mov.u32$0,%lanemask_le;", 0, "pacc_dev_read_ptx_sreg_lanemask_le"},
    {"mov.u32$0,%lanemask_eq;", 0, "pacc_dev_read_ptx_sreg_lanemask_eq"},
    {"mov.u32$0,%lanemask_ge;", 0, "pacc_dev_read_ptx_sreg_lanemask_ge"},
    {"mov.u32$0,%lanemask_gt;", 0, "pacc_dev_read_ptx_sreg_lanemask_gt"},
    {"mov.u32$0,%laneid;", 0, "pacc_dev_read_ptx_sreg_laneid"},
    {"mov.u32$0,%warpid;", 0, "pacc_dev_read_ptx_sreg_warpid"},
    {"mov.u64$0,%globaltimer;", 0, "pacc_dev_read_ptx_sreg_globaltimer"},
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

static const char *find_assembly(const char *text, unsigned n) {
  for (size_t i = 0; i < sizeof(assembly) / sizeof(assembly[0]); i++)
    if (assembly[i].n == n && !strcmp(assembly[i].text, text))
      return assembly[i].devfn;
  for (size_t i = 0; i < sizeof(wide_assembly) / sizeof(wide_assembly[0]); i++)
    if (wide_assembly[i].n == n && strstr(text, wide_assembly[i].part))
      return wide_assembly[i].devfn;
  return NULL;
}

static void lower_assembly(struct pacc_retarget *r, LLVMValueRef call,
                           LLVMValueRef callee) {
  enum { MAX_TEXT = 1024 };
  char text[MAX_TEXT], what[256];
  size_t length, used = 0;
  const char *source = LLVMGetInlineAsmAsmString(callee, &length);
  for (size_t i = 0; i < length && used < MAX_TEXT - 1; i++)
    if (!isspace((unsigned char)source[i]))
      text[used++] = source[i];
  text[used] = 0;
  if (used == 0) { /* a barrier for the compiler, long past */
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind)
      replace(call, NULL);
    return;
  }
  const char *devfn = find_assembly(text, LLVMGetNumArgOperands(call));
  if (devfn && lower_arguments(r, call, devfn))
    return;
  snprintf(what, sizeof(what), "the inline assembly '%.*s'",
           (int)(length < 200 ? length : 200), source);
  call_unsupported(r, call, what);
}

/* -- Calls -- */

static void lower_assert(struct pacc_retarget *r, LLVMValueRef call) {
  LLVMValueRef arguments[4];
  for (unsigned i = 0; i < 4; i++)
    arguments[i] = LLVMGetOperand(call, i);
  if (!call_devfn(r, call, "pacc_dev_fault_assert", arguments, 4))
    call_unsupported(r, call, "this form of assert");
}

static void lower_call(struct pacc_retarget *r, LLVMValueRef call,
                       struct pacc_ids *ids) {
  static const char nvvm[] = "llvm.nvvm.";
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (LLVMIsAInlineAsm(callee)) {
    lower_assembly(r, call, callee);
    return;
  }
  if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
    return;
  const char *name = pacc_name(callee);
  if (pacc_starts_with(name, nvvm)) {
    lower_nvvm(r, call, name + strlen(nvvm), ids);
  } else if (!strcmp(name, "llvm.trap") || !strcmp(name, "llvm.debugtrap") ||
             !strcmp(name, "llvm.ubsantrap")) {
    call_devfn(r, call, "pacc_dev_fault_trap", NULL, 0);
  } else if (!strcmp(name, "__assertfail") &&
             LLVMGetNumArgOperands(call) == 5) {
    lower_assert(r, call);
  } else if (!pacc_starts_with(name, "llvm.") &&
             !pacc_starts_with(name, "pacc_dev_") && !pacc_hostfn_find(name)) {
    LLVMValueRef host = pacc_retarget_math(r, callee);
    char what[256];
    snprintf(what, sizeof(what), "the function %s", name);
    if (host)
      LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, host);
    else
      call_unsupported(r, call, what);
  }
}

int pacc_retarget_lower(struct pacc_retarget *r) {
  PACC_EACH_FUNCTION(f, r->module) {
    struct pacc_ids ids = {{0}};
    PACC_EACH_BLOCK(block, f)
    PACC_EACH_INSTRUCTION(i, block) {
      if (LLVMIsACallInst(i))
        lower_call(r, i, &ids);
    }
  }
  return 0;
}

/* -- Before inlining -- */

/* The text that a constant points to, NULL if it is none. */
static const char *constant_text(LLVMValueRef value, size_t *length) {
  while (LLVMIsAConstantExpr(value))
    value = LLVMGetOperand(value, 0);
  if (!LLVMIsAGlobalVariable(value))
    return NULL;
  LLVMValueRef text = LLVMGetInitializer(value);
  if (!text || !LLVMIsAConstantDataSequential(text) ||
      !LLVMIsConstantString(text))
    return NULL;
  return LLVMGetAsString(text, length);
}

/* Subnormals are kept, divisions and roots are exact. */
static uint64_t reflect_value(const char *text, size_t length) {
  static const char *const exact[] = {"__CUDA_PREC_DIV", "__CUDA_PREC_SQRT"};
  for (int i = 0; i < 2; i++)
    if (length >= strlen(exact[i]) && pacc_starts_with(text, exact[i]))
      return 1;
  return 0;
}

static void reflect_call(struct pacc_retarget *r, LLVMValueRef call,
                         const char *name) {
  if (!strcmp(name, "__nvvm_reflect") ||
      pacc_starts_with(name, "llvm.nvvm.reflect")) {
    size_t length = 0;
    const char *text = constant_text(LLVMGetOperand(call, 0), &length);
    uint64_t value = text ? reflect_value(text, length) : 0;
    replace(call, LLVMConstInt(LLVMTypeOf(call), value, 0));
  } else if (pacc_starts_with(name, "llvm.fmuladd.")) {
    LLVMPositionBuilderBefore(r->builder, call);
    LLVMValueRef product = LLVMBuildFMul(r->builder, LLVMGetOperand(call, 0),
                                         LLVMGetOperand(call, 1), "");
    replace(call,
            LLVMBuildFAdd(r->builder, product, LLVMGetOperand(call, 2), ""));
  }
}

void pacc_retarget_reflect(struct pacc_retarget *r) {
  PACC_EACH_FUNCTION(f, r->module)
  PACC_EACH_BLOCK(block, f)
  PACC_EACH_INSTRUCTION(i, block) {
    if (LLVMCanValueUseFastMathFlags(i))
      LLVMSetFastMathFlags(i, LLVMGetFastMathFlags(i) &
                                  ~(unsigned)LLVMFastMathAllowContract);
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    if (callee && LLVMIsAFunction(callee))
      reflect_call(r, i, pacc_name(callee));
  }
}
