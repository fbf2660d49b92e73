/* ptx.c: inline assembly that is one instruction: on memory (ld, st, atom, red,
 * fence), as CUDA's headers and libcu++ write it for memory orders and caches,
 * or one that a device function computes.
 *
 * Caches and scopes mean nothing here; orders are the strongest. */
#include "retarget_private.h"

#include <stdlib.h>

enum { MAX_OPERANDS = 8, MAX_PARTS = 12 };

/* The number of an asm operand, or a number by itself. */
struct operand {
  int is_literal;
  long number;
};

/* An instruction: its name, whole and in parts, and its operands in order.
 * `address` of them is in brackets, `offset` bytes away. */
struct instruction {
  char name[64], text[64];
  char *parts[MAX_PARTS];
  unsigned n_parts;
  struct operand operands[MAX_OPERANDS];
  unsigned n_operands, address;
  long offset;
};

static int has_part(const struct instruction *in, const char *part) {
  for (unsigned i = 1; i < in->n_parts; i++)
    if (!strcmp(in->parts[i], part))
      return 1;
  return 0;
}

/* "$3" or "42", in braces or brackets: the reader passes over those. */
static const char *read_operand(struct instruction *in, const char *at) {
  char *end;
  int is_address = *at == '[';
  at += is_address || *at == '{';
  int is_literal = *at != '$';
  if (in->n_operands == MAX_OPERANDS)
    return NULL;
  if (is_address)
    in->address = in->n_operands;
  at += !is_literal;
  long number = strtol(at, &end, 0);
  if (end == at)
    return NULL;
  in->operands[in->n_operands++] = (struct operand){is_literal, number};
  if (is_address && *end == '+')
    in->offset = strtol(end + 1, &end, 0);
  return end + (*end == ']' || *end == '}');
}

/* 0 if the text, without white space, is no single instruction. */
static int read_instruction(struct instruction *in, const char *text) {
  size_t length = strcspn(text, "$[{;");
  *in = (struct instruction){.address = MAX_OPERANDS};
  if (length >= sizeof(in->text))
    return 0;
  memcpy(in->text, text, length);
  memcpy(in->name, text, length);
  for (char *part = strtok(in->text, "."); part && in->n_parts < MAX_PARTS;
       part = strtok(NULL, "."))
    in->parts[in->n_parts++] = part;
  const char *at = text + length;
  while (at && *at && *at != ';') {
    at = read_operand(in, at);
    at += at && *at == ',';
  }
  return in->n_parts && at && !strcmp(at, ";");
}

struct ptx {
  struct pacc_retarget *r;
  LLVMValueRef call;
  unsigned n_results;
  struct instruction in;
};

/* The type of the last part of the name, NULL if it is another one. */
static LLVMTypeRef element_type(const struct ptx *p, int *is_signed,
                                int *is_float) {
  const char *name = p->in.parts[p->in.n_parts - 1];
  struct pacc_retarget *r = p->r;
  *is_signed = name[0] == 's';
  *is_float = name[0] == 'f';
  if (!strcmp(name, "f32"))
    return r->f32;
  if (!strcmp(name, "f64"))
    return r->f64;
  if (!strchr("bsu", name[0]))
    return NULL;
  switch (atoi(name + 1)) {
  case 8:
    return r->i8;
  case 16:
    return r->i16;
  case 32:
    return r->i32;
  case 64:
    return r->i64;
  default:
    return NULL;
  }
}

/* Input number i of the instruction's operands. */
static LLVMValueRef input(const struct ptx *p, unsigned i) {
  if (i >= p->in.n_operands)
    return NULL;
  struct operand operand = p->in.operands[i];
  unsigned n = (unsigned)operand.number;
  if (operand.is_literal)
    return LLVMConstInt(p->r->i32, (uint64_t)operand.number, 1);
  if (n < p->n_results || n - p->n_results >= LLVMGetNumArgOperands(p->call))
    return NULL;
  return LLVMGetOperand(p->call, n - p->n_results);
}

