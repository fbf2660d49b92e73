/* expand.c: globals whose address is known at run time alone. Each use within
 * a function is replaced by a value; constants that contain one are turned
 * into instructions. */
#include "retarget_private.h"

#include "status.h"

unsigned pacc_visit_globals(LLVMValueRef value, int (*is_wanted)(LLVMValueRef),
                            void (*visit)(void *context, LLVMValueRef global),
                            void *context) {
  if (!value || !LLVMIsAConstant(value))
    return 0;
  if (LLVMIsAGlobalVariable(value) && is_wanted(value)) {
    if (visit)
      visit(context, value);
    return 1;
  }
  if (LLVMIsAGlobalValue(value))
    return 0;
  unsigned n = 0;
  for (int i = 0; i < LLVMGetNumOperands(value); i++)
    n += pacc_visit_globals(LLVMGetOperand(value, (unsigned)i), is_wanted,
                            visit, context);
  return n;
}

struct expander {
  struct pacc_retarget *r;
  const struct pacc_expansion *expansion;
};

static int is_touched(const struct expander *e, LLVMValueRef value) {
  return pacc_visit_globals(value, e->expansion->is_wanted, NULL, NULL) != 0;
}

static LLVMValueRef expand(const struct expander *e, LLVMValueRef value);

static LLVMValueRef expand_gep(const struct expander *e, LLVMValueRef value) {
  enum { MAX_INDICES = 16 };
  LLVMValueRef indices[MAX_INDICES];
  unsigned n = (unsigned)LLVMGetNumOperands(value) - 1;
  if (n > MAX_INDICES)
    return NULL;
  LLVMValueRef base = expand(e, LLVMGetOperand(value, 0));
  for (unsigned i = 0; i < n; i++)
    indices[i] = LLVMGetOperand(value, i + 1);
  return base ? LLVMBuildGEP2(e->r->builder, LLVMGetGEPSourceElementType(value),
                              base, indices, n, "")
              : NULL;
}

/* An aggregate is put together element by element. */
static LLVMValueRef expand_aggregate(const struct expander *e,
                                     LLVMValueRef value) {
  struct pacc_retarget *r = e->r;
  LLVMTypeRef type = LLVMTypeOf(value);
  int is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  LLVMValueRef whole = LLVMGetPoison(type);
  for (int i = 0; i < LLVMGetNumOperands(value); i++) {
    LLVMValueRef part = expand(e, LLVMGetOperand(value, (unsigned)i));
    if (!part)
      return NULL;
    whole =
        is_vector
            ? LLVMBuildInsertElement(r->builder, whole, part,
                                     LLVMConstInt(r->i32, (unsigned)i, 0), "")
            : LLVMBuildInsertValue(r->builder, whole, part, (unsigned)i, "");
  }
  return whole;
}

static LLVMValueRef expand_expression(const struct expander *e,
                                      LLVMValueRef value) {
  LLVMBuilderRef b = e->r->builder;
  LLVMOpcode opcode = LLVMGetConstOpcode(value);
  if (opcode == LLVMGetElementPtr)
    return expand_gep(e, value);
  LLVMValueRef first = expand(e, LLVMGetOperand(value, 0));
  if (!first)
    return NULL;
  switch (opcode) {
  case LLVMAddrSpaceCast:
  case LLVMBitCast:
  case LLVMPtrToInt:
  case LLVMIntToPtr:
  case LLVMTrunc:
    return LLVMBuildCast(b, opcode, first, LLVMTypeOf(value), "");
  case LLVMAdd:
  case LLVMSub:
  case LLVMXor: {
    LLVMValueRef second = expand(e, LLVMGetOperand(value, 1));
    return second ? LLVMBuildBinOp(b, opcode, first, second, "") : NULL;
  }
  default:
    return NULL;
  }
}

/* The value of a constant, as instructions where the builder stands. NULL for
 * an expression of another kind. */
static LLVMValueRef expand(const struct expander *e, LLVMValueRef value) {
  if (!is_touched(e, value))
    return value;
  if (LLVMIsAGlobalVariable(value))
    return e->expansion->address(e->expansion->context, value);
  if (LLVMIsAConstantExpr(value))
    return expand_expression(e, value);
  return expand_aggregate(e, value);
}

/* A phi takes its value at the end of the block that it comes from, once for
 * each block. */
static LLVMValueRef phi_value(LLVMValueRef phi, unsigned operand) {
  LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, operand);
  for (unsigned i = 0; i < operand; i++)
    if (LLVMGetIncomingBlock(phi, i) == from)
      return LLVMGetOperand(phi, i);
  return NULL;
}

static int replace_operand(const struct expander *e, LLVMValueRef instruction,
                           unsigned operand) {
  LLVMValueRef value = LLVMGetOperand(instruction, operand), made = NULL;
  LLVMValueRef before = instruction;
  if (LLVMIsAPHINode(instruction)) {
    made = phi_value(instruction, operand);
    before =
        LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(instruction, operand));
  }
  LLVMPositionBuilderBefore(e->r->builder, before);
  if (!made)
    made = expand(e, value);
  if (!made)
    return pacc_cpu_fail(PACC_CPU_ERROR_UNSUPPORTED,
                         "a constant expression over variables that the CPU "
                         "device does not know");
  LLVMSetOperand(instruction, operand, made);
  return 0;
}

static int expand_function(const struct expander *e, LLVMValueRef function) {
  int begun = 0;
  PACC_EACH_BLOCK(block, function)
  PACC_EACH_INSTRUCTION(i, block) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
      if (!is_touched(e, LLVMGetOperand(i, (unsigned)k)))
        continue;
      if (!begun && e->expansion->begin)
        e->expansion->begin(e->expansion->context, function);
      begun = 1;
      int status = replace_operand(e, i, (unsigned)k);
      if (status)
        return status;
    }
  }
  return 0;
}

int pacc_expand_uses(struct pacc_retarget *r,
                     const struct pacc_expansion *expansion) {
  struct expander e = {r, expansion};
  PACC_EACH_FUNCTION(f, r->module) {
    int status = expand_function(&e, f);
    if (status)
      return status;
  }
  return 0;
}
