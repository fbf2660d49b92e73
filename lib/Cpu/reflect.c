/* reflect.c: what is decided before anything is inlined: libdevice's questions
 * about the target, and that nothing is fused. */
#include "retarget_private.h"

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
    pacc_lower_to_value(call, LLVMConstInt(LLVMTypeOf(call), value, 0));
  } else if (pacc_starts_with(name, "llvm.fmuladd.")) {
    LLVMPositionBuilderBefore(r->builder, call);
    LLVMValueRef product = LLVMBuildFMul(r->builder, LLVMGetOperand(call, 0),
                                         LLVMGetOperand(call, 1), "");
    pacc_lower_to_value(
        call, LLVMBuildFAdd(r->builder, product, LLVMGetOperand(call, 2), ""));
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