static LLVMValueRef address(const struct ptx *p) {
  LLVMValueRef value = input(p, p->in.address);
  if (!value)
    return NULL;
  LLVMBuilderRef b = p->r->builder;
  if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind) {
    /* Addresses of shared memory are 32-bit offsets, which are none here. */
    if (LLVMTypeOf(value) != p->r->i64)
      return NULL;
    value = LLVMBuildIntToPtr(b, value, p->r->ptr, "");
  } else if (LLVMTypeOf(value) != p->r->ptr) {
    value = LLVMBuildAddrSpaceCast(b, value, p->r->ptr, "");
  }
  LLVMValueRef offset = LLVMConstInt(p->r->i64, (uint64_t)p->in.offset, 1);
  return LLVMBuildGEP2(b, p->r->i8, value, &offset, 1, "");
}

/* A register holds 16, 32 or 64 bits, as an integer or not. */
static LLVMValueRef convert(const struct ptx *p, LLVMValueRef value,
                            LLVMTypeRef to, int is_signed) {
  LLVMBuilderRef b = p->r->builder;
  LLVMTypeRef from = LLVMTypeOf(value);
  if (from == to)
    return value;
  if (LLVMGetTypeKind(from) == LLVMIntegerTypeKind &&
      LLVMGetTypeKind(to) == LLVMIntegerTypeKind)
    return LLVMBuildIntCast2(b, value, to, is_signed, "");
  return LLVMStoreSizeOfType(p->r->layout, from) ==
                 LLVMStoreSizeOfType(p->r->layout, to)
             ? LLVMBuildBitCast(b, value, to, "")
             : NULL;
}

static void set_access(const struct ptx *p, LLVMValueRef access,
                       LLVMTypeRef type) {
  static const char *const ordered[] = {"relaxed", "acquire", "release",
                                        "mmio"};
  LLVMSetAlignment(access, (unsigned)LLVMStoreSizeOfType(p->r->layout, type));
  LLVMSetVolatile(access, has_part(&p->in, "volatile"));
  for (int i = 0; i < 4; i++)
    if (has_part(&p->in, ordered[i]))
      LLVMSetOrdering(access, LLVMAtomicOrderingSequentiallyConsistent);
}

/* ld: one value or the elements of a vector. */
static LLVMValueRef lower_load(const struct ptx *p) {
  LLVMBuilderRef b = p->r->builder;
  int is_signed, is_float;
  LLVMTypeRef type = element_type(p, &is_signed, &is_float);
  LLVMTypeRef result = LLVMTypeOf(p->call);
  LLVMValueRef at = type ? address(p) : NULL;
  if (!at || !p->n_results || p->in.n_operands != p->n_results + 1)
    return NULL;
  LLVMValueRef whole = LLVMGetPoison(result);
  for (unsigned i = 0; i < p->n_results; i++) {
    LLVMValueRef index = LLVMConstInt(p->r->i64, i, 0);
    LLVMValueRef value =
        LLVMBuildLoad2(b, type, LLVMBuildGEP2(b, type, at, &index, 1, ""), "");
    set_access(p, value, type);
    LLVMTypeRef to =
        p->n_results > 1 ? LLVMStructGetTypeAtIndex(result, i) : result;
    if (!(value = convert(p, value, to, is_signed)))
      return NULL;
    whole =
        p->n_results > 1 ? LLVMBuildInsertValue(b, whole, value, i, "") : value;
  }
  return whole;
}

