/* extrema.c: minnum and maxnum become comparisons. LLVM 22's vectoriser takes
 * loops of them for reductions even where numbers may be no numbers, and
 * crashes on some of these. */
#include "retarget_private.h"

/* a OP b, the other one of which is chosen where one is no number. */
static LLVMValueRef chosen(struct pacc_retarget *r, LLVMRealPredicate op,
                           LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef better = LLVMBuildFCmp(r->builder, op, a, b, "");
  LLVMValueRef is_nan = LLVMBuildFCmp(r->builder, LLVMRealUNO, b, b, "");
  return LLVMBuildSelect(r->builder,
                         LLVMBuildOr(r->builder, better, is_nan, ""), a, b, "");
}

void pacc_retarget_extrema(struct pacc_retarget *r) {
  PACC_EACH_FUNCTION(f, r->module)
  PACC_EACH_BLOCK(block, f)
  PACC_EACH_INSTRUCTION(i, block) {
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    if (!callee || !LLVMIsAFunction(callee))
      continue;
    int is_max = pacc_starts_with(pacc_name(callee), "llvm.maxnum.");
    if ((!is_max && !pacc_starts_with(pacc_name(callee), "llvm.minnum.")) ||
        LLVMGetFastMathFlags(i) & LLVMFastMathNoNaNs)
      continue;
    LLVMPositionBuilderBefore(r->builder, i);
    pacc_lower_to_value(i, chosen(r, is_max ? LLVMRealOGT : LLVMRealOLT,
                                  LLVMGetOperand(i, 0), LLVMGetOperand(i, 1)));
  }
}
