/* lower.c: replaces what the host can't call: NVVM intrinsics, libdevice's
 * functions and, with assembly.c, PTX inline assembly. What has no counterpart
 * becomes a call that ends the launch with its name, when it is reached. */
#include "retarget_private.h"

#include "devfn.h"
#include "hostfn.h"
#include "status.h"

#include <stdio.h>

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

void pacc_lower_to_value(LLVMValueRef call, LLVMValueRef value) {
  if (value && LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
    LLVMReplaceAllUsesWith(call, value);
  LLVMInstructionEraseFromParent(call);
}

int pacc_lower_with(struct pacc_retarget *r, LLVMValueRef call,
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
  pacc_lower_to_value(call, result);
  return 1;
}

void pacc_lower_to_error(struct pacc_retarget *r, LLVMValueRef call,
                         const char *what) {
  LLVMPositionBuilderBefore(r->builder, call);
  LLVMValueRef f = pacc_retarget_devfn(r, "pacc_dev_fault_unsupported");
  LLVMValueRef text = LLVMBuildGlobalString(r->builder, what, "pacc.text");
  LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(f), f, &text, 1, "");
  LLVMTypeRef type = LLVMTypeOf(call);
  pacc_lower_to_value(call, LLVMGetTypeKind(type) == LLVMVoidTypeKind
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
  LLVMValueRef arguments[3] = {0}, result;
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
  pacc_lower_to_value(call, result);
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
  return at == n && pacc_lower_with(r, call, "pacc_dev_barrier", arguments, 4);
}

int pacc_lower_to_devfn(struct pacc_retarget *r, LLVMValueRef call,
                        const char *devfn) {
  enum { MAX_ARGUMENTS = 8 };
  LLVMValueRef arguments[MAX_ARGUMENTS];
  unsigned n = LLVMGetNumArgOperands(call);
  for (unsigned i = 0; i < n && i < MAX_ARGUMENTS; i++)
    arguments[i] = LLVMGetOperand(call, i);
  return n <= MAX_ARGUMENTS && pacc_lower_with(r, call, devfn, arguments, n);
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
      pacc_lower_to_value(call, ids->values[id]);
      return;
    }
  }
  if (pacc_starts_with(name, "membar.") || pacc_starts_with(name, "fence.")) {
    LLVMPositionBuilderBefore(r->builder, call);
    LLVMBuildFence(r->builder, LLVMAtomicOrderingSequentiallyConsistent, 0, "");
    pacc_lower_to_value(call, NULL);
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
  if (!pacc_lower_to_devfn(r, call, devfn)) {
    char what[160];
    snprintf(what, sizeof(what), "the intrinsic llvm.nvvm.%s", name);
    pacc_lower_to_error(r, call, what);
  }
}

/* -- Calls -- */

static void lower_assert(struct pacc_retarget *r, LLVMValueRef call) {
  LLVMValueRef arguments[4];
  for (unsigned i = 0; i < 4; i++)
    arguments[i] = LLVMGetOperand(call, i);
  if (!pacc_lower_with(r, call, "pacc_dev_fault_assert", arguments, 4))
    pacc_lower_to_error(r, call, "this form of assert");
}

static void lower_call(struct pacc_retarget *r, LLVMValueRef call,
                       struct pacc_ids *ids) {
  static const char nvvm[] = "llvm.nvvm.";
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (LLVMIsAInlineAsm(callee)) {
    pacc_lower_assembly(r, call, callee);
    return;
  }
  if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
    return;
  const char *name = pacc_name(callee);
  if (pacc_starts_with(name, nvvm)) {
    lower_nvvm(r, call, name + strlen(nvvm), ids);
  } else if (!strcmp(name, "llvm.trap") || !strcmp(name, "llvm.debugtrap") ||
             !strcmp(name, "llvm.ubsantrap")) {
    pacc_lower_with(r, call, "pacc_dev_fault_trap", NULL, 0);
  } else if (!strcmp(name, "__assertfail") &&
             LLVMGetNumArgOperands(call) == 5) {
    lower_assert(r, call);
  } else if (!pacc_starts_with(name, "llvm.") &&
             !pacc_starts_with(name, "pacc_dev_") && !pacc_hostfn_find(name)) {
    const struct pacc_devfn *cuda =
        r->options->place ? NULL : pacc_cudafn_find(name);
    if (cuda && pacc_lower_to_devfn(r, call, cuda->name))
      return;
    LLVMValueRef host = pacc_retarget_math(r, callee);
    char what[256];
    snprintf(what, sizeof(what), "the function %s", name);
    if (host)
      LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, host);
    else
      pacc_lower_to_error(r, call, what);
  }
}

void pacc_retarget_lower(struct pacc_retarget *r) {
  PACC_EACH_FUNCTION(f, r->module) {
    struct pacc_ids ids = {{0}};
    PACC_EACH_BLOCK(block, f)
    PACC_EACH_INSTRUCTION(i, block) {
      if (LLVMIsACallInst(i))
        lower_call(r, i, &ids);
    }
  }
}