static int lower_store(const struct ptx *p) {
  LLVMBuilderRef b = p->r->builder;
  int is_signed, is_float;
  LLVMTypeRef type = element_type(p, &is_signed, &is_float);
  LLVMValueRef at = type ? address(p) : NULL;
  if (!at || p->n_results || p->in.address != 0)
    return 0;
  for (unsigned i = 1; i < p->in.n_operands; i++) {
    LLVMValueRef index = LLVMConstInt(p->r->i64, i - 1, 0), value = input(p, i);
    if (!value || !(value = convert(p, value, type, 0)))
      return 0;
    LLVMValueRef store =
        LLVMBuildStore(b, value, LLVMBuildGEP2(b, type, at, &index, 1, ""));
    set_access(p, store, type);
  }
  return 1;
}

/* The operation of atom and red, -1 if there is none. */
static int find_operation(const struct ptx *p, int is_signed, int is_float) {
  static const struct {
    const char *name;
    LLVMAtomicRMWBinOp op, op_signed, op_float;
  } operations[] = {
      {"add", LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd,
       LLVMAtomicRMWBinOpFAdd},
      {"and", LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd, 0},
      {"or", LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr, 0},
      {"xor", LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor, 0},
      {"exch", LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg, 0},
      {"min", LLVMAtomicRMWBinOpUMin, LLVMAtomicRMWBinOpMin, 0},
      {"max", LLVMAtomicRMWBinOpUMax, LLVMAtomicRMWBinOpMax, 0},
      {"inc", LLVMAtomicRMWBinOpUIncWrap, LLVMAtomicRMWBinOpUIncWrap, 0},
      {"dec", LLVMAtomicRMWBinOpUDecWrap, LLVMAtomicRMWBinOpUDecWrap, 0},
  };
  for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
    if (has_part(&p->in, operations[i].name))
      return is_float && !operations[i].op_float ? -1
             : is_float ? (int)operations[i].op_float
                        : (int)(is_signed ? operations[i].op_signed
                                          : operations[i].op);
  return -1;
}

/* atom: result, address, value (and the value before, for cas); red has no
 * result. */
static LLVMValueRef lower_atomic(const struct ptx *p) {
  LLVMBuilderRef b = p->r->builder;
  const LLVMAtomicOrdering order = LLVMAtomicOrderingSequentiallyConsistent;
  int is_signed, is_float, is_cas = has_part(&p->in, "cas");
  unsigned first = p->n_results;
  LLVMTypeRef type = element_type(p, &is_signed, &is_float);
  LLVMValueRef at = type ? address(p) : NULL, a = input(p, first + 1);
  if (!at || !a || p->n_results > 1 || p->in.address != first ||
      p->in.n_operands != first + 2 + (unsigned)is_cas ||
      !(a = convert(p, a, type, 0)))
    return NULL;
  if (is_cas) {
    LLVMValueRef c = input(p, first + 2);
    if (is_float || !c || !(c = convert(p, c, type, 0)))
      return NULL;
    LLVMValueRef both = LLVMBuildAtomicCmpXchg(b, at, a, c, order, order, 0);
    return LLVMBuildExtractValue(b, both, 0, "");
  }
  int operation = find_operation(p, is_signed, is_float);
  return operation < 0 ? NULL
                       : LLVMBuildAtomicRMW(b, (LLVMAtomicRMWBinOp)operation,
                                            at, a, order, 0);
}

/* Instructions that are device functions of their operands. */
static const char *const functions[][2] = {
    {"bfe.s32", "pacc_dev_bfe_s32"},
    {"bfe.s64", "pacc_dev_bfe_s64"},
    {"bfe.u32", "pacc_dev_bfe_u32"},
    {"bfe.u64", "pacc_dev_bfe_u64"},
    {"bfi.b32", "pacc_dev_bfi_b32"},
    {"bfi.b64", "pacc_dev_bfi_b64"},
    {"bfind.shiftamt.u32", "pacc_dev_bfind_shiftamt_u32"},
    {"bfind.u32", "pacc_dev_bfind_u32"},
    {"brkpt", "pacc_dev_fault_trap"},
    {"nanosleep.u32", "pacc_dev_nanosleep"},
    {"prmt.b32", "pacc_dev_prmt"},
    {"rcp.approx.ftz.f32", "pacc_dev_rcp_approx_ftz_f"},
    {"rsqrt.approx.ftz.f64", "pacc_dev_rsqrt_approx_ftz_d"},
    {"shf.l.clamp.b32", "pacc_dev_shf_l_clamp"},
    {"shf.l.wrap.b32", "pacc_dev_shf_l_wrap"},
    {"shf.r.clamp.b32", "pacc_dev_shf_r_clamp"},
    {"shf.r.wrap.b32", "pacc_dev_shf_r_wrap"},
    {"shfl.sync.bfly.b32", "pacc_dev_shfl_bfly_b32"},
    {"shfl.sync.down.b32", "pacc_dev_shfl_down_b32"},
    {"shfl.sync.idx.b32", "pacc_dev_shfl_idx_b32"},
    {"shfl.sync.up.b32", "pacc_dev_shfl_up_b32"},
    {"sub.rm.f32", "pacc_dev_sub_rm_f"},
    {"sub.rm.f64", "pacc_dev_sub_rm_d"},
    {"sub.rm.ftz.f32", "pacc_dev_sub_rm_ftz_f"},
    {"sub.rn.f32", "pacc_dev_sub_rn_f"},
    {"sub.rn.f64", "pacc_dev_sub_rn_d"},
    {"sub.rn.ftz.f32", "pacc_dev_sub_rn_ftz_f"},
    {"sub.rp.f32", "pacc_dev_sub_rp_f"},
    {"sub.rp.f64", "pacc_dev_sub_rp_d"},
    {"sub.rp.ftz.f32", "pacc_dev_sub_rp_ftz_f"},
    {"sub.rz.f32", "pacc_dev_sub_rz_f"},
    {"sub.rz.f64", "pacc_dev_sub_rz_d"},
    {"sub.rz.ftz.f32", "pacc_dev_sub_rz_ftz_f"},
};

/* The first operands are the results. */
static int lower_function(const struct ptx *p) {
  LLVMValueRef arguments[MAX_OPERANDS];
  unsigned n = 0;
  for (unsigned i = p->n_results; i < p->in.n_operands; i++)
    if (!(arguments[n++] = input(p, i)))
      return 0;
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
    if (!strcmp(functions[i][0], p->in.name))
      return pacc_lower_with(p->r, p->call, functions[i][1], arguments, n);
  return 0;
}

static unsigned count_results(LLVMTypeRef type) {
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (kind == LLVMVoidTypeKind)
    return 0;
  return kind == LLVMStructTypeKind ? LLVMCountStructElementTypes(type) : 1;
}

int pacc_lower_ptx(struct pacc_retarget *r, LLVMValueRef call,
                   const char *text) {
  struct ptx p = {
      .r = r, .call = call, .n_results = count_results(LLVMTypeOf(call))};
  if (!read_instruction(&p.in, text))
    return 0;
  if (p.in.address == MAX_OPERANDS && lower_function(&p))
    return 1;
  LLVMPositionBuilderBefore(r->builder, call);
  const char *name = p.in.parts[0];
  LLVMValueRef value = NULL;
  if (!strcmp(name, "fence") || !strcmp(name, "membar"))
    value = LLVMBuildFence(r->builder, LLVMAtomicOrderingSequentiallyConsistent,
                           0, "");
  else if (!strcmp(name, "ld"))
    value = lower_load(&p);
  else if (!strcmp(name, "st") && lower_store(&p))
    value = call;
  else if (!strcmp(name, "atom") || !strcmp(name, "red"))
    value = lower_atomic(&p);
  if (!value)
    return 0;
  if (p.n_results == 1 && !(value = convert(&p, value, LLVMTypeOf(call), 0)))
    return 0;
  pacc_lower_to_value(call, p.n_results ? value : NULL);
  return 1;
}
